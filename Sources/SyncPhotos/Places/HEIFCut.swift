import SyncCore

/// A HEIC, HEIF or AVIF of which only pictures are left (ISO 23008-12): no byte moves, and what tells a place is blank.
///
/// Pictures lie in `mdat` or `idat` at the places that `iloc` names. Every other byte of these boxes becomes zero; the
/// EXIF item is made anew in its own room. Boxes, items and properties that are not on a list are refused.
struct HEIFCut {
    private static let name = "HEIF"
    private static let heldBoxes: Set<String> = ["hdlr", "dinf", "pitm", "iref", "grpl", "ipro"]
    /// Nobody needs them. What is in them becomes zero, and they become `free`.
    private static let blankedBoxes: Set<String> = ["uuid", "xml ", "bxml", "free", "skip", "mpvd", "sefd"]
    private static let heldProperties: Set<String> = [
        "ispe", "hvcC", "av1C", "avcC", "lhvC", "vvcC", "colr", "pixi", "irot", "imir", "clap", "pasp", "auxC", "clli",
        "mdcv", "cclv", "amve", "lsel", "a1op", "a1lx", "rloc", "oinf", "tols", "iscl", "rref", "crtt", "subs", "free",
        "skip", "tmap", "reve", "ndwt",
    ]
    private static let pictures: Set<String> = [
        "hvc1", "hev1", "lhv1", "av01", "avc1", "vvc1", "grid", "iovl", "iden", "tmap",
    ]

    private let bytes: [UInt8]
    private var output: [UInt8]
    private var dropped: Set<DroppedPart> = []

    static func cut(_ bytes: [UInt8]) throws(PhotoError) -> PlaceCut {
        var cut = HEIFCut(bytes: bytes, output: bytes)
        try cut.run()
        return PlaceCut(bytes: cut.output, dropped: cut.dropped)
    }

    private mutating func run() throws(PhotoError) {
        var data: [Range<Int>] = []
        var meta: Box?
        for box in try bytes.boxes(in: bytes.indices, of: Self.name) {
            switch box.type {
            case "ftyp": break
            case "mdat": data.append(box.body)
            case "meta" where meta == nil && box.body.count > 4: meta = box
            case let type where Self.blankedBoxes.contains(type): blank(box)
            case "moov": throw .place("its pictures are a sequence, which may carry positions")
            default: throw .unclear(Self.name)
            }
        }
        guard let meta else { throw .unclear(Self.name) }
        var boxes: [String: Box] = [:]
        for box in try bytes.boxes(in: meta.body.dropFirst(4), of: Self.name) {
            if Self.blankedBoxes.contains(box.type) {
                blank(box)
            } else if ["iinf", "iloc", "iprp", "idat"].contains(box.type), boxes[box.type] == nil {
                boxes[box.type] = box
            } else if !Self.heldBoxes.contains(box.type) {
                throw .unclear(Self.name)
            }
        }
        guard let information = boxes["iinf"], let places = boxes["iloc"] else { throw .unclear(Self.name) }
        if let properties = boxes["iprp"] { try cut(properties: properties) }
        let idat = boxes["idat"]?.body
        let items = try HEIFItems(bytes, information: information.body, places: places.body, idat: idat)
        try blank(items, within: data + (idat.map { [$0] } ?? []))
    }

    private mutating func blank(_ box: Box) {
        if ["mpvd", "sefd"].contains(box.type) { dropped.insert(.motion) }
        if box.type == "uuid" || box.type == "xml " { dropped.insert(.xmp) }
        output.replaceSubrange(box.all.lowerBound + 4..<box.all.lowerBound + 8, with: Array("free".utf8))
        clear(box.body)
    }

    private mutating func clear(_ range: Range<Int>) {
        output.replaceSubrange(range, with: repeatElement(0, count: range.count))
    }

    private mutating func cut(properties: Box) throws(PhotoError) {
        for box in try bytes.boxes(in: properties.body, of: Self.name) where box.type == "ipco" {
            for property in try bytes.boxes(in: box.body, of: Self.name) {
                // A description is what a person wrote.
                if property.type == "udes" || property.type == "uuid" {
                    dropped.insert(.comment)
                    blank(property)
                } else if !Self.heldProperties.contains(property.type) {
                    throw .unclear(Self.name)
                }
            }
        }
    }

    private mutating func blank(_ items: HEIFItems, within data: [Range<Int>]) throws(PhotoError) {
        var kept: [Range<Int>] = []
        var told: [Range<Int>] = []
        for item in items.items {
            if Self.pictures.contains(item.type) {
                kept += item.extents
            } else if item.type == "Exif" || item.type == "uri " || item.type == "mime" && !item.isPicture {
                told += item.extents
            } else {
                throw .unclear(Self.name)
            }
        }
        let (pictures, texts) = (RangeList(kept), RangeList(told))
        let room = RangeList(data)
        guard room.holds(pictures), room.holds(texts), !pictures.overlaps(texts) else { throw .unclear(Self.name) }
        for range in room.ranges { clear(range) }
        for range in pictures.ranges { output.replaceSubrange(range, with: bytes[range]) }
        for item in items.items where !Self.pictures.contains(item.type) {
            if item.type == "Exif" {
                writeExif(item)
            } else {
                dropped.insert(item.isXMP ? .xmp : .comment)
                if item.isXMP { writeXMP(item) }
            }
        }
    }

    /// A packet that tells nothing, with spaces up to its end: readers call zeros damaged.
    private mutating func writeXMP(_ item: HEIFItems.Item) {
        let room = item.extents.reduce(0) { $0 + $1.count }
        let packet = Array("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"></x:xmpmeta>".utf8)
        if packet.count > room { return }
        write(packet + [UInt8](repeating: UInt8(ascii: " "), count: room - packet.count), to: item)
    }

    private mutating func write(_ bytes: [UInt8], to item: HEIFItems.Item) {
        var rest = bytes[...]
        for extent in item.extents {
            let piece = rest.prefix(extent.count)
            output.replaceSubrange(extent.prefix(piece.count), with: piece)
            rest = rest.dropFirst(piece.count)
        }
    }

    /// The item: where its TIFF header is, counted from behind this number, then as in a JPEG (ISO 23008-12, A.2.1).
    private mutating func writeExif(_ item: HEIFItems.Item) {
        let content = item.extents.flatMap { bytes[$0] }
        guard let offset = content.big(at: 0), offset < content.count - 4 else { return }
        let start = 4 + offset
        let block = ExifBlock(bytes: Array(content[start...]))
        dropped.formUnion(block.partsThatTellPlaces)
        guard let anew = block.withoutPlace(), anew.bytes.count <= block.bytes.count else { return }
        let lead = Array("Exif\0\0".utf8)
        let head = offset == lead.count ? lead : [UInt8](repeating: 0, count: offset)
        write(content[..<4] + head + anew.bytes, to: item)
    }
}

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

    private static func extents(_ cursor: Cursor, idat: Range<Int>?) throws(PhotoError) -> [Int: [Range<Int>]] {
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
