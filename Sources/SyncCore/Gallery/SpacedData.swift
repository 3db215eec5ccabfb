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
