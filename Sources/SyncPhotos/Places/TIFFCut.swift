import SyncCore

/// A TIFF of the entries that make its pictures (TIFF 6.0): none of them moves, and every byte that none of them needs is
/// zero.
///
/// A tag that is on no list is refused: it may be that of a camera's raw file, which would not be one without it.
struct TIFFCut {
    private static let name = "TIFF"
    /// Directories of a file of many pages, and more.
    private static let mostDirectories = 4_096
    private static let mostPieces = 1 << 22

    private static let compression = 0x0103
    /// None, CCITT, LZW, deflate, PackBits: streams without segments of their own.
    private static let plainCompressions: Set<Int> = [1, 2, 3, 4, 5, 8, 32_773, 32_946]
    /// Where data begin, and the tag that tells how long they are.
    private static let data = [0x0111: 0x0117, 0x0144: 0x0145]

    private static let held: Set<Int> = ExifTags.image.union([
        0x00FE, 0x00FF, 0x0102, compression, 0x0106, 0x0107, 0x010A, 0x0111, 0x0115, 0x0116, 0x0117, 0x0118, 0x0119,
        0x011C, 0x011E, 0x011F, 0x0120, 0x0121, 0x0122, 0x0123, 0x0124, 0x0125, 0x0129, 0x012D, 0x013D, 0x0140, 0x0141,
        0x0142, 0x0143, 0x0144, 0x0145, ExifTags.subDirectories, 0x014C, 0x014E, 0x0150, 0x0152, 0x0153, 0x0154, 0x0155,
        0x0212, 0x8773, ExifTags.exifDirectory,
    ])
    private static let geography: Set<Int> = [ExifTags.gpsDirectory, 0x830E, 0x8482, 0x85D8, 0x87AF, 0x87B0, 0x87B1]
    private static let texts: Set<Int> = [
        0x010D, 0x010E, 0x011D, 0x013C, 0x9C9B, 0x9C9C, 0x9C9D, 0x9C9E, 0x9C9F, 0x4746, 0x4749, 0x935C, 0xA480, 0xA481,
    ]
    private static let records: Set<Int> = [ExifTags.iptc, ExifTags.photoshop, 0x8568]

    private let block: TIFFBlock
    private var output: [UInt8]
    private var dropped: Set<DroppedPart> = []
    /// Bytes that kept entries need.
    private var values: [Range<Int>] = []
    private var directories: [(range: Range<Int>, bytes: [UInt8])] = []
    private var directoryBytes = 0

    static func cut(_ bytes: [UInt8]) throws(PhotoError) -> PlaceCut {
        guard let block = TIFFBlock(bytes) else { throw .unclear(name) }
        var cut = TIFFCut(block: block, output: [UInt8](repeating: 0, count: bytes.count))
        try cut.run()
        return PlaceCut(bytes: cut.output, dropped: cut.dropped)
    }

    private mutating func run() throws(PhotoError) {
        var waiting = [block.firstDirectory]
        while let offset = waiting.popLast() {
            guard offset != 0 else { continue }
            waiting += try keepPicture(at: offset)
            guard waiting.count <= Self.mostDirectories else { throw .unclear(Self.name) }
        }
        let places = RangeList(directories.map(\.range))
        let isDisjoint = places.ranges.reduce(0) { $0 + $1.count } == directories.reduce(0) { $0 + $1.range.count }
        let kept = RangeList(values)
        guard isDisjoint, !kept.overlaps(places) else { throw .unclear(Self.name) }
        output.replaceSubrange(..<TIFFBlock.headerSize, with: block.bytes[..<TIFFBlock.headerSize])
        for range in kept.ranges { output.replaceSubrange(range, with: block.bytes[range]) }
        for directory in directories { output.replaceSubrange(directory.range, with: directory.bytes) }
    }

    /// Directories that lie on each other have more entries than the file has bytes: none of those is read.
    private mutating func entries(at offset: Int) throws(PhotoError) -> [TIFFBlock.Entry] {
        guard let entries = block.entries(at: offset) else { throw .unclear(Self.name) }
        directoryBytes += 2 + entries.count * TIFFBlock.entrySize
        guard directoryBytes <= block.bytes.count else { throw .unclear(Self.name) }
        return entries
    }

    /// - Returns: where further directories are.
    private mutating func keepPicture(at offset: Int) throws(PhotoError) -> [Int] {
        guard directories.count < Self.mostDirectories else { throw .unclear(Self.name) }
        let entries = try entries(at: offset)
        var kept: [TIFFBlock.Entry] = []
        var further: [Int] = []
        for entry in entries {
            guard Self.held.contains(entry.tag) else {
                try drop(entry)
                continue
            }
            guard entry.value != nil else { throw .unclear(Self.name) }
            switch entry.tag {
            case Self.compression:
                guard let kind = block.integer(entry), Self.plainCompressions.contains(kind) else {
                    throw .place("it is a TIFF of a compression in which positions may stand")
                }
            case ExifTags.exifDirectory:
                guard let place = block.integer(entry), try keepExif(at: place) else { continue }
            case ExifTags.subDirectories:
                guard entry.count <= Self.mostDirectories, further.isEmpty else { throw .unclear(Self.name) }
                further = block.integers(entry) ?? []
            default: break
            }
            kept.append(entry)
        }
        // Nothing of a picture: an empty directory is none that a reader takes.
        guard !kept.isEmpty else { throw .unclear(Self.name) }
        for (starts, lengths) in Self.data { try keepData(entries, starts, lengths) }
        let next = block.next(after: offset, entries: entries.count)
        write(kept, at: offset, of: entries.count, next: next)
        return further + [next]
    }

