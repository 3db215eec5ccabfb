/// A JPEG file cut at its markers, to look into outputs and to make inputs.
struct JPEGSegments {
    struct Segment {
        var marker: UInt8
        var body: [UInt8]
        /// What follows a scan header, up to the next marker.
        var entropy: [UInt8] = []
    }

    var segments: [Segment] = []

    init(_ bytes: [UInt8]) throws {
        guard bytes.starts(with: [0xFF, 0xD8]) else { throw BaselinePicture.Unreadable() }
        var at = 2
        while at + 4 <= bytes.count, bytes[at] == 0xFF, bytes[at + 1] != 0xD9 {
            let end = at + 2 + (Int(bytes[at + 2]) << 8 | Int(bytes[at + 3]))
            guard end <= bytes.count else { throw BaselinePicture.Unreadable() }
            var segment = Segment(marker: bytes[at + 1], body: Array(bytes[at + 4..<end]))
            at = end
            if segment.marker == 0xDA {
                let start = at
                while at + 1 < bytes.count, bytes[at] != 0xFF || bytes[at + 1] == 0 || bytes[at + 1] & 0xF8 == 0xD0 {
                    at += 1
                }
                segment.entropy = Array(bytes[start..<at])
            }
            segments.append(segment)
        }
    }

    /// The file again.
    var bytes: [UInt8] {
        segments.reduce([0xFF, 0xD8]) { bytes, segment in
            let length = segment.body.count + 2
            return bytes + [0xFF, segment.marker, UInt8(length >> 8), UInt8(length & 255)] + segment.body
                + segment.entropy
        } + [0xFF, 0xD9]
    }

    /// Contents of the segments with a marker that begin with a text.
    func contents(of marker: UInt8, startingWith header: String) -> [[UInt8]] {
        segments.filter { $0.marker == marker && $0.body.starts(with: header.utf8) }
            .map { Array($0.body.dropFirst(header.utf8.count)) }
    }

    var exif: [UInt8]? { contents(of: 0xE1, startingWith: "Exif\0\0").first }

    /// The frame header's segment.
    var frameIndex: Int? {
        segments.firstIndex { (0xC0...0xCF).contains($0.marker) && ![0xC4, 0xC8, 0xCC].contains($0.marker) }
    }

    /// The same file with another size in its frame header.
    func resized(width: Int, height: Int) -> JPEGSegments {
        var copy = self
        if let index = frameIndex {
            copy.segments[index].body.replaceSubrange(
                1..<5, with: [height >> 8, height & 255, width >> 8, width & 255].map { UInt8($0) })
        }
        return copy
    }

    /// A gray 4:2:0 picture of any size: each MCU is the same four bytes with the standard Huffman codes.
    static func flat(width: Int, height: Int, like picture: [UInt8]) throws -> [UInt8] {
        var file = try JPEGSegments(picture).resized(width: width, height: height)
        let units = ((width + 15) / 16) * ((height + 15) / 16)
        for index in file.segments.indices where file.segments[index].marker == 0xDA {
            file.segments[index].entropy = (0..<units).flatMap { _ in [0x28, 0xA2, 0x8A, 0x00] as [UInt8] }
        }
        return file.bytes
    }
}
