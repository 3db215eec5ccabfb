import Foundation
import SyncCore
import SyncDigest

/// Digests as headers write them.
enum ContentDigestText {
    static func sha256(_ text: String) -> String {
        "\(SHA256Digest(of: text.utf8))"
    }

    static func md5(_ text: String) -> String {
        Data(ContentDigest(of: Array(text.utf8)).md5.bytes).base64EncodedString()
    }
}
