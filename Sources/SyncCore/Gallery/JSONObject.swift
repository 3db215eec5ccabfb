import FoundationEssentials

/// The members of one JSON object, by where they are in the bytes of its file.
package struct JSONObject: Sendable {
    package struct Member: Hashable, Sendable {
        package let name: String
        /// From the quote before its name to the end of its value.
        package let range: Range<Int>
        package let value: Range<Int>
    }

    /// In the order of the file. A name may be there twice.
    package private(set) var members: [Member] = []
    private let bytes: [UInt8]

    /// - Parameter range: of one element, as ``JSONElements`` has found it.
    /// - Returns: `nil` when it is no object.
    package init?(_ bytes: [UInt8], at range: Range<Int>) {
        self.bytes = bytes
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
            Member(name: text(name) ?? "", range: name.lowerBound - 1..<value.upperBound, value: value)
        }
    }

    package func all(_ name: String) -> [Member] { members.filter { $0.name == name } }

    /// A value that is a text; `nil` for other values, and for what is no Unicode.
    package func string(_ value: Range<Int>) -> String? {
        contents(value).flatMap(text)
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

    package func isNull(_ value: Range<Int>) -> Bool { bytes[value].elementsEqual("null".utf8) }

    private func text(_ contents: Range<Int>) -> String? {
        let raw = bytes[contents]
        guard raw.contains(UInt8(ascii: "\\")) else { return String(validating: raw, as: UTF8.self) }
        let quote = [UInt8(ascii: "\"")]
        return try? JSONDecoder().decode(String.self, from: Data(quote + raw + quote))
    }
}
