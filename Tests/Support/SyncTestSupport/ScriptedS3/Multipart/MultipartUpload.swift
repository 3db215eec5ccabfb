import FoundationEssentials
import SyncCore

/// An upload in parts that is not complete yet.
struct MultipartUpload: Sendable {
    struct Part: Sendable {
        let bytes: [UInt8]
        let digest: ContentDigest
        let modified: Date

        var etag: String { "\(digest.md5)" }
    }

    let id: String
    let key: ObjectName
    let initiated: Date
    /// The object to be, without bytes and ETag.
    let draft: StoredObject
    var parts: [Int: Part] = [:]
}

/// An upload that became an object. Completing it again gives the same answer.
struct CompletedUpload: Sendable {
    let key: ObjectName
    let etag: String
}
