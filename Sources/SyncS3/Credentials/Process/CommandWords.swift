/// A command line as its words, split by the rules of a shell's quotes and nothing else of a shell: no variables, no
/// globs, no comments, no operators.
///
/// As Python's `shlex.split` does, and so botocore with a `credential_process`: single quotes keep all, double quotes let
/// `\` escape `"` and `\`, elsewhere `\` escapes any character.
package struct CommandWords: Hashable, Sendable {
    package enum Invalid: String, Error, Hashable, Sendable {
        case openQuote = "a quote is not closed"
        case openEscape = "it ends in a backslash"
    }

    private enum Quote {
        case none, single, double
    }

    package private(set) var words: [String] = []

    package init(_ line: String) throws(Invalid) {
        var word: String?
        var quote = Quote.none
        var rest = line.unicodeScalars.makeIterator()
        while let scalar = rest.next() {
            switch (quote, scalar) {
            case (.none, " "), (.none, "\t"), (.none, "\n"), (.none, "\r"):
                if let word { words.append(word) }
                word = nil
            case (.none, "'"):
                quote = .single
                word = word ?? ""
            case (.none, "\""):
                quote = .double
                word = word ?? ""
            case (.single, "'"), (.double, "\""):
                quote = .none
            case (.none, "\\"), (.double, "\\"):
                guard let escaped = rest.next() else { throw .openEscape }
                if quote == .double, escaped != "\"", escaped != "\\" { word = (word ?? "") + "\\" }
                word = (word ?? "") + String(escaped)
            default:
                word = (word ?? "") + String(scalar)
            }
        }
        guard quote == .none else { throw .openQuote }
        if let word { words.append(word) }
    }
}
