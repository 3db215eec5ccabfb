/// The text of a JSON file that other apps write, as UTF-8, which is what all ranges are about, and the way back to the
/// file's own bytes.
///
/// A file is UTF-16 that begins with its byte order mark, or of whose first characters, which JSON has in ASCII, every
/// other byte is zero (RFC 4627, section 3); every other one is taken as it is.
package struct JSONFileText: Hashable, Sendable {
    /// How many of a file's first bytes tell how it is written.
    package static let headSize = 4

    private struct UTF16Form: Hashable, Sendable {
        let isBigEndian: Bool
        let hasMark: Bool
    }

    /// UTF-8. A byte order mark of UTF-8 stays in it.
    package let bytes: [UInt8]
    /// What is wrong with UTF-16 that does not come back as it was: such a file is never written anew.
    package let damage: String?
    /// `nil` for UTF-8.
    private let form: UTF16Form?

    /// - Parameter file: the whole file.
    package init(_ file: [UInt8]) {
        guard let form = Self.form(of: file) else {
            (bytes, damage, self.form) = (file, nil, nil)
            return
        }
        let units = stride(from: form.hasMark ? 2 : 0, to: file.count - 1, by: 2).map { index in
            let (first, second) = (UInt16(file[index]), UInt16(file[index + 1]))
            return form.isBigEndian ? first << 8 | second : second << 8 | first
        }
        self.form = form
        bytes = Array(String(decoding: units, as: UTF16.self).utf8)
        let isWhole = Self.utf16(bytes, form) == file
        damage = isWhole ? nil : "is UTF-16 that is cut off or damaged"
    }

    /// Whether a file is UTF-16, by its first ``headSize`` bytes.
    package static func isUTF16(_ start: [UInt8]) -> Bool { form(of: start) != nil }

    /// What is said of such a file where only UTF-8 is read.
    package static let refusal = "it is text in UTF-16; save it as UTF-8"

    /// A changed text as bytes of the file.
    package func encoded(_ text: [UInt8]) -> [UInt8] {
        form.map { Self.utf16(text, $0) } ?? text
    }

    private static func form(of file: [UInt8]) -> UTF16Form? {
        let head = Array(file.prefix(headSize))
        if head.starts(with: [0xFE, 0xFF]) { return UTF16Form(isBigEndian: true, hasMark: true) }
        // With two zeros behind it, it is the mark of UTF-32.
        if head.starts(with: [0xFF, 0xFE]) {
            return head.dropFirst(2).elementsEqual([0, 0]) ? nil : UTF16Form(isBigEndian: false, hasMark: true)
        }
        guard head.count == headSize else { return nil }
        switch head.map({ $0 == 0 }) {
        case [true, false, true, false]: return UTF16Form(isBigEndian: true, hasMark: false)
        case [false, true, false, true]: return UTF16Form(isBigEndian: false, hasMark: false)
        default: return nil
        }
    }

    private static func utf16(_ text: [UInt8], _ form: UTF16Form) -> [UInt8] {
        var file: [UInt8] = !form.hasMark ? [] : form.isBigEndian ? [0xFE, 0xFF] : [0xFF, 0xFE]
        file.reserveCapacity(2 * text.count + 2)
        for unit in String(decoding: text, as: UTF8.self).utf16 {
            let (high, low) = (UInt8(unit >> 8), UInt8(truncatingIfNeeded: unit))
            file += form.isBigEndian ? [high, low] : [low, high]
        }
        return file
    }
}
