/// Finds image data in JSON, in whatever form somebody may have put it there: base64, a data URL, hexadecimal digits, the
/// bytes themselves in a text, or as numbers.
///
/// Encoded data of any kind counts, wherever in a text it begins: which formats there are is nobody's to know. It errs on
/// the side of finding: what it finds outside of a photo's field is never deleted.
package struct ImageTrace {
    /// Characters of base64 in a row that are no words any more, and those of them without a break.
    private static let (longRun, longWord) = (256, 40)

    /// Characters of the shortest text that is looked at.
    private static let shortest = 24
    /// Bytes that tell what a file is, with those of a BMP's header.
    private static let header = 18
    /// Characters of a text from which its first bytes are read.
    private static let start = 512

    /// As ``isIn(_:_:except:)``, of what is no JSON any more: a quote may be missing, so that texts begin where others end, and
    /// what begins as a picture may be cut off at once.
    static func isIn(damaged bytes: [UInt8], _ rest: Range<Int>) -> Bool {
        holdsDataURL(bytes[rest]) || holdsEncodedData(bytes[rest]) || holdsBeginning(bytes[rest])
            || isIn(bytes, rest, except: nil)
    }

    /// - Parameters:
    ///   - element: of whole JSON, or cut off.
    ///   - photo: what is left aside, within the quotes of one text.
    static func isIn(_ bytes: [UInt8], _ element: Range<Int>, except photo: Range<Int>?) -> Bool {
        var index = element.lowerBound
        var numbers: [UInt8] = []
        while index < element.upperBound {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\"") {
                let end = endOfText(bytes, from: index + 1, to: element.upperBound)
                let text = index + 1..<end
                if let photo, text.lowerBound <= photo.lowerBound, photo.upperBound <= text.upperBound {
                    numbers = []
                } else if isImage(bytes[text]) {
                    return true
                }
                index = end + 1
            } else if byte == UInt8(ascii: "-") || byte.isDigit {
                let end = bytes[index..<element.upperBound].firstIndex { !isOfNumber($0) } ?? element.upperBound
                if let value = number(bytes[index..<end]) { numbers.append(value) } else { numbers = [] }
                if numbers.count == header, isImage(first: numbers[...]) { return true }
                index = end
            } else {
                // Numbers stand in a row, with or without names.
                if byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{") { numbers = [] }
                index += 1
            }
        }
        return false
    }

    // MARK: Texts

    private static func isImage(_ text: ArraySlice<UInt8>) -> Bool {
        guard text.count >= shortest else { return false }
        if holdsDataURL(text) || holdsEncodedData(text) || SpacedData.isIn(text) { return true }
        let trimmed = text.drop { $0 <= 0x20 }.prefix(start)
        let joined = SpacedData.joined(trimmed)
        return isImage(first: Base64Text(joined).leading[...]) || isImage(first: hexadecimal(joined)[...])
            || isImage(first: trimmed) || isImage(first: latin(trimmed)[...])
    }

    /// Whether a part of the text is base64, of either alphabet. Escapes are taken along: an object that was written into a
    /// text has a backslash before each slash of what is in it.
    private static func holdsEncodedData(_ text: ArraySlice<UInt8>) -> Bool {
        var (run, word, longest) = (0, 0, 0)
        for byte in text {
            if byte == UInt8(ascii: "\\") {
                (run, word) = (run + 1, 0)
            } else if isOfBase64[Int(byte)] {
                (run, word) = (run + 1, word + 1)
                longest = max(longest, word)
            } else {
                (run, word, longest) = (0, 0, 0)
            }
            if run >= longRun, longest >= longWord { return true }
        }
        return false
    }

    /// Base64 of what pictures begin with, but for BMP's, which are two characters. `.` is any character.
    private static let beginnings = [
        "/9j/", "\\/9j\\/", "_9j_", "iVBORw0K", "R0lGOD", "UklGR", "SUkqA", "TU0AK", "AAAA..Z0eX",
    ].map { Array($0.utf8) }

    /// Whether a run of base64 begins as a picture does.
    private static func holdsBeginning(_ text: ArraySlice<UInt8>) -> Bool {
        text.indices.contains { index in
            if index > text.startIndex, text[index - 1] != UInt8(ascii: "="),
                isOfBase64[Int(text[index - 1])] || text[index - 1] == UInt8(ascii: "\\")
            {
                return false
            }
            return beginnings.contains { beginning in
                text.endIndex - index >= beginning.count
                    && zip(text[index...], beginning).allSatisfy { $0 == $1 || $1 == UInt8(ascii: ".") }
            }
        }
    }

    private static let isOfBase64: [Bool] = (0...255).map { byte in
        UInt8(byte).isAlphanumeric || "+/-_=".utf8.contains(UInt8(byte))
    }

    private static func holdsDataURL(_ text: ArraySlice<UInt8>) -> Bool {
        let wanted = "data:image".utf8.map { $0 | 0x20 }
        var rest = text
        while let colon = rest.firstIndex(of: UInt8(ascii: ":")) {
            if colon - text.startIndex >= 4, text.endIndex - colon >= 6,
                zip(text[colon - 4..<colon + 6], wanted).allSatisfy({ $0 | 0x20 == $1 })
            {
                return true
            }
            rest = rest[(colon + 1)...]
        }
        return false
    }

    private static func hexadecimal(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = text.prefix(2 * header)
        while rest.count >= 2, let byte = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) {
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return bytes
    }

    /// A text whose characters are bytes, as a "binary string" has them.
    private static func latin(_ text: ArraySlice<UInt8>) -> [UInt8] {
        guard let string = JSONObject.text(Array(text.prefix(12 * header)), isCutOff: true) else { return [] }
        return string.unicodeScalars.prefix(2 * header).map { UInt8(truncatingIfNeeded: $0.value) }
    }

    private static func endOfText(_ bytes: [UInt8], from start: Int, to end: Int) -> Int {
        var index = start
        while index < end, bytes[index] != UInt8(ascii: "\"") {
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(index, end)
    }

    // MARK: Numbers

    private static func isOfNumber(_ byte: UInt8) -> Bool {
        byte.isDigit || "+-.eE".utf8.contains(byte)
    }

    /// A byte, with or without a sign.
    private static func number(_ text: ArraySlice<UInt8>) -> UInt8? {
        guard let value = Int(String(decoding: text, as: UTF8.self)), (-128...255).contains(value) else { return nil }
        return UInt8(truncatingIfNeeded: value)
    }

    // MARK: First bytes

    private static func isImage(first bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.count >= header else { return false }
        let first = Array(bytes.prefix(header))
        // Packed, whatever is in it: gzip, ZIP, bzip2, xz, Zstandard.
        let packers: [[UInt8]] = [
            [0x1F, 0x8B, 8], [0x50, 0x4B, 3, 4], Array("BZh".utf8), [0xFD, 0x37, 0x7A, 0x58, 0x5A],
            [0x28, 0xB5, 0x2F, 0xFD],
        ]
        return isPicture(first) || packers.contains { first.starts(with: $0) }
    }

    /// Whether bytes begin as a picture or a film does.
    package static func isPicture(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= header else { return false }
        let first = Array(bytes.prefix(header))
        func has(_ text: StaticString, at offset: Int) -> Bool {
            text.withUTF8Buffer { first[offset...].starts(with: $0) }
        }
        return first.starts(with: [0xFF, 0xD8, 0xFF]) || first.starts(with: [0x89, 0x50, 0x4E, 0x47])
            || has("GIF8", at: 0)
            || has("RIFF", at: 0) && has("WEBP", at: 8) || has("ftyp", at: 4)
            || first.starts(with: [0x49, 0x49, 0x2A, 0]) || first.starts(with: [0x4D, 0x4D, 0, 0x2A])
            || has("BM", at: 0) && first[6..<10].allSatisfy { $0 == 0 } && first[15..<18].allSatisfy { $0 == 0 }
    }
}

/// Finds base64, hexadecimal digits and numbers that are written in groups, with blanks or signs between them. Words are
/// in groups too: theirs differ in length, begin with their only capital, and have no digits among their letters.
enum SpacedData {
    /// Characters of even groups that are no chance any more, those of uneven ones (a list of ids has some), and numbers up
    /// to 255 in a row.
    private static let (longEven, longUneven, manyNumbers) = (256, 512, 128)

    /// - Parameter text: as it is escaped, within its quotes.
    static func isIn(_ text: ArraySlice<UInt8>) -> Bool {
        var finder = Finder()
        var index = text.startIndex
        while index < text.endIndex, !finder.isFound {
            let (meaning, next) = meaning(of: text, at: index)
            switch meaning {
            case .data(let byte): finder.take(byte)
            case .gap: finder.endGroup()
            case .other: finder.endRun()
            }
            index = next
        }
        finder.endRun()
        return finder.isFound
    }

    /// The text without what may stand between groups, and without the `0x` and `\x` before numbers.
    static func joined(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var result: [UInt8] = []
        var index = text.startIndex
        while index < text.endIndex {
            let (meaning, next) = meaning(of: text, at: index)
            switch meaning {
            case .data(let byte):
                if byte == UInt8(ascii: "x"), result.last == UInt8(ascii: "0") {
                    result.removeLast()
                } else {
                    result.append(byte)
                }
            case .gap: break
            case .other: result.append(contentsOf: text[index..<next])
            }
            index = next
        }
        return result[...]
    }

    private enum Meaning {
        /// A digit of base64 of either alphabet, and so of hexadecimal and decimal numbers.
        case data(UInt8)
        case gap
        case other
    }

    private static func meaning(of text: ArraySlice<UInt8>, at index: Int) -> (Meaning, next: Int) {
        let byte = text[index]
        guard byte == UInt8(ascii: "\\") else { return (meanings[Int(byte)], index + 1) }
        guard index + 1 < text.endIndex else { return (.other, index + 1) }
        switch text[index + 1] {
        case UInt8(ascii: "/"): return (.data(UInt8(ascii: "/")), index + 2)
        // A backslash that is written out stands before the x of a number.
        case UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"), UInt8(ascii: "f"): return (.gap, index + 2)
        case UInt8(ascii: "\\") where index + 2 < text.endIndex && text[index + 2] | 0x20 == UInt8(ascii: "x"):
            return (.gap, index + 3)
        default: return (.other, min(index + 2, text.endIndex))
        }
    }

    private static let meanings: [Meaning] = (0...255).map { value in
        let byte = UInt8(value)
        if byte.isAlphanumeric || "+/_=".utf8.contains(byte) { return .data(byte) }
        return byte <= 0x20 || ",:;-[]|".utf8.contains(byte) ? .gap : .other
    }

    /// One pass over the groups of a text.
    private struct Finder {
        private(set) var isFound = false
        private var group = Group()
        /// Characters of groups that are all as long as this.
        private var (length, ofLength) = (0, 0)
        /// Characters of groups that are no words, less those that are.
        private var noWords = 0
        private var numbers = 0

        mutating func take(_ byte: UInt8) { group.take(byte) }

        mutating func endGroup() {
            guard group.count > 0 else { return }
            if group.count == length, length > 1 {
                ofLength += length
            } else {
                (length, ofLength) = (group.count, group.count)
            }
            noWords = max(0, noWords + (group.isNoWord ? group.count : -group.count))
            numbers = group.isNumber ? numbers + 1 : 0
            let isEven = ofLength >= longEven && ofLength > 2 * length
            isFound = isFound || isEven || noWords >= longUneven || numbers >= manyNumbers
            group = Group()
        }

        mutating func endRun() {
            endGroup()
            (length, ofLength, noWords, numbers) = (0, 0, 0, 0)
        }
    }

    private struct Group {
        private(set) var count = 0
        private var last: UInt8 = 0
        private var value = 0
        private var isDecimal = true
        private(set) var isNoWord = false

        var isNumber: Bool { isDecimal && count <= 3 && value <= 255 }

        mutating func take(_ byte: UInt8) {
            if count > 0 {
                isNoWord = isNoWord || byte.isLetter && last.isDigit || byte.isDigit && last.isLetter
                isNoWord = isNoWord || byte.isUppercase && last.isLetter && !last.isUppercase
            }
            isDecimal = isDecimal && byte.isDigit
            if isDecimal, count < 3 { value = value * 10 + Int(byte - UInt8(ascii: "0")) }
            last = byte
            count += 1
        }
    }
}
