import SyncCore

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
