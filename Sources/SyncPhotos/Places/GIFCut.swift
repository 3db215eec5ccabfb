import SyncCore

/// A GIF of its pictures, delays and loops (GIF89a). Comments, texts, XMP and all behind the end go.
enum GIFCut {
    /// Extensions of applications that tell how often to repeat, or the colours.
    private static let keptApplications = ["NETSCAPE2.0", "ANIMEXTS1.0", "ICCRGBG1012"]

    static func cut(_ bytes: [UInt8]) throws(PhotoError) -> PlaceCut {
        guard bytes.count > 13 else { throw .unclear("GIF") }
        var at = 13 + colours(bytes[10])
        guard at <= bytes.count else { throw .unclear("GIF") }
        var result = PlaceCut(bytes: Array(bytes[..<at]))
        while at + 1 < bytes.count || bytes.indices.contains(at) && bytes[at] == 0x3B {
            let start = at
            switch bytes[at] {
            case 0x3B:
                result.bytes.append(0x3B)
                try result.noteTrailer(bytes[(at + 1)...])
                return result
            case 0x2C:
                guard at + 10 < bytes.count else { throw .unclear("GIF") }
                at = try end(ofBlocksAt: at + 10 + colours(bytes[at + 9]) + 1, in: bytes)
                result.bytes += bytes[start..<at]
            case 0x21:
                let label = bytes[at + 1]
                at = try end(ofBlocksAt: at + 2, in: bytes)
                let name = bytes[start..<at].dropFirst(3).prefix(11)
                if label == 0xF9 || label == 0xFF && keptApplications.contains(where: { name.elementsEqual($0.utf8) }) {
                    result.bytes += bytes[start..<at]
                } else {
                    let isText = label == 0xFE || label == 0x01
                    let isXMP = name.starts(with: "XMP Data".utf8)
                    result.dropped.insert(isXMP ? .xmp : isText ? .comment : .applicationData)
                }
            default: throw .unclear("GIF")
            }
        }
        throw .unclear("GIF")
    }

    /// Bytes of a table of colours.
    private static func colours(_ flags: UInt8) -> Int {
        flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 0x07) + 1)
    }

    /// Where a row of blocks, each behind its length, ends.
    private static func end(ofBlocksAt start: Int, in bytes: [UInt8]) throws(PhotoError) -> Int {
        var at = start
        while at < bytes.count {
            if bytes[at] == 0 { return at + 1 }
            at += Int(bytes[at]) + 1
        }
        throw .unclear("GIF")
    }
}

/// A BMP has no place for metadata: what is refused is one with more bytes than its picture takes, and one with a profile,
/// or the path of one (BITMAPV5HEADER).
enum BMPCheck {
    /// A table of 256 colours, three masks, and as much to align them.
    private static let largestTable = 1_024 + 16 + 64
    private static let padding = 8
    private static let profileHeader = 124
    /// Where that header says where its profile begins, and how long it is; 0 where it has none.
    private static let profilePlaces = [126, 130]

    static func cut(_ bytes: [UInt8]) throws(PhotoError) -> PlaceCut {
        guard bytes.has("BM"), let pixels = bytes.little(at: 10), let header = bytes.little(at: 14), header >= 12 else {
            throw .unclear("BMP")
        }
        let isOld = header < 16
        let size = isOld ? 2 : 4
        guard let width = bytes.little(at: 18, size: size), let height = bytes.little(at: 18 + size, size: size),
            let depth = bytes.little(at: 20 + 2 * size, size: 2),
            header < profileHeader
                || header == profileHeader && profilePlaces.allSatisfy({ bytes.little(at: $0) == 0 })
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
