import SyncS3
import Testing

@Suite struct CommandWordsTests {
    /// The words are those of Python's `shlex.split`.
    @Test(
        arguments: [
            ("", []), ("   \t", []), ("tool", ["tool"]), ("  tool  --flag\tvalue ", ["tool", "--flag", "value"]),
            (#"tool "two words" 'three more words'"#, ["tool", "two words", "three more words"]),
            (#"tool "" ''"#, ["tool", "", ""]), (#"a"b c"'d e'f"#, ["ab cd ef"]),
            (#"/my\ tools/tool \"x\""#, ["/my tools/tool", "\"x\""]),
            (#""a\"b\\c\d" 'a\b'"#, ["a\"b\\c\\d", "a\\b"]),
            ("tool $HOME *.txt; rm -rf x # y", ["tool", "$HOME", "*.txt;", "rm", "-rf", "x", "#", "y"]),
            ("tool 'ä ö' 漢", ["tool", "ä ö", "漢"]), ("a\nb", ["a", "b"]),
        ] as [(String, [String])])
    func `Quotes and backslashes are a shell's, and nothing else is`(line: String, words: [String]) throws {
        #expect(try CommandWords(line).words == words)
    }

    @Test(
        arguments: [
            ("tool 'x", .openQuote), ("tool \"x", .openQuote), ("tool \"x\\\"", .openQuote), ("tool \\", .openEscape),
            ("tool \"x\\", .openEscape),
        ] as [(String, CommandWords.Invalid)])
    func `What is not closed is refused`(line: String, reason: CommandWords.Invalid) {
        #expect(throws: reason) { try CommandWords(line) }
    }
}
