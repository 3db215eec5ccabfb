import CSyncCrypto
package import SyncCore

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
