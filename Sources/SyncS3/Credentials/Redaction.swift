import SyncCore

/// Takes secrets out of words that others wrote, before they become part of an error.
package struct Redaction: Sendable {
    /// Characters: an AWS secret key has 40, tokens have hundreds, access key ids have 20.
    private static let secretLength = 40

    private let known: [String]

    /// - Parameter known: secrets that are taken out whatever they look like.
    package init(known: [String]) {
        self.known = known.filter { !$0.isEmpty }.sorted { $0.count > $1.count }
    }

    /// The last `limit` characters on one line, without what is known and what looks like a key or a token.
    package func text(_ bytes: some Sequence<UInt8>, limit: Int = 400) -> String {
        var text = String(decoding: Array(bytes), as: UTF8.self)
        for secret in known {
            text = text.split(separator: secret, omittingEmptySubsequences: false).joined(separator: "***")
        }
        let words = text.split(whereSeparator: \.isWhitespace).map(Self.withoutKeys).joined(separator: " ")
        return words.count <= limit ? words.escapingControls : "…" + String(words.suffix(limit)).escapingControls
    }

    private static func withoutKeys(_ word: Substring) -> String {
        var clean = ""
        var run = ""
        for character in word {
            if isKeyCharacter(character) {
                run.append(character)
            } else {
                clean += isSecret(run) ? "***" : run
                clean.append(character)
                run = ""
            }
        }
        return clean + (isSecret(run) ? "***" : run)
    }

    /// Base64, and its form for URLs.
    private static func isKeyCharacter(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || "+/=_-".contains(character))
    }

    private static func isSecret(_ run: String) -> Bool {
        run.count >= secretLength && run.contains(where: \.isUppercase) && run.contains(where: \.isLowercase)
    }
}