    /// - Returns: `false` when it goes, since nothing of it is kept.
    private mutating func keepExif(at offset: Int) throws(PhotoError) -> Bool {
        let entries = try entries(at: offset)
        if entries.contains(where: { $0.tag == ExifTags.makerNote }) { dropped.insert(.makerNote) }
        let kept = entries.filter { ExifTags.exif.contains($0.tag) && $0.value != nil }
        guard !kept.isEmpty else { return false }
        write(kept, at: offset, of: entries.count, next: 0)
        return true
    }

    private mutating func drop(_ entry: TIFFBlock.Entry) throws(PhotoError) {
        switch entry.tag {
        case let tag where Self.geography.contains(tag): dropped.insert(.position)
        case let tag where Self.texts.contains(tag): dropped.insert(.comment)
        case let tag where Self.records.contains(tag): dropped.insert(.iptc)
        case ExifTags.xmp: dropped.insert(.xmp)
        case ExifTags.makerNote: dropped.insert(.makerNote)
        default: throw .place("it is a TIFF with an unknown entry (tag \(entry.tag)), which may tell a position")
        }
    }

    private mutating func keepData(_ entries: [TIFFBlock.Entry], _ starts: Int, _ lengths: Int) throws(PhotoError) {
        guard let first = entries.first(where: { $0.tag == starts }) else { return }
        guard let second = entries.first(where: { $0.tag == lengths }), first.count == second.count,
            values.count + first.count <= Self.mostPieces, let places = block.integers(first),
            let sizes = block.integers(second)
        else { throw .unclear(Self.name) }
        for (place, size) in zip(places, sizes) {
            guard place <= block.bytes.count - size else { throw .unclear(Self.name) }
            values.append(place..<place + size)
        }
    }

    /// Writes a directory of fewer entries in the place of one.
    private mutating func write(_ kept: [TIFFBlock.Entry], at offset: Int, of count: Int, next: Int) {
        var bytes = block.encoded(kept.count, size: 2)
        for entry in kept {
            bytes += block.bytes[entry.at..<entry.at + TIFFBlock.entrySize]
            if let value = entry.value, value.lowerBound != entry.at + 8 { values.append(value) }
        }
        bytes += block.encoded(next, size: 4)
        let room = 2 + count * TIFFBlock.entrySize + 4
        let end = min(offset + room, block.bytes.count)
        bytes += [UInt8](repeating: 0, count: max(0, room - bytes.count))
        directories.append((offset..<end, Array(bytes.prefix(end - offset))))
    }
}

/// A classic TIFF structure while it is read (TIFF 6.0, section 2): an EXIF block or a whole file. Any bytes may be given.
struct TIFFBlock {
    struct Entry {
        let tag: Int
        let type: Int
        let count: Int
        /// Where its twelve bytes begin.
        let at: Int
        /// Where its value lies, in the entry or elsewhere; `nil` when that is not within the block.
        let value: Range<Int>?
    }

    let bytes: [UInt8]
    let isBigEndian: Bool

    static let headerSize = 8
    static let entrySize = 12
    /// Bytes of one value, by its type (EXIF 2.32, 4.6.2; type 13 is a LONG that points at a directory).
    private static let typeSizes = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4]

    /// `nil` for what does not begin as classic TIFF does.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.headerSize + 2 else { return nil }
        isBigEndian = bytes.starts(with: Array("MM\0*".utf8))
        guard isBigEndian || bytes.starts(with: Array("II*\0".utf8)) else { return nil }
        self.bytes = bytes
    }

    /// Where the first directory is.
    var firstDirectory: Int { number(at: 4, size: 4) ?? 0 }

    /// `nil` where the block ends before it.
    func number(at offset: Int, size: Int) -> Int? {
        isBigEndian ? bytes.big(at: offset, size: size) : bytes.little(at: offset, size: size)
    }

    func encoded(_ value: Int, size: Int) -> [UInt8] { value.bytes(size, isBigEndian: isBigEndian) }

    /// The entries of a directory; `nil` when it does not lie within the block.
    func entries(at offset: Int) -> [Entry]? {
        guard offset >= Self.headerSize, let count = number(at: offset, size: 2), count > 0 else { return nil }
        guard offset + 2 + count * Self.entrySize <= bytes.count else { return nil }
        return (0..<count).compactMap { entry(at: offset + 2 + $0 * Self.entrySize) }
    }

    private func entry(at offset: Int) -> Entry? {
        guard let tag = number(at: offset, size: 2), let type = number(at: offset + 2, size: 2),
            let count = number(at: offset + 4, size: 4), let place = number(at: offset + 8, size: 4)
        else { return nil }
        let size = Self.typeSizes.indices.contains(type) ? Self.typeSizes[type] * count : 0
        let start = size <= 4 ? offset + 8 : place
        let isWithin = size > 0 && start <= bytes.count - size
        return Entry(tag: tag, type: type, count: count, at: offset, value: isWithin ? start..<start + size : nil)
    }

    /// The link behind a directory's entries; 0 where there is none.
    func next(after directory: Int, entries: Int) -> Int {
        number(at: directory + 2 + entries * Self.entrySize, size: 4) ?? 0
    }

    /// The integers of a value of SHORTs or LONGs; `nil` for others.
    func integers(_ entry: Entry) -> [Int]? {
        guard let value = entry.value, [3, 4, 13].contains(entry.type) else { return nil }
        let size = entry.type == 3 ? 2 : 4
        return stride(from: value.lowerBound, to: value.upperBound, by: size).compactMap { number(at: $0, size: size) }
    }

    /// The first integer of a value.
    func integer(_ entry: Entry) -> Int? {
        guard let value = entry.value, [3, 4, 13].contains(entry.type) else { return nil }
        return number(at: value.lowerBound, size: entry.type == 3 ? 2 : 4)
    }
}
