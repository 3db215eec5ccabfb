import FoundationEssentials

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
        withoutProof(isDialled: isDialled).longestCount >= Self.fewestDigits
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

    private func withoutProof(isDialled: (String) -> Bool) -> Self {
        var text = self
        let words = words
        for (index, word) in words.enumerated() {
            if isUUID(words[index...]) { text.blank(word.lowerBound..<words[index + 4].upperBound) }
            if isWrittenDay(words[index...]) { text.blank(word.lowerBound..<words[index + 2].upperBound) }
            if isRandom(word) || isDayInOnePiece(word) && !isDialled(self.text(word)) { text.blank(word) }
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
