import SyncCore

/// What stands in front of a JPEG's first scan (ITU T.81, annex B), as far as a decoder does not tell it.
struct JPEGHeader {
    /// A frame header, B.2.2.
    struct Frame {
        var marker: UInt8
        var precision: Int
        var size: PixelSize
        var sampling: [UInt8]
        var isWhole: Bool

        init(marker: UInt8, body: [UInt8]) {
            self.marker = marker
            precision = body.big(at: 0, size: 1) ?? 0
            size = PixelSize(width: body.big(at: 3, size: 2) ?? 0, height: body.big(at: 1, size: 2) ?? 0)
            sampling = stride(from: 7, to: body.count, by: 3).map { body[$0] }
            isWhole = body.count >= 9 && body.count == 6 + 3 * Int(body[5])
        }
    }

    /// Segments that one EXIF block may go on over.
    private static let mostExifSegments = 16
    private static let gainMapNames = ["hdrgm:", "HDRGainMap", "Semantic=\"GainMap\""].map { Array($0.utf8) }

    private(set) var frame: Frame?
    private(set) var hasGainMap = false
    /// XMP, IPTC, comments, and as application data what tells more than the picture, its colours and EXIF.
    private(set) var parts: Set<DroppedPart> = []
    /// Where further pictures begin, counted from the first byte that was read. Previews are not among them.
    private(set) var furtherPictures: [Int64] = []
    private(set) var previews: [Int64] = []
    private var exifBytes: [UInt8]?
    private var exifSegments = 0

    var exif: ExifBlock? { exifBytes.map { ExifBlock(bytes: $0) } }

    /// Reads up to the first scan's header, which is left to be read.
    /// - Throws: ``PhotoError`` of the file; `.corrupt` and `.truncated` when there is no scan.
    init(_ stream: inout ByteStream) throws(PhotoError) {
        while let marker = try stream.nextMarker() {
            switch marker {
            case 0xDA: return
            case 0xE1: read(application: try stream.segment())
            case 0xE2:
                let start = stream.position + 2
                read(further: try stream.segment(), at: start)
            case 0xED:
                parts.insert(try stream.segment().has("Photoshop 3.0\0") ? .iptc : .applicationData)
            // JFIF and Adobe's transform are of the encoder, and written anew.
            case 0xE0, 0xEE: try stream.skipSegment()
            case 0xE3...0xEC, 0xEF:
                parts.insert(.applicationData)
                try stream.skipSegment()
            case 0xFE:
                parts.insert(.comment)
                try stream.skipSegment()
            // Of a hierarchical file, the header of the whole counts.
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF, 0xDE:
                let frame = Frame(marker: marker, body: try stream.segment())
                self.frame = self.frame ?? frame
            case 0xD9: throw PhotoError(.corrupt, "the picture's data is damaged (it ends before its first scan)")
            default: try stream.skipSegment()
            }
        }
        throw PhotoError(.truncated, "the file ends before its picture does (in its header)")
    }

    private mutating func read(application body: [UInt8]) {
        if body.has("Exif\0\0") {
            guard exifSegments < Self.mostExifSegments else { return }
            exifSegments += 1
            let block = body.dropFirst(6)
            if exifBytes == nil {
                exifBytes = Array(block)
            } else if TIFFBlock(Array(block.prefix(16))) == nil {
                exifBytes?.append(contentsOf: block)
            }
        } else if body.has("http://ns.adobe.com/x") {
            parts.insert(.xmp)
            if Self.gainMapNames.contains(where: { body.firstRange(ofBytes: $0) != nil }) { hasGainMap = true }
        } else {
            parts.insert(.applicationData)
        }
    }

    private mutating func read(further body: [UInt8], at start: Int64) {
        let isGainMap = body.has("urn:iso:std:iso:ts:21496:-1\0")
        if isGainMap { hasGainMap = true }
        if !isGainMap, !body.has("ICC_PROFILE\0"), !body.has("MPF\0") { parts.insert(.applicationData) }
        // CIPA DC-007: a TIFF structure, and in its tag 0xB002 sixteen bytes for each picture, of which the first is this.
        guard body.has("MPF\0"), let block = TIFFBlock(Array(body.dropFirst(4))),
            let entries = block.entries(at: block.firstDirectory),
            let list = entries.first(where: { $0.tag == 0xB002 })?.value
        else { return }
        for at in stride(from: list.lowerBound + 16, to: list.upperBound, by: 16).prefix(16) {
            guard let kind = block.number(at: at, size: 4), let offset = block.number(at: at + 8, size: 4) else {
                return
            }
            let isPreview = kind >> 16 & 0xFF == 1
            let place = start + 4 + Int64(offset)
            if isPreview { previews.append(place) } else { furtherPictures.append(place) }
        }
    }
}

/// The markers of a JPEG one after the other, with the segments behind them.
extension ByteStream {
    /// The next marker's second byte; `nil` at the end of the file. What stands in front of it, data of scans too, and
    /// what has no segment is passed over.
    mutating func nextMarker() throws(PhotoError) -> UInt8? {
        while true {
            try skipToFF()
            guard let code = try markerCode() else { return nil }
            if code > 0x01, !(0xD0...0xD8).contains(code) { return code }
        }
    }

    /// What follows the 0xFF that comes next; more of these are mere filling.
    mutating func markerCode() throws(PhotoError) -> UInt8? {
        while let byte = try next() {
            if byte != 0xFF { return byte }
        }
        return nil
    }

    mutating func segment() throws(PhotoError) -> [UInt8] {
        let length = try segmentLength()
        var body: [UInt8] = []
        try take(length, into: &body)
        guard body.count == length else { throw Self.cutSegment }
        return body
    }

