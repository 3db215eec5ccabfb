import SyncCore
import SyncDigest

/// The checksums of the `x-amz-checksum-*` headers.
enum Checksum {
    /// `nil` for an algorithm that the server does not know.
    static func of(_ bytes: [UInt8], _ algorithm: String) -> [UInt8]? {
        switch algorithm {
        case "sha256": SHA256Digest(of: bytes).bytes
        case "crc32": bigEndian(crc(bytes, table: tables.ieee))
        case "crc32c": bigEndian(crc(bytes, table: tables.castagnoli))
        default: nil
        }
    }

    /// CRC-32 of IEEE 802.3 and CRC-32C of RFC 3720, both reflected.
    private static let tables = (ieee: table(0xEDB8_8320), castagnoli: table(0x82F6_3B78))

    private static func table(_ polynomial: UInt32) -> [UInt32] {
        (0..<256).map { index in
            (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ polynomial : value >> 1 }
        }
    }

    private static func crc(_ bytes: [UInt8], table: [UInt32]) -> UInt32 {
        ~bytes.reduce(~UInt32(0)) { value, byte in value >> 8 ^ table[Int(UInt8(truncatingIfNeeded: value) ^ byte)] }
    }

    private static func bigEndian(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}
