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

    /// The last `limit` characters on one line, without what is known and what looks like a key or a token: of a program's
    /// words, the end tells the reason.
    package func text(_ bytes: some Sequence<UInt8>, limit: Int = 400) -> String {
        let words = words(String(decoding: Array(bytes), as: UTF8.self))
        return words.count <= limit ? words.escapingControls : "…" + String(words.suffix(limit)).escapingControls
    }

    /// The first `limit` characters of what a server says, in the same way: nobody knows how much it sends, and what of our
    /// request it repeats.
    static func quote(_ said: String, limit: Int = 200) -> String {
        // Some may become less.
        let start = String(decoding: said.utf8.prefix(16 * limit), as: UTF8.self)
        let words = Redaction(known: []).words(start)
        return words.count <= limit ? words.escapingControls : String(words.prefix(limit)).escapingControls + "…"
    }

    private func words(_ text: String) -> String {
        var text = text
        for secret in known {
            text = text.split(separator: secret, omittingEmptySubsequences: false).joined(separator: "***")
        }
        text = text.split(whereSeparator: \.isWhitespace).map(Self.withoutKeys).joined(separator: " ")
        return Self.withoutNamedSecrets(text)
    }

    /// What stands behind the name of a secret, in a query, in JSON or in words: `X-Amz-Signature=…`, `"token": "…"`.
    private static func withoutNamedSecrets(_ text: String) -> String {
        text.replacing(namedSecret) { match in "\(match.1)***" }
    }

    private nonisolated(unsafe) static let namedSecret =
        #/
        ( (?i: signature|credential|secret|password|token|authorization ) [A-Za-z_\-]* ["']? \s? [=:] \s? ["']?
          (?: (?i: bearer|basic|aws4-hmac-sha256 ) \s )? )
        [^\s"'&,;<>]+
        /#

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
        guard run.count >= secretLength else { return false }
        // A signature is 64 hexadecimal digits. (Digests of that length are told nowhere that we quote.)
        return run.contains(where: \.isUppercase) && run.contains(where: \.isLowercase) || run.allSatisfy(\.isHexDigit)
    }
}
