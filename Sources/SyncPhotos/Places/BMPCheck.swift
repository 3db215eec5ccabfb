import SyncCore

/// A BMP has no place for metadata: what is refused is one with more bytes than its picture takes.
enum BMPCheck {
    /// A table of 256 colours, three masks, and as much to align them.
    private static let largestTable = 1_024 + 16 + 64
    private static let padding = 8
    private static let profileHeader = 124

    static func cut(_ bytes: [UInt8]) throws(PhotoError) -> PlaceCut {
        guard bytes.has("BM"), let pixels = bytes.little(at: 10), let header = bytes.little(at: 14), header >= 12 else {
            throw .unclear("BMP")
        }
        let isOld = header < 16
        let size = isOld ? 2 : 4
        guard let width = bytes.little(at: 18, size: size), let height = bytes.little(at: 18 + size, size: size),
            let depth = bytes.little(at: 20 + 2 * size, size: 2), header < profileHeader
        else { throw .unclear("BMP") }
        // A negative height means rows from the top.
        let rows = isOld ? height : abs(Int(Int32(truncatingIfNeeded: height)))
        let compression = isOld ? 0 : bytes.little(at: 30) ?? 0
        let told = isOld ? 0 : bytes.little(at: 34) ?? 0
        guard width < 1 << 24, rows < 1 << 24, depth <= 32 else { throw .unclear("BMP") }
        let needed = [0, 3].contains(compression) ? (width * depth + 31) / 32 * 4 * rows : told
        guard pixels <= 14 + header + largestTable, pixels + needed <= bytes.count,
            bytes.count <= pixels + needed + padding
        else { throw .unclear("BMP") }
        return PlaceCut(bytes: bytes)
    }
}
