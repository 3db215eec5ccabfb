/// Base64 (RFC 4648) as it stands in a JSON text: of the usual or the URL-safe alphabet, with or without padding, broken
/// into lines or not, `/` and line breaks escaped or not.
package struct Base64Text: Sendable {
    private let text: ArraySlice<UInt8>

    /// - Parameter text: what is between the quotes in the file.
    package init(_ text: ArraySlice<UInt8>) {
        self.text = text
    }

    /// Whether it is base64 of at least one byte.
    package var isValid: Bool {
        var count = 0
        return decode { _ in count += 1 } && count > 0
    }

    /// The bytes; `nil` when it is no base64.
    package func decoded() -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3 + 3)
        return decode { bytes.append($0) } ? bytes : nil
    }

    /// The bytes up to where it stops being base64.
    var leading: [UInt8] {
        var bytes: [UInt8] = []
        _ = decode { bytes.append($0) }
        return bytes
    }

    /// - Returns: whether all of it was base64.
    private func decode(_ emit: (UInt8) -> Void) -> Bool {
        text.withUnsafeBufferPointer { text in
            var (bits, digits, padding) = (UInt32(0), 0, 0)
            var index = 0
            while index < text.count {
                guard let byte = Self.character(in: text, at: &index) else { return false }
                switch Self.meaning[Int(byte)] {
                case Self.lineBreak: break
                case Self.pad:
                    padding += 1
                case let digit where digit < 64 && padding == 0:
                    bits = bits << 6 | UInt32(digit)
                    digits += 1
                    if digits.isMultiple(of: 4) {
                        emit(UInt8(truncatingIfNeeded: bits >> 16))
                        emit(UInt8(truncatingIfNeeded: bits >> 8))
                        emit(UInt8(truncatingIfNeeded: bits))
                    }
                default: return false
                }
            }
            switch digits % 4 {
            case 2: emit(UInt8(truncatingIfNeeded: bits >> 4))
            case 3:
                emit(UInt8(truncatingIfNeeded: bits >> 10))
                emit(UInt8(truncatingIfNeeded: bits >> 2))
            case 1: return false
            default: return padding == 0
            }
            return padding == 0 || padding == 4 - digits % 4
        }
    }

    /// The next character, its escape undone; `nil` for one beyond ASCII and an escape that base64 has no use for.
    private static func character(in text: UnsafeBufferPointer<UInt8>, at index: inout Int) -> UInt8? {
        let byte = text[index]
        index += 1
        guard byte == UInt8(ascii: "\\") else { return byte }
        guard index < text.count else { return nil }
        let escape = text[index]
        index += 1
        switch escape {
        case UInt8(ascii: "/"): return escape
        case UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"): return UInt8(ascii: "\n")
        case UInt8(ascii: "u"):
            guard index + 4 <= text.count else { return nil }
            let digits = String(decoding: text[index..<index + 4], as: UTF8.self)
            index += 4
            return UInt16(digits, radix: 16).flatMap { UInt8(exactly: $0) }
        default: return nil
        }
    }

    // A space is no line break: words would pass for base64.
    private static let (lineBreak, pad, other) = (UInt8(64), UInt8(65), UInt8(66))
    /// What each byte means: a digit of 6 bits, or one of the three above.
    private static let meaning: [UInt8] = {
        var meaning = [UInt8](repeating: other, count: 256)
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        for (digit, byte) in alphabet.utf8.enumerated() { meaning[Int(byte)] = UInt8(digit) }
        meaning[Int(UInt8(ascii: "-"))] = 62
        meaning[Int(UInt8(ascii: "_"))] = 63
        for byte in "\n\r\t".utf8 { meaning[Int(byte)] = lineBreak }
        meaning[Int(UInt8(ascii: "="))] = pad
        return meaning
    }()
}
