import SyncCore
import Testing

@Suite struct UnprintableScalarsTests {
    @Test(
        "what moves text about is told, and never done",
        arguments: [
            ("bell\u{7}", "bell\\u{7}"), ("\u{1B}[2J", "\\u{1b}[2J"), ("\u{9B}2J", "\\u{9b}2J"),
            ("\u{202E}gpj.exe", "\\u{202e}gpj.exe"), ("a\u{2066}b\u{2069}", "a\\u{2066}b\\u{2069}"),
            ("one\u{2028}two\u{2029}", "one\\u{2028}two\\u{2029}"), ("\u{200F}a\u{61C}", "\\u{200f}a\\u{61c}"),
            ("Zürich 東京 👩‍👩‍👧 ❄️", "Zürich 東京 👩‍👩‍👧 ❄️"), ("e\u{301}\u{7}", "é\\u{7}"), ("\n\u{308}", "\\u{a}\u{308}"),
        ])
    func escaped(text: String, expected: String) {
        #expect(text.escapingControls == expected)
    }
}
