/// Where bytes stop being JSON (RFC 8259).
package struct JSONDamage: Error, Hashable, Sendable, CustomStringConvertible {
    /// From the beginning of the file, from 0.
    package let offset: Int
    /// It quotes nothing of the file.
    package let reason: String

    package var description: String { "byte \(offset): \(reason)" }
}

/// Walks over JSON without building anything: it finds where values begin and end, and that they are whole. Strict
/// (RFC 8259), but for the bytes of texts, which need not be UTF-8: whoever reads a text checks that.
struct JSONScanner {
    private static let deepest = 64

    private let bytes: UnsafeBufferPointer<UInt8>
    private let end: Int
    private(set) var offset: Int

    /// - Parameter range: what is looked at, within the bytes.
    init(_ bytes: UnsafeBufferPointer<UInt8>, in range: Range<Int>) {
        let range = range.clamped(to: 0..<bytes.count)
        self.bytes = bytes
        offset = range.lowerBound
        end = range.upperBound
    }

    var isAtEnd: Bool { offset == end }

    func peek() -> UInt8? { offset < end ? bytes[offset] : nil }

    /// Steps over a byte if it is this one.
    mutating func take(_ byte: Unicode.Scalar) -> Bool {
        guard peek() == UInt8(ascii: byte) else { return false }
        offset += 1
        return true
    }

    mutating func skipSpace() {
        while offset < end, bytes[offset].isBlank { offset += 1 }
    }

    /// Steps over space.
    /// - Returns: where the first line ended in it; `nil` when there was no line break.
    mutating func skipLine() -> Int? {
        var end: Int?
        while offset < self.end, bytes[offset].isBlank {
            offset += 1
            if end == nil, bytes[offset - 1] == 0x0A { end = offset }
        }
        return end
    }

    /// The value that a text is, with white space around it and nothing else.
    static func onlyValue(of bytes: [UInt8], from start: Int = 0) throws(JSONDamage) -> Range<Int> {
        try bytes.withUnsafeBufferPointer { bytes in
            Result { () throws(JSONDamage) -> Range<Int> in
                var scanner = JSONScanner(bytes, in: start..<bytes.count)
                scanner.skipSpace()
                let value = try scanner.value()
                scanner.skipSpace()
                guard scanner.isAtEnd else { throw scanner.damage("something follows the end of the value") }
                return value
            }
        }.get()
    }

    /// The items of a value that was found to be a whole array.
    static func items(of bytes: [UInt8], at array: Range<Int>) -> [Range<Int>] {
        bytes.withUnsafeBufferPointer { bytes in
            var scanner = JSONScanner(bytes, in: array)
            var items: [Range<Int>] = []
            do throws(JSONDamage) {
                try scanner.array(depth: 0) { items.append($0) }
                return items
            } catch {
                return []
            }
        }
    }

    /// Steps over a value.
    /// - Returns: where it is.
    mutating func value(depth: Int = 0) throws(JSONDamage) -> Range<Int> {
        let start = offset
        switch peek() {
        case UInt8(ascii: "{"):
            try nest(depth)
            _ = try object(depth: depth) { _, _ in }
        case UInt8(ascii: "["):
            try nest(depth)
            try array(depth: depth) { _ in }
        case UInt8(ascii: "\""): _ = try string()
        case UInt8(ascii: "t"): try word("true")
        case UInt8(ascii: "f"): try word("false")
        case UInt8(ascii: "n"): try word("null")
        case let byte? where byte == UInt8(ascii: "-") || byte.isDigit: try number()
        case nil: throw damage("the file ends")
        default: throw damage("no value begins here")
        }
        return start..<offset
    }

    /// Steps over an array, and tells of each element.
    mutating func array(depth: Int, _ element: (Range<Int>) throws(JSONDamage) -> Void) throws(JSONDamage) {
        offset += 1
        skipSpace()
        if take("]") { return }
        while true {
            skipSpace()
            try element(try value(depth: depth + 1))
            skipSpace()
            if take("]") { return }
            try separator()
        }
    }

    /// Steps over an object, and tells of each member: its name without the quotes, and its value.
    mutating func object(depth: Int, _ member: (Range<Int>, Range<Int>) -> Void) throws(JSONDamage) {
        offset += 1
        skipSpace()
        if take("}") { return }
        while true {
            skipSpace()
            guard peek() == UInt8(ascii: "\"") else {
                throw damage(isAtEnd ? "the file ends" : "a name in quotes is missing")
            }
            let name = try string()
            skipSpace()
            guard take(":") else { throw damage(isAtEnd ? "the file ends" : "a colon is missing") }
            skipSpace()
            member(name, try value(depth: depth + 1))
            skipSpace()
            if take("}") { return }
            try separator()
        }
    }

    func damage(_ reason: String) -> JSONDamage { JSONDamage(offset: offset, reason: reason) }

    private func nest(_ depth: Int) throws(JSONDamage) {
        if depth >= Self.deepest { throw damage("values are nested more than \(Self.deepest) deep") }
    }

    private mutating func separator() throws(JSONDamage) {
        guard take(",") else { throw damage(isAtEnd ? "the file ends" : "a comma is missing") }
    }

    /// - Returns: what is between the quotes.
    private mutating func string() throws(JSONDamage) -> Range<Int> {
        offset += 1
        let start = offset
        while offset < end {
            switch bytes[offset] {
            case UInt8(ascii: "\""):
                offset += 1
                return start..<offset - 1
            case UInt8(ascii: "\\"): try escape()
            case 0..<0x20: throw damage("a control character in a text")
            default: offset += 1
            }
        }
        throw damage("the file ends within a text")
    }

    private mutating func escape() throws(JSONDamage) {
        offset += 1
        switch peek() {
        case UInt8(ascii: "u"):
            offset += 1
            for _ in 0..<4 {
                guard let digit = peek(), digit.isHexDigit else { throw damage("an escape is damaged") }
                offset += 1
            }
        case let byte? where "\"\\/bfnrt".utf8.contains(byte): offset += 1
        default: throw damage(isAtEnd ? "the file ends within a text" : "an unknown escape")
        }
    }

    private mutating func word(_ word: StaticString) throws(JSONDamage) {
        for index in 0..<word.utf8CodeUnitCount {
            guard peek() == word.utf8Start[index] else { throw damage(isAtEnd ? "the file ends" : "an unknown word") }
            offset += 1
        }
    }

    private mutating func number() throws(JSONDamage) {
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits()
        }
    }

    private mutating func digits() throws(JSONDamage) {
        let start = offset
        while let byte = peek(), byte.isDigit { offset += 1 }
        if offset == start { throw damage(isAtEnd ? "the file ends" : "a digit is missing") }
    }
}
