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

/// What a file tells about when it was taken, in all the places in which that may stand.
struct CaptureTimeClues {
    var exif: ExifBlock.Summary?
    /// The XMP packet, UTF-8.
    var xmp: [UInt8] = []
    /// The IPTC record (IIM 4.2).
    var iptc: [UInt8] = []
    /// What a film tells of its recording.
    var video: CaptureTime?

    /// The first that a camera can have meant, as close to the shutter as possible: a position has the right moment and
    /// not the clock of the place, and the last change may be that of an editor.
    ///
    /// Several fields often tell one and the same clock, and only one of them its offset.
    func captureTime(at now: Date) -> CaptureTime? {
        let (original, created) = (xmpTime("exif:DateTimeOriginal"), xmpTime("xmp:CreateDate"))
        let published = xmpTime("photoshop:DateCreated")
        let times = [
            exif?.taken?.captured, original, exif?.digitized?.captured, published, iptcTime, video, created,
            exif?.position, exif?.changed?.captured,
        ]
        guard let time = times.lazy.compactMap(\.self).first(where: { $0.isPlausible(at: now) }) else { return nil }
        let others = [exif?.digitized?.captured, exif?.changed?.captured, original, published, created]
        return others.reduce(time) { $0.completed(by: $1) }
    }

    // MARK: XMP

    /// A property as an attribute or an element (XMP specification part 1, 7.4 and 7.9). Looked for by the names that all
    /// writers use, without a reader for XML: what is no date is none.
    private func xmpTime(_ property: String) -> CaptureTime? {
        let name = Array(property.utf8)
        var rest = xmp[...]
        while let start = rest.firstRange(ofBytes: name)?.upperBound {
            rest = xmp[start...]
            var value = rest.drop(while: \.isBlank)
            guard let mark = value.popFirst() else { return nil }
            let ends: [UInt8]
            switch mark {
            case UInt8(ascii: "="):
                value = value.drop(while: \.isBlank)
                guard let quote = value.popFirst(), [UInt8(ascii: "\""), UInt8(ascii: "'")].contains(quote) else {
                    continue
                }
                ends = [quote]
            case UInt8(ascii: ">"): ends = [UInt8(ascii: "<")]
            default: continue
            }
            let text = value.prefix(40).prefix { !ends.contains($0) }
            if let time = CaptureTime(String(decoding: text, as: UTF8.self).filter { !$0.isNewline }) { return time }
        }
        return nil
    }

    // MARK: IPTC

    /// 2:55 (`20240615`) and 2:60 (`073000+0900`).
    private var iptcTime: CaptureTime? {
        guard let date = iptcText(55), date.utf8.count == 8 else { return nil }
        let day = "\(date.prefix(4))-\(date.dropFirst(4).prefix(2))-\(date.suffix(2))"
        guard let clock = iptcText(60), clock.utf8.count == 6 || clock.utf8.count == 11 else { return CaptureTime(day) }
        let (hour, minute) = (clock.prefix(2), clock.dropFirst(2).prefix(2))
        return CaptureTime("\(day)T\(hour):\(minute):\(clock.dropFirst(4))") ?? CaptureTime(day)
    }

    /// A data set of the application record, each `1C 02 number length length …`.
    private func iptcText(_ number: UInt8) -> String? {
        var rest = iptc[...]
        while rest.count >= 5, rest.first == 0x1C {
            let head = Array(rest.prefix(5))
            let length = Int(head[3]) << 8 | Int(head[4])
            // Lengths of lengths: pictures within the record, behind all that is looked for.
            guard length < 0x8000, rest.count >= 5 + length else { return nil }
            if head[1] == 2, head[2] == number {
                return String(decoding: rest.dropFirst(5).prefix(length), as: UTF8.self)
            }
            rest = rest.dropFirst(5 + length)
        }
        return nil
    }
}

extension PhotoFile {
    /// When it was taken; see ``CaptureTimeClues``.
    borrowing func captureTime(size: Int64, at now: Date) throws(PhotoError) -> CaptureTime? {
        try CaptureTimeReader(bytes: MetadataBytes(self, size: size)).captureTime(at: now)
    }
}

extension PhotoSource {
    func captureTime(at now: Date) throws(PhotoError) -> CaptureTime? {
        switch self {
        case .bytes(let bytes): return try CaptureTimeReader(bytes: MetadataBytes(bytes)).captureTime(at: now)
        case .file(let path):
            let file = try PhotoFile(opening: path)
            return try file.captureTime(size: try file.stamp().size, at: now)
        }
    }
}

extension ExifBlock.Summary {
    /// With the capture time where the block has none of its own, and with its offset where only that is missing.
    func withTime(_ time: CaptureTime?) -> ExifBlock.Summary {
        var summary = self
        if let taken {
            summary.taken = ExifTime(taken.captured.completed(by: time), fraction: taken.fraction)
        } else if digitized == nil, let time {
            summary.taken = ExifTime(time)
        }
        return summary
    }
}
