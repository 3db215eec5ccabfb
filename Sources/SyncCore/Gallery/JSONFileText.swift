/// The text of a JSON file that other apps write, as UTF-8, which is what all ranges are about, and the way back to the
/// file's own bytes.
///
/// A file is UTF-16 that begins with its byte order mark, or of whose first characters, which JSON has in ASCII, every
/// other byte is zero (RFC 4627, section 3); every other one is taken as it is.
package struct JSONFileText: Hashable, Sendable {
    /// How many of a file's first bytes tell how it is written.
    package static let headSize = 4

    fileprivate struct UTF16Form: Hashable, Sendable {
        let isBigEndian: Bool
        let hasMark: Bool

        var start: Int { hasMark ? 2 : 0 }

        func unit(_ first: UInt8, _ second: UInt8) -> UInt16 {
            isBigEndian ? UInt16(first) << 8 | UInt16(second) : UInt16(second) << 8 | UInt16(first)
        }

        /// - Parameter file: of the file, without its mark.
        func text(_ file: ArraySlice<UInt8>) -> [UInt8] {
            let units = stride(from: file.startIndex, to: file.endIndex - 1, by: 2).map { index in
                unit(file[index], file[index + 1])
            }
            return Array(String(decoding: units, as: UTF16.self).utf8)
        }
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
        self.form = form
        bytes = form.text(file.dropFirst(form.start))
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

    fileprivate static func form(of file: [UInt8]) -> UTF16Form? {
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

/// Where the text of a file in UTF-16 stands in it, so that a piece is read without all that is before it.
package struct JSONFilePlaces: Sendable {
    private let form: JSONFileText.UTF16Form
    /// Offsets of some characters in the text, and in the file, ascending; the first begins it, the last is its end.
    private let marks: [(text: Int, file: Int)]

    /// - Parameters:
    ///   - file: the whole file.
    ///   - step: bytes of text, at least, from one mark to the next.
    /// - Returns: `nil` for a file in UTF-8, which is its text.
    package init?(_ file: [UInt8], step: Int = 64 << 10) {
        guard let form = JSONFileText.form(of: file) else { return nil }
        var (text, index) = (0, form.start)
        var marks = [(text: text, file: index)]
        var next = step
        while index + 1 < file.count {
            if text >= next {
                marks.append((text, index))
                next = text + step
            }
            switch form.unit(file[index], file[index + 1]) {
            case 0..<0x80: text += 1
            case 0x80..<0x800: text += 2
            case 0xD800..<0xDC00
            where index + 3 < file.count && 0xDC00..<0xE000 ~= form.unit(file[index + 2], file[index + 3]):
                // Two units are one character; between them is no mark.
                text += 4
                index += 2
            default: text += 3
            }
            index += 2
        }
        marks.append((text, index))
        self.form = form
        self.marks = marks
    }

    /// - Returns: which bytes of the file hold a range of the text, and where in the text they begin; `nil` where it ends
    ///   before.
    package func piece(of range: Range<Int>) -> (file: Range<Int>, start: Int)? {
        guard let end = marks.first(where: { $0.text >= range.upperBound }),
            let start = marks.last(where: { $0.text <= range.lowerBound })
        else { return nil }
        return (start.file..<max(end.file, start.file), start.text)
    }

    /// The text of such bytes.
    package func text(_ bytes: [UInt8]) -> [UInt8] { form.text(bytes[...]) }
}
