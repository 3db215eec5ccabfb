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
        guard offset >= 0, offset <= bytes.count - size else { return nil }
        let piece = bytes[offset..<offset + size]
        return isBigEndian
            ? piece.reduce(0) { $0 << 8 | Int($1) } : piece.reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    func encoded(_ value: Int, size: Int) -> [UInt8] {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        return isBigEndian ? bytes.reversed() : bytes
    }

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
