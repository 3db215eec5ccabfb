/// The directories of an EXIF block, as far as the tests look: each tag with its inline value.
struct ExifEntries {
    private let block: [UInt8]
    private(set) var image: [Int: Int] = [:]
    private(set) var exif: [Int: Int] = [:]
    private(set) var gps: [Int: Int] = [:]
    /// Whether a second image, the thumbnail, is linked.
    private(set) var hasThumbnail = false

    init(_ block: [UInt8]) {
        self.block = block
        image = directory(at: number(4, 4))
        exif = image[0x8769].map(directory) ?? [:]
        gps = image[0x8825].map(directory) ?? [:]
        hasThumbnail = number(number(4, 4) + 2 + 12 * number(number(4, 4), 2), 4) != 0
    }

    /// The bytes of a maker note.
    var makerNote: [UInt8]? {
        let at = number(4, 4)
        guard let entry = image[0x8769].flatMap({ entry(0x927C, in: $0) }), at > 0 else { return nil }
        let (count, offset) = (number(entry + 4, 4), number(entry + 8, 4))
        return offset + count <= block.count ? Array(block[offset..<offset + count]) : nil
    }

    private func number(_ at: Int, _ size: Int) -> Int {
        guard at >= 0, at + size <= block.count else { return 0 }
        let bytes = block[at..<at + size]
        return (block.first == UInt8(ascii: "M") ? Array(bytes) : bytes.reversed()).reduce(0) { $0 << 8 | Int($1) }
    }

    private func entry(_ tag: Int, in directory: Int) -> Int? {
        (0..<number(directory, 2)).map { directory + 2 + 12 * $0 }.first { number($0, 2) == tag }
    }

    private func directory(at offset: Int) -> [Int: Int] {
        (0..<number(offset, 2)).reduce(into: [:]) { entries, index in
            let entry = offset + 2 + 12 * index
            entries[number(entry, 2)] = number(entry + 8, number(entry + 2, 2) == 3 ? 2 : 4)
        }
    }
}
