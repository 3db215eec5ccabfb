extension Collection<UInt8> {
    /// How many bytes the byte order mark of UTF-8 takes at the beginning of a text: 3, or 0 where there is none.
    /// Editors on Windows write one, and it is no part of the text (RFC 3629, section 6). Only the first one counts.
    package var utf8MarkLength: Int { first == 0xEF && starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0 }
}

/// Bytes as characters of ASCII.
extension UInt8 {
    package var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
    package var isUppercase: Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) }
    package var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }
    package var isAlphanumeric: Bool { isDigit || isLetter }
    package var isHexDigit: Bool { isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self | 0x20) }
    /// White space of JSON and XML.
    package var isBlank: Bool { [0x20, 0x09, 0x0A, 0x0D].contains(self) }
}

extension BinaryInteger {
    /// The digits of a number that is not negative, at least so many: zeros stand in front.
    package func padded(to count: Int, radix: Int = 10) -> String {
        let digits = String(self, radix: radix)
        return String(repeating: "0", count: max(count - digits.utf8.count, 0)) + digits
    }
}
