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
                result.noteTrailer(bytes[(at + 1)...])
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
