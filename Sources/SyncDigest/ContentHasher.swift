import CSyncCrypto
package import SyncCore

/// MD5 (RFC 1321) and SHA-256 (FIPS 180-4) of a stream of bytes, in one pass over them.
///
/// Not copyable: it owns a handle of libcrypto. A hasher that a callback feeds lives in a `Lock<ContentHasher>`.
///
/// The process ends when libcrypto is not there (``DigestLibrary``), or has no MD5 or no memory: nothing can be stored without
/// a digest.
package struct ContentHasher: ~Copyable {
    private let handle = DigestHandle.make(withMD5: true)

    package init() {}

    deinit {
        CSyncCrypto_HasherFree(handle)
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) { DigestHandle.update(handle, bytes) }

    package mutating func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { update($0) }
    }

    /// The digests of all bytes since the start or the last `finalize()`. The hasher begins anew.
    package mutating func finalize() -> ContentDigest {
        var md5 = [UInt8](repeating: 0, count: MD5Digest.length)
        let sha256 = DigestHandle.finish(handle, &md5)
        guard let md5 = MD5Digest(bytes: md5) else { preconditionFailure("libcrypto could not finish a digest") }
        return ContentDigest(md5: md5, sha256: sha256)
    }
}

/// SHA-256 (FIPS 180-4) of a stream of bytes whose MD5 is known or of no use: most of the time of a ``ContentHasher`` is
/// that of the MD5.
///
/// Not copyable, and ends the process as ``ContentHasher`` does.
package struct SHA256Hasher: ~Copyable {
    private let handle = DigestHandle.make(withMD5: false)

    package init() {}

    deinit {
        CSyncCrypto_HasherFree(handle)
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) { DigestHandle.update(handle, bytes) }

    /// The digest of all bytes since the start or the last `finalize()`. The hasher begins anew.
    package mutating func finalize() -> SHA256Digest { DigestHandle.finish(handle, nil) }
}

// One owner at a time (not copyable), and every use needs exclusive access (mutating): the handle is never shared.
extension ContentHasher: @unchecked Sendable {}
extension SHA256Hasher: @unchecked Sendable {}

/// What both hashers do with theirs.
private enum DigestHandle {
    static func make(withMD5: Bool) -> OpaquePointer {
        guard let handle = CSyncCrypto_HasherCreate(withMD5 ? 1 : 0) else {
            let reason = DigestLibrary.missing ?? "out of memory, or MD5 is switched off"
            preconditionFailure("libcrypto cannot make a hasher: \(reason)")
        }
        return handle
    }

    static func update(_ handle: OpaquePointer, _ bytes: UnsafeRawBufferPointer) {
        let done = CSyncCrypto_HasherUpdate(handle, bytes.baseAddress, bytes.count)
        precondition(done == 1, "libcrypto refused to hash \(bytes.count) bytes")
    }

    /// - Parameter md5: room for one; `nil` where none was made.
    static func finish(_ handle: OpaquePointer, _ md5: UnsafeMutablePointer<UInt8>?) -> SHA256Digest {
        var sha256 = [UInt8](repeating: 0, count: SHA256Digest.length)
        let done = CSyncCrypto_HasherFinish(handle, md5, &sha256)
        guard done == 1, let sha256 = SHA256Digest(bytes: sha256) else {
            preconditionFailure("libcrypto could not finish a digest")
        }
        return sha256
    }
}

extension ContentDigest {
    /// Both digests of bytes that are in memory.
    package init(of bytes: UnsafeRawBufferPointer) {
        var hasher = ContentHasher()
        hasher.update(bytes)
        self = hasher.finalize()
    }

    package init(of bytes: [UInt8]) {
        self = bytes.withUnsafeBytes { ContentDigest(of: $0) }
    }
}

extension SHA256Digest {
    /// The SHA-256 of bytes that are in memory.
    package init(of bytes: UnsafeRawBufferPointer) {
        var digest = [UInt8](repeating: 0, count: Self.length)
        let done = CSyncCrypto_SHA256(bytes.baseAddress, bytes.count, &digest)
        guard done == 1, let digest = SHA256Digest(bytes: digest) else {
            preconditionFailure("libcrypto could not make a SHA-256")
        }
        self = digest
    }

    package init(of bytes: some Sequence<UInt8>) {
        self = Array(bytes).withUnsafeBytes { SHA256Digest(of: $0) }
    }
}

/// SHA-1 (FIPS 180-4), by which the AWS tools name files. Nothing is protected by it.
package enum SHA1 {
    /// 40 hexadecimal digits.
    package static func hexadecimal(of text: String) -> String {
        var digest = [UInt8](repeating: 0, count: Int(CSYNCCRYPTO_SHA1_LENGTH))
        let bytes = Array(text.utf8)
        precondition(CSyncCrypto_SHA1(bytes, bytes.count, &digest) == 1, "libcrypto could not make a SHA-1")
        return digest.hexadecimal
    }
}

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
