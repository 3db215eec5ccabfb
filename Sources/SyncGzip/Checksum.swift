import CSyncZlib

/// Checksums against accidents.
package enum Checksum {
    /// As gzip and ZIP have it (RFC 1952, 8).
    /// - Parameter sum: that of the bytes in front of these; 0 is that of none.
    package static func crc32(_ bytes: [UInt8], after sum: UInt32 = 0) -> UInt32 {
        bytes.withUnsafeBufferPointer { CSyncZlib_CRC32(sum, $0.baseAddress, $0.count) }
    }
}
