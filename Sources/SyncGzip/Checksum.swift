import CSyncZlib

/// Checksums against accidents.
package enum Checksum {
    /// As gzip and ZIP have it (RFC 1952, 8).
    package static func crc32(_ bytes: [UInt8]) -> UInt32 {
        bytes.withUnsafeBufferPointer { CSyncZlib_CRC32(0, $0.baseAddress, $0.count) }
    }
}
