import SyncCore

/// A JPEG with its picture's data as it is, byte for byte, and around it only what is known to tell nothing.
///
/// What a decoder needs is copied (tables, frame, scans), of the application segments JFIF without its thumbnail, the
/// colours of the ICC profile and Adobe's colour transform, each at the length that its format gives it. All else goes: EXIF, XMP, IPTC,
/// comments, previews, bytes between segments, and whatever follows the picture's end: further pictures, films, trailers.
/// A file that has none of these comes out as it is.
///
/// Cutting does not tell whether the picture is whole, and may take away the only trace that it is not, so a file is decoded to
/// its end before (``cut(_:of:exif:tellsNothing:)``), and what comes out of it before it leaves. Markers are those of ITU T.81, annex B.
struct JPEGCut {
    private struct Segment {
        var marker: UInt8
        var body: [UInt8]
    }

    private var stream: ByteStream
    private var output: [UInt8] = []
    /// Segments before the first scan; written once all of them are known. `nil` afterwards.
    private var header: [Segment]? = []
    private let exif: ExifBlock?
    private let tellsNothing: Bool

    /// Of a photo that our decoder knows.
    /// - Parameter reader: of the photo; used up.
    static func cut(
        _ photo: ByteStream, of reader: borrowing JPEGReader, exif: ExifBlock?, tellsNothing: Bool = true
    ) throws(PhotoError) -> [UInt8] {
        try reader.requireWhole()
        return try cut(photo, exif: exif, tellsNothing: tellsNothing)
    }

    /// - Parameters:
    ///   - exif: written into the copy; the photo's own block goes.
    ///   - tellsNothing: whether the colour profile is left with its colours only.
    static func cut(_ photo: ByteStream, exif: ExifBlock?, tellsNothing: Bool = true) throws(PhotoError) -> [UInt8] {
        var cut = JPEGCut(stream: photo, exif: exif, tellsNothing: tellsNothing)
        // An array that grows would hold the picture twice.
        cut.output.reserveCapacity(Int(photo.size) + (exif?.bytes.count ?? 0) + 16)
        try cut.run()
        return cut.output
    }

    private mutating func run() throws(PhotoError) {
        try stream.take(2, into: &output)
        var marker = try stream.nextMarker()
        while let current = marker {
            switch current {
            case 0xD9:
                writeHeader()
                output += [0xFF, 0xD9]
                return
            // Behind a scan, these may follow too.
            case 0x00, 0x01, 0xD0...0xD8:
                marker = try stream.nextMarker()
            case 0xDA:
                let body = try stream.segment()
                writeHeader()
                write(Segment(marker: current, body: body))
                marker = try takeScan()
            default:
                try takeSegment(current)
                marker = try stream.nextMarker()
            }
        }
    }

    /// Entropy-coded data with its restart markers, up to the next other marker, which is returned.
    private mutating func takeScan() throws(PhotoError) -> UInt8? {
        while true {
            try stream.takeToFF(into: &output)
            guard let code = try stream.markerCode() else { return nil }
            guard code == 0x00 || (0xD0...0xD7).contains(code) else { return code }
            output += [0xFF, code]
        }
    }

    private mutating func takeSegment(_ marker: UInt8) throws(PhotoError) {
        switch marker {
        // Frames, Huffman codes, conditions of arithmetic codes, quantisation, a late height, restart interval, hierarchy.
        case 0xC0...0xC7, 0xC9...0xCF, 0xDB...0xDF:
            let segment = Segment(marker: marker, body: try stream.segment())
            if header == nil { write(segment) } else { header?.append(segment) }
        case 0xE0, 0xE2, 0xEE:
            let body = try stream.segment()
            // Readers look for these in front of the picture only.
            if header != nil, let body = Self.shared(marker, body) {
                header?.append(Segment(marker: marker, body: body))
            }
        default:
            try stream.skipSegment()
        }
    }

    /// What stays of an application segment; `nil` when all of it goes.
    private static func shared(_ marker: UInt8, _ body: [UInt8]) -> [UInt8]? {
        switch marker {
        case 0xE0 where body.count >= 14 && body.starts(with: Array("JFIF\0".utf8)):
            // JFIF 1.02: density, then the sides of a thumbnail and its pixels.
            body[..<12] + [0, 0]
        case 0xE2 where body.has(ICCProfile.name):
            body
        case 0xEE where body.count >= 12 && body.starts(with: Array("Adobe".utf8)):
            Array(body[..<12])
        default:
            nil
        }
    }

    private mutating func writeHeader() {
        guard let segments = header else { return }
        header = nil
        // Where an encoder of ours puts it too.
        let exifAt = segments.firstIndex { $0.marker != 0xE0 && $0.marker != 0xEE } ?? segments.count
        segments[..<exifAt].forEach { write($0) }
        if let exif {
            write(Segment(marker: 0xE1, body: Array("Exif\0\0".utf8) + exif.bytes))
        }
        let chunks = segments.filter { $0.marker == 0xE2 }.map(\.body)
        let profile = ICCProfile(chunks: chunks, coloursOnly: tellsNothing)
        let profileAt = segments.firstIndex { $0.marker == 0xE2 }
        for index in segments.indices[exifAt...] {
            if index == profileAt {
                profile?.bodies.forEach { write(Segment(marker: 0xE2, body: $0)) }
            }
            if segments[index].marker != 0xE2 { write(segments[index]) }
        }
    }

    private mutating func write(_ segment: Segment) {
        let length = segment.body.count + 2
        output += [0xFF, segment.marker, UInt8(length >> 8), UInt8(length & 0xFF)]
        output += segment.body
    }
}
