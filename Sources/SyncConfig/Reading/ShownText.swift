import SyncCore

/// What of a configuration may be repeated in an error. The file holds secrets in some places, and by mistake in any:
/// what is shown is what cannot be one, and the rest is not, whatever it is.
enum ShownText {
    static let hidden = "a value that is not shown here"
    static let hiddenName = "a name that is not shown here"

    /// - Returns: `nil` for what may be, or hold, a password, a key or a token.
    static func value(_ text: String) -> String? {
        guard !names(aSecret: text), text.split(whereSeparator: \.isWhitespace).count < 3, isHarmless(text) else {
            return nil
        }
        return (text.count > 60 ? "\(text.prefix(59))…" : text).escapingControls
    }

    /// What stands where a section or a list of them should: nothing was asked for there, so that only what is surely no
    /// secret is told, a number, a yes or no, a path.
    static func value(insteadOfSection text: String) -> String? {
        let isNumber = text.utf8.count <= 4 && text.allSatisfy { $0.isASCIIDigit || $0 == "." }
        let isAnswer = ["true", "false", "yes", "no", "on", "off"].contains(text.lowercased())
        return isNumber || isAnswer || isPath(text[...]) ? value(text) : nil
    }

    /// The name of a key, or the path of one. Such a name may tell of a secret, as `secret_access_key` does.
    static func name(_ text: String) -> String? {
        let isOneWord = !text.contains { $0.isWhitespace || $0 == "=" || $0 == ":" }
        // Keys of ours join words by `_`; four words joined by `-` are a passphrase.
        let isPhrase = text.split(separator: ".").contains { part in
            part.split(separator: "-").count { $0.allSatisfy(\.isLetter) } > 3
        }
        guard isOneWord || !names(aSecret: text), !isPhrase, isHarmless(text) else { return nil }
        return (text.count > 120 ? "\(text.prefix(119))…" : text).escapingControls
    }

    private static func names(aSecret text: String) -> Bool {
        let text = text.lowercased()
        return [
            "secret", "token", "passw", "passphrase", "pass ", "pass:", "pass=", "pwd", "credential", "signature",
            "authorization", "bearer", "api_key", "apikey",
            "access_key", "accesskey",
        ].contains { text.contains($0) }
    }

    private static func isHarmless(_ text: String) -> Bool {
        // Names and passwords of addresses; and `%40`, where somebody has escaped the sign.
        if text.contains("@") || text.lowercased().contains("%40") { return false }
        return text.split(whereSeparator: \.isWhitespace).allSatisfy { word in
            isPlainAddress(word) && !isKey(word)
        }
    }

    /// Whether a colon in it only parts hours from minutes, or an address from its port, and no query follows.
    private static func isPlainAddress(_ word: Substring) -> Bool {
        let parts = word.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        let hasScheme = parts.count == 2
        if hasScheme, word.contains(where: { "?#&=".contains($0) }) { return false }
        let authority = (parts.last ?? word).prefix { $0 != "/" }
        let colons = authority.split(separator: ":", omittingEmptySubsequences: false)
        guard colons.count == 2 else { return colons.count == 1 }
        let (host, port) = (colons[0], colons[1])
        guard port.allSatisfy(\.isASCIIDigit), port.count <= 5 else { return false }
        // `ana:1234` is no host with a port, and may be what somebody signs in with.
        return hasScheme || host.allSatisfy(\.isASCIIDigit) || host.contains(".") || host == "localhost"
    }

    private static func isPath(_ word: Substring) -> Bool {
        ["/", "~/", "./", "../"].contains { word.hasPrefix($0) }
    }

    /// Whether a piece of it looks as passwords, keys and tokens do: of letters and digits, and no words. In paths that is
    /// what files are called.
    private static func isKey(_ word: Substring) -> Bool {
        let isMixed = { (piece: Substring) in
            piece.contains(where: \.isASCIIDigit) && piece.contains(where: \.isLetter)
        }
        let pieces = word.split { !$0.isLetter && !$0.isASCIIDigit }
        let shortest = isPath(word) ? 16 : 6
        if pieces.contains(where: { $0.count >= shortest && isMixed($0) }) { return true }
        if word.count >= 32, word.allSatisfy(\.isHexDigit) { return true }
        // A secret key of AWS has 40 characters, `/` and `+` among them; a path begins with its own.
        guard word.count >= 32, !["/", "~", "."].contains(word.first) else { return false }
        return word.contains(where: \.isUppercase) && word.contains(where: \.isLowercase) && isMixed(word)
            && word.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+/=".contains($0)) }
    }
}

extension Character {
    fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}
