import Testing

@testable import SyncCLI

@Suite struct TextLayoutTests {
    @Test(
        arguments: [
            ("abc", 3), ("a\u{308}", 1), ("~ \u{7F}", 3), ("a\r\nb", 3), ("Zürich", 6), ("Zu\u{308}rich", 6), ("東京", 4),
            ("❄️", 2), ("⏳", 2), ("→", 1), ("", 0),
        ])
    func `wide characters take two columns and combining marks none`(text: String, columns: Int) {
        #expect(TextLayout.width(text) == columns)
    }

    @Test(
        arguments: [
            ("/home/ana/Pictures/IMG_1.jpg", 20, "/home/…res/IMG_1.jpg"), ("short", 20, "short"), ("東京東京東京", 7, "東…東京"),
        ])
    func `a long path is cut in the middle, so that its end stays`(text: String, columns: Int, expected: String) {
        #expect(TextLayout.shortened(text, to: columns) == expected)
        #expect(TextLayout.width(TextLayout.shortened(text, to: columns)) <= columns)
    }

    @Test func `a fitted text has exactly its columns`() {
        #expect(TextLayout.fitted("ab", to: 4) == "ab  ")
        #expect(TextLayout.fitted("ab", to: 4, alignRight: true) == "  ab")
        #expect(TextLayout.width(TextLayout.fitted("a long text", to: 6)) == 6)
    }

    @Test func `lines are broken at spaces, and within words that are too long`() {
        #expect(TextLayout.wrapped("the disk is full", to: 8) == ["the disk", "is full"])
        #expect(TextLayout.wrapped("abcdefghij kl", to: 4) == ["abcd", "efgh", "ij", "kl"])
        #expect(TextLayout.wrapped("", to: 4) == [])
    }

    @Test func `a row has its cells in their columns, and no blanks at its end`() {
        let table = Table(indent: 2, .left(4), .right(5, gap: 1), .rest)
        #expect(table.row("ab", "1,204", "why") == "  ab  1,204 why")
        #expect(table.row("ab", "7", "") == "  ab      7")
        #expect(table.row("abcdef", "7") == "  a…ef    7")
    }

    @Test(
        arguments: [
            ("/home/ana/Paris_2024", "/home/ana/Paris_2024"), ("Köln", "Köln"), ("a b", "'a b'"),
            ("it's", #"'it'\''s'"#), ("$(x)", "'$(x)'"), ("~ana", "'~ana'"), ("", "''"),
            ("it's\u{1B}[2J", #"$'it\'s\x1b[2J'"#), ("a\u{85}\n", #"$'a\xc2\x85\x0a'"#), ("👩‍👩‍👧", "👩‍👩‍👧"),
        ])
    func `a shell takes the text for one word`(text: String, word: String) {
        #expect(text.asShellWord == word)
    }
}
