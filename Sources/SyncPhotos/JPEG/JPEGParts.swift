import SyncCore

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
        let marks = JPEGMarkers()
        var end: Int64?
        // The header was read up to the length of the first scan's own.
        try marks.skip(&stream)
        while end == nil, let marker = try marks.next(&stream) {
            switch marker {
            case 0xD9: end = stream.position
            case 0xDC: hasLateHeight = true
            // Between the scans.
            case 0xFE: beside.insert(.comment)
            case 0xE0...0xEF: beside.insert(.applicationData)
            default: break
            }
            if end == nil { try marks.skip(&stream) }
        }
        self.end = end
        if header.hasXMP { beside.insert(.xmp) }
        if header.hasIPTC { beside.insert(.iptc) }
        if header.hasComment { beside.insert(.comment) }
        if header.hasApplicationData { beside.insert(.applicationData) }
        if let end, end < photo.size { try look(behind: end, in: photo, from: stream) }
    }

    /// What stands behind the picture's end. A gain map is only there when its picture is.
    private mutating func look(behind end: Int64, in photo: ByteStream, from stream: ByteStream) throws(PhotoError) {
        var (trailer, rest) = (stream, stream)
        let (further, previews) = (header.furtherPictures, Set(header.previews))
        let starts = further.isEmpty ? [end] + previews : further + previews
        var isMore = false
        for start in starts.sorted() where start >= rest.position && start < photo.size {
            var picture = stream
            try picture.skip(Int(start - picture.position))
            guard try picture.peek().starts(with: [0xFF, 0xD8, 0xFF]) else { continue }
            let isAlone = try rest.skipPadding(upTo: start)
            isMore = isMore || !isAlone
            // A picture that is damaged is one all the same.
            let header = try? JPEGHeader(&picture)
            if !previews.contains(start) { beside.insert(header?.hasGainMap == true ? .gainMap : .secondPicture) }
            if header != nil { try? picture.skipToEndOfPicture() }
            rest = picture
        }
        if try trailer.holdsFilm() {
            beside.insert(.motion)
        } else {
            let isAlone = try rest.skipPadding(upTo: photo.size)
            isMore = isMore || !isAlone
        }
        if isMore { beside.insert(.trailer) }
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
        let marks = JPEGMarkers()
        try marks.skip(&self)
        while let marker = try marks.next(&self), marker != 0xD9 { try marks.skip(&self) }
    }

    /// Whether a film of the MP4 family begins somewhere in the rest: phones append one to a photo that moves.
    fileprivate mutating func holdsFilm() throws(PhotoError) -> Bool {
        let mark = Array("ftyp".utf8)
        var tail: [UInt8] = []
        while true {
            var piece = tail
            try take(256 << 10, into: &piece)
            guard piece.count > tail.count else { return false }
            if piece.firstRange(of: mark) != nil { return true }
            tail = Array(piece.suffix(mark.count - 1))
        }
    }
}
