import FoundationEssentials

/// The text of a profile's id as its digits are looked at: decimal digits of all scripts as ASCII, in lower case, without
/// marks for the direction of writing, and with `%2B` as the `+` that it stands for.
struct ProfileText {
    /// Digits without a sign, a letter or another break among them, as they stand between `-`, `/`, blanks and the like.
    struct Group {
        var digits = ""
        /// Whether it is part of a word with letters behind it, or with digits in front of the letters before it: such words
        /// are made by chance.
        var isInWord = false
    }

    /// Stands in place of what is no part of a number.
    private static let blank: Unicode.Scalar = "#"

    private(set) var scalars: [Unicode.Scalar]

    init(_ id: String) {
        scalars = Self.decoded(id).lowercased().unicodeScalars.compactMap { scalar in
            if let digit = Self.digit(scalar) { return digit }
            // Nobody sees them: a number with one in it reads as the number.
            if scalar.properties.generalCategory == .format || scalar.properties.isDefaultIgnorableCodePoint {
                return nil
            }
            return Self.pluses.contains(scalar) ? "+" : scalar
        }
    }

    private static let pluses: Set<Unicode.Scalar> = ["\u{FF0B}", "\u{FE62}", "\u{207A}", "\u{208A}", "\u{2795}"]

    /// The digit that it is read as, in any script, raised or in a circle.
    private static func digit(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
        if scalar.isASCII { return ("0"..."9").contains(scalar) ? scalar : nil }
        guard let value = scalar.properties.numericValue, (0...9).contains(value), value == value.rounded() else {
            return nil
        }
        return Unicode.Scalar(UInt8(0x30 + Int(value)))
    }

    var string: String { text(scalars.indices) }
    var isAllDigits: Bool { !scalars.isEmpty && scalars.allSatisfy(Self.isDigit) }

    /// Whether one of its words says that a telephone number follows, as in `whatsapp:4930…`, or its end does.
    var saysNumber: Bool {
        let words: Set<String> = [
            "tel", "phone", "telephone", "telefon", "mobile", "msisdn", "whatsapp", "wa", "sms", "smsto", "callto",
        ]
        // Addresses in WhatsApp; those of groups begin with the number of who made them.
        let isAddress = ["@c.us", "@g.us"].contains { string.hasSuffix($0) }
        return isAddress || string.split { !$0.isLetter }.contains { words.contains(String($0)) }
    }

    // MARK: Digits

    /// What follows each `+`.
    var afterPlus: [[Group]] {
        scalars.indices.filter { scalars[$0] == "+" }.map { groups(from: $0 + 1).groups }
    }

    /// All digits, in runs that a letter or another break ends.
    var runs: [[Group]] {
        var runs: [[Group]] = []
        var start = scalars.startIndex
        while start < scalars.endIndex {
            let (groups, end) = groups(from: start)
            if !groups.isEmpty { runs.append(groups) }
            start = end + 1
        }
        return runs
    }

    private func groups(from start: Int) -> (groups: [Group], end: Int) {
        var groups: [Group] = []
        var index = start
        while index < scalars.endIndex, !isBreak(scalars[index]) {
            guard Self.isDigit(scalars[index]) else {
                index += 1
                continue
            }
            let end = scalars[index...].firstIndex { !Self.isDigit($0) } ?? scalars.endIndex
            groups.append(Group(digits: text(index..<end), isInWord: isInWord(index..<end)))
            index = end
        }
        return (groups, index)
    }

    private func isBreak(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || "+@,;:|&=\n\r#".unicodeScalars.contains(scalar)
    }

    private func isInWord(_ range: Range<Int>) -> Bool {
        if range.upperBound < scalars.endIndex, scalars[range.upperBound].properties.isAlphabetic { return true }
        let before = scalars[..<range.lowerBound].reversed().drop { $0.properties.isAlphabetic }
        let letters = range.lowerBound - before.count
        return letters > 0 && before.first.map(Self.isDigit) ?? false
    }

