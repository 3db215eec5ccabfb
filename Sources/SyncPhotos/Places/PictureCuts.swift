import SyncCore

/// A PNG of the chunks that make the picture (PNG, third edition, section 5), with its EXIF less the place.
///
/// Texts, XMP in a text, chunks of unknown kinds and all behind the end go. Chunks of the picture are copied byte for byte.
enum PNGCut {
    private static let signature = 8
    /// The picture, its colours, size and frames.
    private static let kept: Set<String> = [
        "IHDR", "PLTE", "IDAT", "IEND", "tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "cICP", "mDCV", "cLLI", "sBIT", "bKGD",
        "hIST", "pHYs", "sPLT", "tIME", "acTL", "fcTL", "fdAT",
    ]

    private static let texts: Set<String> = ["tEXt", "zTXt", "iTXt"]

    static func cut(_ bytes: [UInt8]) throws(PhotoError) -> PlaceCut {
        var result = PlaceCut(bytes: Array(bytes.prefix(signature)))
        result.bytes.reserveCapacity(bytes.count)
        var at = signature
        while let length = bytes.big(at: at), let type = bytes.text(at: at + 4), at + 12 + length <= bytes.count {
            let end = at + 12 + length
            if kept.contains(type) {
                result.bytes += bytes[at..<end]
            } else if type == "eXIf" {
                let block = ExifBlock(bytes: Array(bytes[at + 8..<end - 4]))
                result.dropped.formUnion(block.partsThatTellPlaces)
                if let block = block.withoutPlace() { result.bytes += chunk(type, block.bytes) }
            } else if bytes[at + 4] & 0x20 == 0 {
                // A chunk that readers must know, and we do not.
                throw .unclear("PNG")
            } else {
                let isXMP = bytes[at + 8..<end - 4].starts(with: "XML:com.adobe.xmp".utf8)
                result.dropped.insert(isXMP ? .xmp : texts.contains(type) ? .comment : .applicationData)
            }
            if type == "IEND" {
                try result.noteTrailer(bytes[end...])
                return result
            }
            at = end
        }
        throw .unclear("PNG")
    }

    private static func chunk(_ type: String, _ body: [UInt8]) -> [UInt8] {
        let content = Array(type.utf8) + body
        return body.count.bigEndianBytes + content + Int(crc(content)).bigEndianBytes
    }

    /// CRC-32 of ISO 3309, as annex D of the standard computes it.
    private static func crc(_ bytes: [UInt8]) -> UInt32 {
        var crc: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 0 ? crc >> 1 : 0xEDB8_8320 ^ crc >> 1 }
        }
        return ~crc
    }
}

extension [UInt8] {
    /// A name of four letters, one character for each byte.
    func text(at offset: Int) -> String? {
        guard offset >= 0, offset <= count - 4 else { return nil }
        return String(String.UnicodeScalarView(self[offset..<offset + 4].map { Unicode.Scalar($0) }))
    }
}

/// A WebP of the chunks that make the picture (RFC 9649), with its EXIF less the place. XMP, chunks of unknown kinds and
/// all behind the end go.
enum WebPCut {
    private static let header = 12
    private static let frameHeader = 16
    private static let kept: Set<String> = ["VP8 ", "VP8L", "ALPH", "ANIM", "ICCP"]
    private static let keptInFrames: Set<String> = ["VP8 ", "VP8L", "ALPH"]
    /// Bits of the first byte of VP8X.
    private static let (exifFlag, xmpFlag) = (UInt8(0x08), UInt8(0x04))

    static func cut(_ bytes: [UInt8]) throws(PhotoError) -> PlaceCut {
        guard let size = bytes.little(at: 4), size >= 4, size + 8 <= bytes.count else { throw .unclear("WebP") }
        var result = PlaceCut(bytes: Array(bytes.prefix(header)))
        result.bytes.reserveCapacity(bytes.count)
        var flagsAt: Int?
        var hasExif = false
        for chunk in try chunks(of: bytes, header..<size + 8) {
            switch chunk.type {
            case "VP8X":
                guard chunk.body.count >= 10, flagsAt == nil else { throw .unclear("WebP") }
                flagsAt = result.bytes.count + 8
                write(chunk.type, bytes[chunk.body], to: &result.bytes)
            case "ANMF":
                guard chunk.body.count >= frameHeader else { throw .unclear("WebP") }
                let data = chunk.body.lowerBound + frameHeader
                var frame = Array(bytes[chunk.body.lowerBound..<data])
                for part in try chunks(of: bytes, data..<chunk.body.upperBound) {
                    if keptInFrames.contains(part.type) {
                        write(part.type, bytes[part.body], to: &frame)
                    } else {
                        result.dropped.insert(.applicationData)
                    }
                }
                write(chunk.type, frame[...], to: &result.bytes)
            case "EXIF":
                // Some writers put the header of a JPEG's segment in front.
                let body = Array(bytes[chunk.body])
                let block = ExifBlock(bytes: body.has("Exif\0\0") ? Array(body.dropFirst(6)) : body)
                result.dropped.formUnion(block.partsThatTellPlaces)
                if !hasExif, let block = block.withoutPlace() {
                    hasExif = true
                    write(chunk.type, block.bytes[...], to: &result.bytes)
                }
            case let type where kept.contains(type): write(type, bytes[chunk.body], to: &result.bytes)
            case let type: result.dropped.insert(type == "XMP " ? .xmp : .applicationData)
            }
        }
        try result.noteTrailer(bytes[min(size + 8 + size % 2, bytes.count)...])
        if let flagsAt {
            result.bytes[flagsAt] &= ~(exifFlag | xmpFlag)
            if hasExif { result.bytes[flagsAt] |= exifFlag }
        }
        result.bytes.replaceSubrange(4..<8, with: (result.bytes.count - 8).littleEndianBytes)
        return result
    }

    private static func chunks(
        of bytes: [UInt8], _ range: Range<Int>
    ) throws(PhotoError) -> [(type: String, body: Range<Int>)] {
        var chunks: [(type: String, body: Range<Int>)] = []
        var at = range.lowerBound
        while at < range.upperBound {
            guard let type = bytes.text(at: at), let length = bytes.little(at: at + 4) else { throw .unclear("WebP") }
            guard at + 8 + length <= range.upperBound else { throw .unclear("WebP") }
            chunks.append((type, at + 8..<at + 8 + length))
            at += 8 + length + length % 2
        }
        return chunks
    }

    private static func write(_ type: String, _ body: ArraySlice<UInt8>, to bytes: inout [UInt8]) {
        bytes += Array(type.utf8) + body.count.littleEndianBytes
        bytes += body
        if !body.count.isMultiple(of: 2) { bytes.append(0) }
    }
}

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