    mutating func skipSegment() throws(PhotoError) {
        let length = try segmentLength()
        try skip(length)
    }

    private mutating func segmentLength() throws(PhotoError) -> Int {
        guard let high = try next(), let low = try next() else { throw Self.cutSegment }
        let length = Int(high) << 8 | Int(low)
        guard length >= 2 else { throw PhotoError(.corrupt, "the picture's data is damaged (Bogus marker length)") }
        return length - 2
    }

    private static let cutSegment = PhotoError(.truncated, "the file ends before its picture does (in a segment)")
}

/// A JPEG file as the parts that it is made of: its picture, and what stands beside and behind it.
struct JPEGParts {
    let header: JPEGHeader
    /// Bytes up to the end of the picture; `nil` when it has none.
    let end: Int64?
    /// Whether the height is told behind the first scan (ITU T.81, B.2.5).
    private(set) var hasLateHeight = false
    /// What a copy of the picture alone has not.
    private(set) var beside: Set<DroppedPart> = []

    /// - Parameter photo: from its first byte on.
    init(_ photo: ByteStream) throws(PhotoError) {
        var stream = photo
        header = try JPEGHeader(&stream)
        var end: Int64?
        // The header was read up to the length of the first scan's own.
        try stream.skipSegment()
        while end == nil, let marker = try stream.nextMarker() {
            switch marker {
            case 0xD9: end = stream.position
            case 0xDC: hasLateHeight = true
            // Between the scans.
            case 0xFE: beside.insert(.comment)
            case 0xE0...0xEF: beside.insert(.applicationData)
            default: break
            }
            if end == nil { try stream.skipSegment() }
        }
        self.end = end
        beside.formUnion(header.parts)
        if let end, end < photo.size { try readTail(behind: end, in: photo, from: stream) }
    }

    /// What stands behind the picture's end. A gain map is only there when its picture is.
    private mutating func readTail(behind end: Int64, in photo: ByteStream, from stream: ByteStream) throws(PhotoError)
    {
        var rest = stream
        let (further, previews) = (header.furtherPictures, Set(header.previews))
        let starts = further.isEmpty ? [end] + previews : further + previews
        var isFilled = true
        for start in starts.sorted() where start >= rest.position && start < photo.size {
            var picture = stream
            try picture.skip(Int(start - picture.position))
            guard try picture.peek().starts(with: [0xFF, 0xD8, 0xFF]) else { continue }
            let isAlone = try rest.skipPadding(upTo: start)
            isFilled = isFilled && isAlone
            // A picture that is damaged is one all the same.
            let header = try? JPEGHeader(&picture)
            if !previews.contains(start) { beside.insert(header?.hasGainMap == true ? .gainMap : .secondPicture) }
            if header != nil { try? picture.skipToEndOfPicture() }
            rest = picture
        }
        if !isFilled { beside.insert(.trailer) }
        if let part = try stream.partBehindPicture(known: rest) { beside.insert(part) }
    }

    /// Whether it is a whole JPEG of a kind that the format knows, as far as can be told without decoding it.
    var isSound: Bool {
        guard let frame = header.frame, frame.isWhole, end != nil, frame.size.width > 0 else { return false }
        guard frame.size.height > 0 || hasLateHeight else { return false }
        guard frame.sampling.allSatisfy({ (1...4).contains($0 >> 4) && (1...4).contains($0 & 15) }) else {
            return false
        }
        return switch frame.marker {
        case 0xC0: frame.precision == 8
        case 0xC3, 0xC7, 0xCB, 0xCF: (2...16).contains(frame.precision)
        case 0xDE: true
        default: frame.precision == 8 || frame.precision == 12
        }
    }
}

extension ByteStream {
    /// What programs fill a file up with, and ends of lines.
    static let padding: Set<UInt8> = [0, 0xFF, 0x0A, 0x0D, 0x20]

    /// Skips all up to a position.
    /// - Returns: whether it is nothing but padding.
    fileprivate mutating func skipPadding(upTo end: Int64) throws(PhotoError) -> Bool {
        var isPadding = true
        while position < end {
            let piece = try peek().prefix(Int(min(end - position, 256 << 10)))
            guard !piece.isEmpty else { break }
            isPadding = isPadding && piece.allSatisfy(Self.padding.contains)
            try skip(piece.count)
        }
        return isPadding
    }

    /// From its first scan's header on.
    fileprivate mutating func skipToEndOfPicture() throws(PhotoError) {
        try skipSegment()
        while let marker = try nextMarker(), marker != 0xD9 { try skipSegment() }
    }

    /// What stands behind a picture's end, where this stream is; `nil` for nothing but filling.
    /// - Parameter rest: behind those further pictures that are known.
    func partBehindPicture(known rest: ByteStream? = nil) throws(PhotoError) -> DroppedPart? {
        var (all, rest) = (self, rest ?? self)
        if try all.holdsFilm() { return .motion }
        return try rest.skipPadding(upTo: rest.size) ? nil : .trailer
    }

    /// Whether a film of the MP4 family begins somewhere in the rest: phones append one to a photo that moves.
    fileprivate mutating func holdsFilm() throws(PhotoError) -> Bool {
        let mark = Array("ftyp".utf8)
        var tail: [UInt8] = []
        while true {
            var piece = tail
            try take(256 << 10, into: &piece)
            guard piece.count > tail.count else { return false }
            if piece.firstRange(ofBytes: mark) != nil { return true }
            tail = Array(piece.suffix(mark.count - 1))
        }
    }
}
