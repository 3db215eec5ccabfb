/// The tags of a page as a browser's tokenizer finds them (WHATWG HTML, 13.2.5), as far as our pages need it: by bytes,
/// so that no combining mark hides a quote.
package struct PageMarkup: Sendable {
    package struct Tag: Equatable, Sendable {
        package var name: String
        package var attributes: [String: String] = [:]
        /// Names in the order in which they stand, doubles included.
        package var attributeNames: [String] = []
    }

    package private(set) var tags: [Tag] = []
    /// Everything between tags, decoded, without the contents of `style` and `script`.
    package private(set) var text = ""
    /// Contents of `style` and `script`, byte for byte.
    package private(set) var raw: [String: String] = [:]
    /// End tags that close nothing and elements that nothing closes.
    package private(set) var unbalanced: [String] = []

    private static let void: Set<String> = ["meta", "link", "img", "br", "hr", "input", "path"]

    package init(_ html: String) {
        var rest = Array(html.utf8)[...]
        var open: [String] = []
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            text += Self.decoded(rest[..<start])
            rest = rest[start...].dropFirst()
            if rest.first == UInt8(ascii: "!") {
                rest = rest.drop { $0 != UInt8(ascii: ">") }.dropFirst()
            } else if rest.first == UInt8(ascii: "/") {
                let name = Self.word(&rest, until: ">").dropFirst().lowercased()
                rest = rest.dropFirst()
                if open.last == name { open.removeLast() } else { unbalanced.append("/" + name) }
            } else {
                let tag = Self.tag(&rest)
                tags.append(tag)
                if tag.name == "style" || tag.name == "script" {
                    raw[tag.name, default: ""] += Self.contents(&rest, of: tag.name)
                } else if !Self.void.contains(tag.name) {
                    open.append(tag.name)
                }
            }
        }
        text += Self.decoded(rest)
        unbalanced += open
    }

    package func all(_ name: String) -> [Tag] {
        tags.filter { $0.name == name }
    }

    /// Names of tags and attributes: what may not depend on what people write.
    package var skeleton: [String] {
        tags.map { ([$0.name] + $0.attributeNames).joined(separator: " ") }
    }

    private static func tag(_ rest: inout ArraySlice<UInt8>) -> Tag {
        var tag = Tag(name: word(&rest, until: " \n\t/>").lowercased())
        while true {
            rest = rest.drop { " \n\t/".utf8.contains($0) }
            guard let byte = rest.first, byte != UInt8(ascii: ">") else { break }
            let name = word(&rest, until: " \n\t/>=").lowercased()
            var value = ""
            if rest.first == UInt8(ascii: "=") {
                rest = rest.dropFirst()
                if let quote = rest.first, "\"'".utf8.contains(quote) {
                    rest = rest.dropFirst()
                    let inside = rest.prefix { $0 != quote }
                    value = decoded(inside)
                    rest = rest.dropFirst(inside.count + 1)
                } else {
                    value = word(&rest, until: " \n\t>")
                }
            }
            tag.attributes[name] = value
            tag.attributeNames.append(name)
        }
        rest = rest.dropFirst()
        return tag
    }

    private static func contents(_ rest: inout ArraySlice<UInt8>, of name: String) -> String {
        let end = Array("</\(name)>".utf8)
        var index = rest.startIndex
        while index + end.count <= rest.endIndex, !rest[index...].starts(with: end) { index += 1 }
        defer { rest = rest[index...].dropFirst(end.count) }
        return String(decoding: rest[..<index], as: UTF8.self)
    }

    private static func word(_ rest: inout ArraySlice<UInt8>, until ends: String) -> String {
        let word = rest.prefix { !ends.utf8.contains($0) }
        rest = rest.dropFirst(word.count)
        return String(decoding: word, as: UTF8.self)
    }

    private static func decoded(_ bytes: ArraySlice<UInt8>) -> String {
        let entities = [
            ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&#96;", "`"), ("&amp;", "&"),
        ]
        var text = ""
        var rest = bytes
        while let start = rest.firstIndex(of: UInt8(ascii: "&")) {
            text += String(decoding: rest[..<start], as: UTF8.self)
            let found = entities.first { rest[start...].starts(with: $0.0.utf8) }
            text += found?.1 ?? "&"
            rest = rest[start...].dropFirst(found?.0.utf8.count ?? 1)
        }
        return text + String(decoding: rest, as: UTF8.self)
    }
}
