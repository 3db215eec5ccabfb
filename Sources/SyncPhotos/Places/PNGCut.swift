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
