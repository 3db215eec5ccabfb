import SyncCore

/// The items of a HEIF file, by `iinf` and `iloc` (ISO 14496-12, 8.11): what each is, and where its bytes are.
struct HEIFItems {
    struct Item {
        let type: String
        /// Of a `mime` item.
        let content: String
        var extents: [Range<Int>]

        var isPicture: Bool { content.hasPrefix("image/") }
        var isXMP: Bool { content == "application/rdf+xml" }
    }

    private static let name = "HEIF"
    private static let mostExtents = 1 << 20

    private(set) var items: [Item] = []

    /// - Parameters:
    ///   - information: body of `iinf`.
    ///   - places: body of `iloc`.
    ///   - idat: body of `idat`, in which items may lie, too.
    init(_ bytes: [UInt8], information: Range<Int>, places: Range<Int>, idat: Range<Int>?) throws(PhotoError) {
        var extents = try Self.extents(Cursor(bytes: bytes, range: places), idat: idat)
        guard let version = bytes.big(at: information.lowerBound, size: 1) else { throw .unclear(Self.name) }
        let entries = information.dropFirst(version == 0 ? 6 : 8)
        for box in try bytes.boxes(in: entries, of: Self.name) {
            guard box.type == "infe" else { throw .unclear(Self.name) }
            var entry = Cursor(bytes: bytes, range: box.body)
            let version = try entry.number(1)
            guard version == 2 || version == 3 else { throw .unclear(Self.name) }
            _ = try entry.number(3)
            let id = try entry.number(version == 2 ? 2 : 4)
            _ = try entry.number(2)
            let type = bytes.text(at: entry.at) ?? ""
            _ = try entry.number(4)
            _ = entry.string()
            let content = type == "mime" ? entry.string() : ""
            items.append(Item(type: type, content: content, extents: extents.removeValue(forKey: id) ?? []))
        }
        // Bytes of an item that nothing is known of.
        guard extents.isEmpty else { throw .unclear(Self.name) }
    }

    private static func extents(
        _ cursor: Cursor, idat: Range<Int>?
    ) throws(PhotoError) -> [Int: [Range<Int>]] {
        var cursor = cursor
        let version = try cursor.number(1)
        guard version <= 2 else { throw .unclear(name) }
        _ = try cursor.number(3)
        let sizes = try cursor.number(2)
        let (offsetSize, lengthSize) = (sizes >> 12, sizes >> 8 & 15)
        let (baseSize, indexSize) = (sizes >> 4 & 15, version == 0 ? 0 : sizes & 15)
        var result: [Int: [Range<Int>]] = [:]
        var count = 0
        for _ in 0..<(try cursor.number(version < 2 ? 2 : 4)) {
            let id = try cursor.number(version < 2 ? 2 : 4)
            let method = version == 0 ? 0 : try cursor.number(2) & 15
            let isElsewhere = try cursor.number(2) != 0
            let base = try cursor.number(baseSize)
            guard !isElsewhere, method < 2, result[id] == nil else { throw .unclear(name) }
            var extents: [Range<Int>] = []
            for _ in 0..<(try cursor.number(2)) {
                _ = try cursor.number(indexSize)
                let offset = try cursor.number(offsetSize)
                let length = try cursor.number(lengthSize)
                let origin = method == 0 ? 0 : idat?.lowerBound ?? Int.max / 2
                count += 1
                guard length > 0, count <= mostExtents, base < 1 << 40, offset < 1 << 40, length < 1 << 40 else {
                    throw .unclear(name)
                }
                let start = origin + base + offset
                extents.append(start..<start + length)
            }
            result[id] = extents
        }
        return result
    }

    /// Numbers one behind the other.
    private struct Cursor {
        let bytes: [UInt8]
        var at: Int
        private let end: Int

        init(bytes: [UInt8], range: Range<Int>) {
            self.bytes = bytes
            at = range.lowerBound
            end = range.upperBound
        }

        /// - Parameter size: bytes, eight at most; none is zero.
        mutating func number(_ size: Int) throws(PhotoError) -> Int {
            guard size <= 8, at + size <= end, let number = bytes.big(at: at, size: size) else {
                throw .unclear(HEIFItems.name)
            }
            at += size
            return number
        }

        /// Up to a NUL.
        mutating func string() -> String {
            let text = bytes[at..<end].prefix { $0 != 0 }
            at = min(text.endIndex + 1, end)
            return String(decoding: text, as: UTF8.self)
        }
    }
}
