import Testing

@testable import SyncPages

@Suite struct PageTextTests {
    /// A Prepend letter (UAX #29) joins with whatever follows it, and makes one character that is a letter.
    @Test(arguments: ["\u{0600}", "\u{06DD}", "\u{110BD}", "\u{0D4E}", "\u{111C2}"])
    func `nothing that a shell or a file system reads gets through behind a letter`(letter: String) {
        for sign in ["'", "\"", ";", "$", "`", "/", "\\", "&", "|", ">", "\n", "\u{202E}", "\u{2028}"] {
            let name = PageText.fileName("a\(letter)\(sign)(id)b")
            #expect(
                !name.unicodeScalars.contains { sign.unicodeScalars.contains($0) || "()".unicodeScalars.contains($0) })
        }
    }

    @Test(arguments: [
        ("Paris_2024-06-15", "Paris_2024-06-15"), ("Zürich", "Zürich"), ("Zu\u{308}rich", "Zu\u{308}rich"),
        ("東京 2024", "東京_2024"), ("हिन्दी", "हिन्दी"), ("../x", "x"), (".hidden", "hidden"), ("a//b", "a_b"),
        ("", "photo"), ("...", "photo"), ("\u{308}\u{308}", "photo"),
        ("a\u{308}\u{308}\u{308}\u{308}b", "a\u{308}\u{308}\u{308}_b"),
    ])
    func `a name keeps letters, digits and the marks on them`(text: String, name: String) {
        #expect(PageText.fileName(text) == name)
    }
}
