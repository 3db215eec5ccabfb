import SyncCore
import SystemPackage

/// Files beside photos: XMP (ISO 16684-1) with ratings, keywords and edits, and the property lists of Apple's Photos.
enum Sidecar {
    private static let largest: Int64 = 16 << 20

    /// What a file is that is named as one; `nil` when it is none by its first bytes. What ends before it can be told is one,
    /// which is not whole.
    static func type(of head: [UInt8], named path: FilePath) -> MediaType? {
        guard UnitName.isSidecar(path.lastComponent) else { return nil }
        let isAAE = path.extension?.lowercased() == "aae"
        if isAAE, head.starts(with: "bplist00".utf8) { return .aae }
        let bytes = ascii(of: head)
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.drop(while: \.isWhitespace).first == "<" else { return nil }
        let marks = isAAE ? ["<plist"] : ["x:xmpmeta", "x:xapmeta", "rdf:RDF", "<?xpacket"]
        let ends = XMLEnds(bytes)
        guard marks.contains(where: text.contains) || (ends.root == nil && ends.isMarkup) else { return nil }
        return isAAE ? .aae : .xmp
    }

    /// Of UTF-8, UTF-16 and UTF-32 what is ASCII, without the mark.
    private static func ascii(of text: [UInt8]) -> [UInt8] {
        let start = Array(text.prefix(4))
        let widths: [(start: [UInt8], width: Int, place: Int)] = [
            ([0xFF, 0xFE, 0, 0], 4, 0), ([0x3C, 0, 0, 0], 4, 0), ([0, 0, 0xFE, 0xFF], 4, 3), ([0, 0, 0, 0x3C], 4, 3),
            ([0xFF, 0xFE], 2, 0), ([0x3C, 0], 2, 0), ([0xFE, 0xFF], 2, 1), ([0, 0x3C], 2, 1),
        ]
        guard let unit = widths.first(where: { start.starts(with: $0.start) }) else {
            return text.filter { (1..<0x80).contains($0) }
        }
        return stride(from: 0, to: text.count - unit.width + 1, by: unit.width).compactMap { at in
            let byte = text[at + unit.place]
            let others = text[at..<at + unit.width].reduce(0) { $0 | Int($1) } & ~Int(byte)
            return others == 0 && (1..<0x80).contains(byte) ? byte : nil
        }
    }

    /// - Throws: ``PhotoError``: `.truncated` when its text is not closed, `.notStored` when it is too large for one.
    static func requireWhole(_ file: borrowing PhotoFile, size: Int64) throws(PhotoError) {
        guard size <= largest else {
            throw PhotoError(.notStored, "a sidecar of more than \(largest >> 20) MiB stays on this machine")
        }
        let text = try file.read(0..<Int(size))
        guard !text.starts(with: "bplist".utf8), !XMLEnds(ascii(of: text)).isWhole else { return }
        throw PhotoError(.truncated, "the sidecar ends within its text")
    }
}

/// How far a text of markup comes (XML 1.0): what its root is, and whether that is closed. It needs nothing but what is ASCII,
/// which all markup is.
struct XMLEnds {
    /// `nil` where the text ends before the root's name does, or is no markup.
    private(set) var root: String?
    /// Whether nothing but space is missing behind it: the root and all behind it is closed.
    private(set) var isWhole = false
    /// Whether what stands in front of the root's name is such as may stand there.
    private(set) var isMarkup = true

    init(_ text: some Collection<UInt8>) {
        let bytes = Array(text.drop { !Self.isGraphic($0) })
        var at = 0
        var depth = 0
        while at < bytes.count {
            guard bytes[at] == UInt8(ascii: "<") else {
                if root == nil, Self.isGraphic(bytes[at]) { isMarkup = false }
                at += 1
                continue
            }
            guard let end = Self.end(of: bytes[at...]) else {
                isWhole = false
                return
            }
            let mark = bytes[at..<end]
            at = end
            guard let second = mark.dropFirst().first, second != UInt8(ascii: "?"), second != UInt8(ascii: "!") else {
                continue
            }
            if second == UInt8(ascii: "/") {
                depth -= 1
            } else {
                if root == nil { root = Self.name(in: mark) }
                if mark.dropLast().last != UInt8(ascii: "/") { depth += 1 }
            }
            isWhole = depth <= 0
        }
    }

    private static func name(in tag: ArraySlice<UInt8>) -> String {
        let name = tag.dropFirst().prefix { isGraphic($0) && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "/") }
        return String(decoding: name, as: UTF8.self)
    }

    private static func isGraphic(_ byte: UInt8) -> Bool { (0x21..<0x7F).contains(byte) }

    /// Where a tag, a comment or the like that begins here ends; `nil` where the text does before.
    private static func end(of text: ArraySlice<UInt8>) -> Int? {
        for (start, end) in [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")]
        where text.starts(with: start.utf8) {
            return text.dropFirst(start.utf8.count).firstRange(of: Array(end.utf8))?.upperBound
        }
        var quote: UInt8?
        for index in text.indices.dropFirst() {
            let byte = text[index]
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: ">") {
                return index + 1
            }
        }
        return nil
    }
}
