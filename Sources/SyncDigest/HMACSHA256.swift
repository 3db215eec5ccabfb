import CSyncCrypto
import SyncCore

/// HMAC with SHA-256 (RFC 2104, test vectors in RFC 4231).
package enum HMACSHA256 {
    /// The 32 bytes that prove that whoever knows `key` wrote `message`.
    package static func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: SHA256Digest.length)
        let done = CSyncCrypto_HMACSHA256(key, key.count, message, message.count, &code)
        precondition(done == 1, "libcrypto could not make an HMAC")
        return code
    }

    package static func code(of message: some StringProtocol, key: [UInt8]) -> [UInt8] {
        code(of: Array(message.utf8), key: key)
    }
}
