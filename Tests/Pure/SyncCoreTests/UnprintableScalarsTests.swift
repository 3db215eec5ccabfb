import SyncCore
import Testing

@Suite struct UnprintableScalarsTests {
    @Test(
        arguments: [
            ("a\u{200B}b", "a\\u{200b}b"), ("a\u{AD}b", "a\\u{ad}b"), ("\u{FEFF}a", "\\u{feff}a"),
            ("a\u{2060}", "a\\u{2060}"),
            ("a\u{34F}b", "a\\u{34f}b"), ("a\u{3164}", "a\\u{3164}"), ("a\u{115F}", "a\\u{115f}"),
            ("a\u{180E}", "a\\u{180e}"),
            ("\u{FFF9}a\u{FFFB}", "\\u{fff9}a\\u{fffb}"), ("a\u{E0041}\u{E007F}", "a\\u{e0041}\\u{e007f}"),
            ("a\u{200D}b", "a\\u{200d}b"), ("a\u{FE0F}", "a\\u{fe0f}"), ("\u{200D}", "\\u{200d}"),
            ("a\u{1D173}", "a\\u{1d173}"),
            ("❤️ 1️⃣ #️⃣ ☎︎", "❤️ 1️⃣ #️⃣ ☎︎"), ("🏴\u{E0067}\u{E0062}\u{E007F}", "🏴\u{E0067}\u{E0062}\u{E007F}"),
            ("می\u{200C}خواهم", "می\u{200C}خواهم"), ("葛\u{E0100}", "葛\u{E0100}"),
        ])
    func `what nobody sees is told, and what is part of a letter or of an emoji stays`(text: String, expected: String) {
        #expect(text.escapingControls == expected)
    }

    @Test(
        arguments: [
            ("bell\u{7}", "bell\\u{7}"), ("\u{1B}[2J", "\\u{1b}[2J"), ("\u{9B}2J", "\\u{9b}2J"),
            ("\u{202E}gpj.exe", "\\u{202e}gpj.exe"), ("a\u{2066}b\u{2069}", "a\\u{2066}b\\u{2069}"),
            ("one\u{2028}two\u{2029}", "one\\u{2028}two\\u{2029}"), ("\u{200F}a\u{61C}", "\\u{200f}a\\u{61c}"),
            ("Zürich 東京 👩‍👩‍👧 ❄️", "Zürich 東京 👩‍👩‍👧 ❄️"), ("e\u{301}\u{7}", "é\\u{7}"), ("\n\u{308}", "\\u{a}\u{308}"),
        ])
    func `what moves text about is told, and never done`(text: String, expected: String) {
        #expect(text.escapingControls == expected)
    }
}
