import Mustache

/// Escapes by Unicode scalars for text and quoted attributes.
///
/// Mustache's own does it by characters: a quote that is followed by a combining mark is one character with it, is not
/// found, and still ends the attribute in every browser.
struct PageEscaping: MustacheContentType {
    func escapeText(_ text: String) -> String {
        // Pictures inside the page are long and need nothing.
        guard text.utf8.contains(where: { Self.replacement(of: $0) != nil }) else { return text }
        var escaped: [UInt8] = []
        escaped.reserveCapacity(text.utf8.count + 64)
        // UTF-8 has none of these bytes inside a longer sequence.
        for byte in text.utf8 {
            if let replacement = Self.replacement(of: byte) {
                escaped += replacement.utf8
            } else {
                escaped.append(byte)
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }

    private static func replacement(of byte: UInt8) -> String? {
        switch byte {
        case UInt8(ascii: "<"): "&lt;"
        case UInt8(ascii: ">"): "&gt;"
        case UInt8(ascii: "&"): "&amp;"
        case UInt8(ascii: "\""): "&quot;"
        case UInt8(ascii: "'"): "&#39;"
        case UInt8(ascii: "`"): "&#96;"
        // HTML allows none of the other controls (WHATWG HTML, 13.2.3.5).
        case 0...8, 11...12, 14...31, 127: "\u{FFFD}"
        default: nil
        }
    }
}
