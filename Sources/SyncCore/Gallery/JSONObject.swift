import FoundationEssentials

/// How much an object looks like what is searched for (``JSONElements``).
package enum JSONLikeness: Hashable, Sendable {
    case none
    /// It may also be something that holds such objects.
    case possible
    case certain
}

/// The members of one JSON object, by where they are in the bytes of its file.
package struct JSONObject: Sendable {
    package struct Member: Hashable, Sendable {
        package let name: String
        /// From the quote before its name to the end of its value.
        package let range: Range<Int>
        package let value: Range<Int>

        /// Within its quotes.
        let nameRange: Range<Int>
    }

    /// In the order of the file. A name may be there twice.
    package private(set) var members: [Member] = []
    /// Where it stands.
    package let range: Range<Int>
    private let bytes: [UInt8]

    /// - Parameter range: of one element, as ``JSONElements`` has found it.
    /// - Returns: `nil` when it is no object.
    package init?(_ bytes: [UInt8], at range: Range<Int>) {
        self.bytes = bytes
        self.range = range
        var found: [(name: Range<Int>, value: Range<Int>)] = []
        let isObject = bytes.withUnsafeBufferPointer { bytes in
            var scanner = JSONScanner(bytes, in: range)
            guard scanner.peek() == UInt8(ascii: "{") else { return false }
            do throws(JSONDamage) {
                try scanner.object(depth: 0) { found.append(($0, $1)) }
                return true
            } catch {
                return false
            }
        }
        guard isObject else { return nil }
        members = found.map { name, value in
            // A name that is no Unicode is none that anybody asks for.
            Member(
                name: text(name) ?? "", range: name.lowerBound - 1..<value.upperBound, value: value, nameRange: name)
        }
    }

    package func all(_ name: StaticString) -> [Member] {
        members.filter { member in name.withUTF8Buffer { $0.elementsEqual(member.name.utf8) } }
    }

    /// A value that is a text; `nil` for other values, and for what is no Unicode.
    package func string(_ value: Range<Int>) -> String? {
        contents(value).flatMap(text)
    }

    /// The first text with a name, in this object or, if it has none, in those within it.
    package func firstText(_ name: StaticString) -> String? {
        all(name).lazy.compactMap { string($0.value) }.first
            ?? members.lazy.compactMap { object($0.value)?.firstText(name) }.first
    }

    /// Where the text of a value is, without its quotes and as it is escaped; `nil` when the value is no text.
    package func contents(_ value: Range<Int>) -> Range<Int>? {
        guard value.count >= 2, bytes[value.lowerBound] == UInt8(ascii: "\"") else { return nil }
        return value.lowerBound + 1..<value.upperBound - 1
    }

    /// Bytes of the file.
    subscript(range: Range<Int>) -> ArraySlice<UInt8> { bytes[range] }

    /// The digits of a value that is a number, as they are written.
    package func number(_ value: Range<Int>) -> String? {
        guard let first = bytes[value].first, first == UInt8(ascii: "-") || first.isDigit else { return nil }
        return String(decoding: bytes[value], as: UTF8.self)
    }

    /// A value that is an object.
    func object(_ value: Range<Int>) -> JSONObject? { JSONObject(bytes, at: value) }

    package func isNull(_ value: Range<Int>) -> Bool { bytes[value].elementsEqual("null".utf8) }

    private func text(_ contents: Range<Int>) -> String? { Self.text(Array(bytes[contents]), isCutOff: false) }

    /// A text as it is escaped, without its quotes.
    /// - Parameter isCutOff: whether it may end within an escape or a character, which is then left out.
    static func text(_ raw: [UInt8], isCutOff: Bool) -> String? {
        guard raw.contains(UInt8(ascii: "\\")) else {
            return isCutOff ? String(decoding: raw, as: UTF8.self) : String(validating: raw, as: UTF8.self)
        }
        let quote = [UInt8(ascii: "\"")]
        for length in (max(isCutOff ? raw.count - 12 : raw.count, 0)...raw.count).reversed() {
            if let text = try? JSONDecoder().decode(String.self, from: Data(quote + raw.prefix(length) + quote)) {
                return text
            }
        }
        return nil
    }
}