    func text(_ range: Range<Int>) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars[range])
        return String(text)
    }

    // MARK: Chance

    /// Without what holds digits for another reason than that somebody could dial them: UUIDs, digests and ids of
    /// databases (hexadecimal digits), days, and moments of this century. One in some hundred of them would be somebody's
    /// number by chance, and the events of their profiles would wait for a person who does not exist.
    var withoutChance: Self { without { isDigest($0) || isDay($0) } }

    /// Without UUIDs, days that are written with signs, and some other words.
    private func without(_ isNoNumber: (Range<Int>) -> Bool) -> Self {
        var text = self
        let words = words
        for (index, word) in words.enumerated() {
            if isUUID(words[index...]) { text.blank(word.lowerBound..<words[index + 4].upperBound) }
            if isWrittenDay(words[index...]) { text.blank(word.lowerBound..<words[index + 2].upperBound) }
            if isNoNumber(word) { text.blank(word) }
        }
        return text
    }

    mutating func blank(_ range: Range<Int>) {
        for index in range { scalars[index] = Self.blank }
    }

    /// Runs of letters and digits.
    var words: [Range<Int>] {
        scalars.indices.split { !scalars[$0].properties.isAlphabetic && !Self.isDigit(scalars[$0]) }
            .map { $0.startIndex..<$0.endIndex }
    }

    func isHex(_ word: Range<Int>) -> Bool {
        scalars[word].allSatisfy { $0.isASCII && $0.properties.isASCIIHexDigit }
    }

    func isUUID(_ words: ArraySlice<Range<Int>>) -> Bool {
        let parts = words.prefix(5)
        return parts.map(\.count) == [8, 4, 4, 4, 12] && parts.allSatisfy(isHex) && areJoined(parts, by: "-")
    }

    private func isDigest(_ word: Range<Int>) -> Bool {
        Self.hexLengths.contains(word.count) && isHex(word) && !scalars[word].allSatisfy(Self.isDigit)
    }

    /// `20260615`, `15062026`, also with the time behind it; or seconds and milliseconds since 1970, from 2014 to 2033.
    func isDay(_ word: Range<Int>) -> Bool {
        guard scalars[word].allSatisfy(Self.isDigit) else { return false }
        let digits = text(word)
        func number(_ from: Int, _ count: Int) -> Int { Int(digits.dropFirst(from).prefix(count)) ?? 0 }
        switch digits.count {
        case 8, 12, 14, 17:
            let isYearFirst = Self.isDay(year: number(0, 4), number(4, 2), number(6, 2))
            return isYearFirst || digits.count == 8 && Self.isDay(year: number(4, 4), number(0, 2), number(2, 2))
        // Alone, they are some country's number.
        case 10, 13: return !isAllDigits && (14...19).contains(number(0, 2))
        default: return false
        }
    }

    /// `2026-06-15`, `15.6.2026`.
    func isWrittenDay(_ words: ArraySlice<Range<Int>>) -> Bool {
        let parts = words.prefix(3)
        guard parts.count == 3, parts.allSatisfy({ $0.count <= 4 && scalars[$0].allSatisfy(Self.isDigit) }),
            ["-", ".", "/", "_"].contains(where: { areJoined(parts, by: $0) })
        else { return false }
        let (numbers, lengths) = (parts.map { Int(text($0)) ?? 0 }, parts.map(\.count))
        if lengths[0] == 4, lengths[1] <= 2, lengths[2] <= 2 {
            return Self.isDay(year: numbers[0], numbers[1], numbers[2])
        }
        return lengths[2] == 4 && lengths[0] <= 2 && lengths[1] <= 2
            && Self.isDay(year: numbers[2], numbers[0], numbers[1])
    }

    private func areJoined(_ parts: ArraySlice<Range<Int>>, by sign: Unicode.Scalar) -> Bool {
        zip(parts, parts.dropFirst()).allSatisfy { left, right in
            right.lowerBound == left.upperBound + 1 && scalars[left.upperBound] == sign
        }
    }

    /// In either order of month and day.
    private static func isDay(year: Int, _ first: Int, _ second: Int) -> Bool {
        let (month, day) = (min(first, second), max(first, second))
        return (1900...2099).contains(year) && (1...12).contains(month) && (1...31).contains(day)
    }

    static func isDigit(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .decimalNumber
    }

    /// Percent-encoding undone, as often as it was done: what was encoded twice comes out of two addresses.
    private static func decoded(_ text: String) -> String {
        var text = text
        for _ in 0..<4 where text.contains("%") { text = decodedOnce(text) }
        return text
    }

    private static func decodedOnce(_ text: String) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            if byte == UInt8(ascii: "%"), digits.utf8.count == 2, digits.allSatisfy(\.isHexDigit),
                let value = UInt8(digits, radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Which digits are provably no telephone number, and whether the others may be one.
///
/// The other way round, by the shapes that numbers have, somebody always writes one that is not in the list; and what has
/// got into a key cannot be taken back from whoever has read it.
extension ProfileText {
    /// The shortest numbers that can be dialled from everywhere, and those that are dialled within most towns.
    static let fewestDigits = 7

    /// How many hexadecimal digits ids have that are made by chance: half digests, ids of Mongo, MD5, SHA-1, SHA-256.
    private static let hexLengths: Set<Int> = [16, 24, 32, 40, 64]
    private static let milliseconds = 13
    private static let seconds = 10

    /// - Parameter isDialled: whether digits, as they stand, are somebody's number.
    func mayHoldNumber(isDialled: (String) -> Bool) -> Bool {
        let rest = without { isRandom($0) || isDayInOnePiece($0) && !isDialled(text($0)) }
        return rest.longestCount >= Self.fewestDigits
    }

    /// Without what is made of a moment within a span: seconds or milliseconds since 1970.
    func withoutMoments(in times: ClosedRange<Date>) -> Self {
        var text = self
        for word in words where scalars[word].allSatisfy(Self.isDigit) {
            guard [Self.seconds, Self.milliseconds].contains(word.count), let count = Double(self.text(word)) else {
                continue
            }
            let date = Date(timeIntervalSince1970: word.count == Self.seconds ? count : count / 1_000)
            if times.contains(date) { text.blank(word) }
        }
        return text
    }

    /// Whether hexadecimal digits are in turns decimal and others, as chance puts them. Ids of more letters (Firestore, ULID,
    /// Firebase) have so few digits in one piece that they need no proof.
    private func isRandom(_ word: Range<Int>) -> Bool {
        let scalars = scalars[word]
        guard Self.hexLengths.contains(word.count), isHex(word) else { return false }
        let pieces = scalars.split { !Self.isDigit($0) }
        let turns = zip(scalars, scalars.dropFirst()).count { Self.isDigit($0) != Self.isDigit($1) }
        // Five in eight are decimal ones; ten in one piece are a number with its area code.
        return turns >= word.count / 4 && pieces.allSatisfy { $0.count < 10 }
    }

    private func isDayInOnePiece(_ word: Range<Int>) -> Bool { [8, 12, 14, 17].contains(word.count) && isDay(word) }

    /// How many digits belong together at most. What stands between two of them may be any signs, and one `x`, as in front
    /// of extensions; zeros that fill up a count, three or more, are not dialled.
    private var longestCount: Int {
        var (longest, letters) = (0, 0)
        var run: [Unicode.Scalar] = []
        func count() -> Int {
            let zeros = run.prefix { $0 == "0" }.count
            return run.count - (zeros > 2 ? zeros : 0)
        }
        for scalar in scalars {
            if Self.isDigit(scalar) {
                if letters > 1 {
                    longest = max(longest, count())
                    run = []
                }
                run.append(scalar)
                letters = 0
            } else if Self.isLetter(scalar) {
                letters += scalar == "x" ? 1 : 2
            }
        }
        return max(longest, count())
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: true
        default: false
        }
    }
}
