import FoundationEssentials
import SyncCore

/// Finds out when a photo or video was taken. What is damaged tells less, and is no error.
struct CaptureTimeReader {
    /// Of parts of a file: a well-formed one has far fewer.
    static let mostParts = 20_000

    let bytes: MetadataBytes

    func captureTime(at now: Date) throws(PhotoError) -> CaptureTime? {
        try clues().captureTime(at: now)
    }

    private func clues() throws(PhotoError) -> CaptureTimeClues {
        let head = try bytes.head(16)
        if head.starts(with: [0xFF, 0xD8, 0xFF]) { return try inJPEG() }
        if head.starts(with: [0x89, 0x50, 0x4E, 0x47]) { return try inPNG() }
        if head.has("RIFF"), head.has("WEBP", at: 8) { return try inWebP() }
        if head.has("II*\0") || head.has("MM\0*") {
            return CaptureTimeClues(exif: ExifBlock(bytes: try bytes.head(Self.mostExif)).summary)
        }
        if head.has("ftyp", at: 4) || head.has("JXL ", at: 4) || head.has("moov", at: 4) || head.has("wide", at: 4)
            || head.has("mdat", at: 4)
        {
            return try BoxFile(bytes).clues()
        }
        return CaptureTimeClues()
    }

    /// Bytes of a block that libexif reads.
    static let mostExif = 65_527

    static func exif(_ block: some Collection<UInt8>) -> ExifBlock.Summary {
        let isSegment = block.starts(with: Array("Exif\0\0".utf8))
        return ExifBlock(bytes: Array(block.dropFirst(isSegment ? 6 : 0).prefix(mostExif))).summary
    }

    // MARK: JPEG

    private static let exifHeader = Array("Exif\0\0".utf8)
    private static let xmpHeader = Array("http://ns.adobe.com/xap/1.0/\0".utf8)
    private static let photoshopHeader = Array("Photoshop 3.0\0".utf8)

    /// The segments in front of the first scan (ITU-T T.81, B.1.1).
    private func inJPEG() throws(PhotoError) -> CaptureTimeClues {
        var clues = CaptureTimeClues()
        var (offset, resources): (Int64, [UInt8]) = (2, [])
        for _ in 0..<Self.mostParts {
            guard let marker = try bytes.read(offset, 4) else { break }
            // Stray bytes between two segments are passed over, as decoders do.
            guard marker[0] == 0xFF, marker[1] != 0xFF else {
                offset += 1
                continue
            }
            switch marker[1] {
            case 0x00, 0x01, 0xD0...0xD8:
                offset += 2
                continue
            case 0xD9, 0xDA:
                clues.iptc = Self.iptc(in: resources)
                return clues
            default: break
            }
            let length = marker[2...].bigEndian
            if marker[1] == 0xE1 || marker[1] == 0xED, length > 2, let body = try bytes.read(offset + 4, length - 2) {
                if clues.exif == nil, marker[1] == 0xE1, body.starts(with: Self.exifHeader) {
                    clues.exif = Self.exif(body)
                } else if clues.xmp.isEmpty, marker[1] == 0xE1, body.starts(with: Self.xmpHeader) {
                    clues.xmp = Array(body.dropFirst(Self.xmpHeader.count))
                } else if marker[1] == 0xED, body.starts(with: Self.photoshopHeader),
                    resources.count < MetadataBytes.mostBytes
                {
                    // What is long goes on in the next segment.
                    resources += body.dropFirst(Self.photoshopHeader.count)
                }
            }
            offset += 2 + max(length, 2)
        }
        clues.iptc = Self.iptc(in: resources)
        return clues
    }

    /// The image resource 0x0404: `8BIM`, number, a name of even length, and the data.
    private static func iptc(in resources: [UInt8]) -> [UInt8] {
        var rest = resources[...]
        while rest.count >= 12, rest.starts(with: Array("8BIM".utf8)) {
            let number = rest.dropFirst(4).prefix(2).bigEndian
            let name = Int(rest[rest.startIndex + 6]) | 1
            rest = rest.dropFirst(7 + name)
            let size = Int(rest.prefix(4).bigEndian)
            rest = rest.dropFirst(4)
            if number == 0x0404 { return Array(rest.prefix(size)) }
            guard size < rest.count else { return [] }
            rest = rest.dropFirst(size + size % 2)
        }
        return []
    }

    // MARK: PNG, WebP

    /// The chunks eXIf, and iTXt with the name of XMP (PNG 3rd edition, 11.3).
    private func inPNG() throws(PhotoError) -> CaptureTimeClues {
        var clues = CaptureTimeClues()
        let xmpName = Array("XML:com.adobe.xmp\0\0".utf8)
        var offset: Int64 = 8
        for _ in 0..<Self.mostParts {
            guard let chunk = try bytes.read(offset, 8), !chunk.has("IEND", at: 4) else { break }
            let length = chunk[..<4].bigEndian
            if chunk.has("eXIf", at: 4), let body = try bytes.read(offset + 8, length) {
                clues.exif = Self.exif(body)
            } else if chunk.has("iTXt", at: 4), let body = try bytes.read(offset + 8, length),
                body.starts(with: xmpName)
            {
                // Behind the name: compression method, language, translated name.
                clues.xmp = Array(body.dropFirst(xmpName.count))
            }
            offset += length + 12
        }
        return clues
    }

    private func inWebP() throws(PhotoError) -> CaptureTimeClues {
        var clues = CaptureTimeClues()
        var offset: Int64 = 12
        for _ in 0..<Self.mostParts {
            guard let chunk = try bytes.read(offset, 8) else { break }
            let length = Int64(chunk[4...].reversed().bigEndian)
            if chunk.has("EXIF"), let body = try bytes.read(offset + 8, length) {
                clues.exif = Self.exif(body)
            } else if chunk.has("XMP "), let body = try bytes.read(offset + 8, length) {
                clues.xmp = body
            }
            offset += 8 + length + length % 2
        }
        return clues
    }
}
