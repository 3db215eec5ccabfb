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
