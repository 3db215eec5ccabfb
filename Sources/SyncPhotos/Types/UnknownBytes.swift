/// The first bytes of a file that is no photo or video, in words for people.
struct UnknownBytes: CustomStringConvertible {
    private let head: [UInt8]

    init(_ head: [UInt8]) {
        self.head = head
    }

    var looksLikeJSON: Bool {
        // Behind the mark of UTF-8, or that of UTF-16, in which every other byte is zero.
        let text = head.drop { [0xEF, 0xBB, 0xBF, 0xFE, 0xFF, 0, 0x20, 0x09, 0x0A, 0x0D].contains($0) }
        return text.first == UInt8(ascii: "{") || text.first == UInt8(ascii: "[")
    }

    var description: String {
        if head.isEmpty { return "empty" }
        if head.allSatisfy({ $0 == 0 }) { return "all zeros" }
        if let known = Self.magics.first(where: { head.has($0.text) }) { return known.name }
        if looksLikeText { return "text" }
        return "unknown (it begins with \(head.prefix(8).map(hexadecimal).joined(separator: " ")))"
    }

    private static let magics = [
        (text: "%PDF-", name: "a PDF document"),
        (text: "PK\u{3}\u{4}", name: "a ZIP archive"),
        (text: "<!DOCTYPE html", name: "an HTML page"),
        (text: "<!doctype html", name: "an HTML page"),
        (text: "<html", name: "an HTML page"),
        (text: "<?xml", name: "an XML document"),
        (text: "<svg", name: "an SVG drawing"),
        (text: "\u{7F}ELF", name: "a program"),
        (text: "SQLite format 3", name: "a database"),
    ]

    private var looksLikeText: Bool {
        // A character may be cut at the end of the bytes that were looked at.
        let text = String(decoding: head.prefix(max(0, head.count - 3)), as: UTF8.self)
        return !head.contains(0) && !text.isEmpty && !text.unicodeScalars.contains("\u{FFFD}")
    }

    private func hexadecimal(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
}
