import SyncCore
import Testing

@Suite struct VacationCacheKeyTests {
    private func key(_ location: String, _ count: Int = 45) throws -> String {
        let days = try #require(CalendarDay("2024-06-15"))...(try #require(CalendarDay("2024-06-22")))
        return VacationCacheKey.text(location: location, days: days, photoCount: count)
    }

    @Test(arguments: [
        ("Paris France", "Paris_France"), ("Paris, France", "Paris_France"), ("  Paris -- France! ", "Paris_--_France"),
        ("Baden-Baden", "Baden-Baden"), ("Zu\u{308}rich", "Z\u{FC}rich"), ("東京", "東京"), ("San José №7", "San_José_7"),
        ("नई दिल्ली", "नई_दिल्ली"), ("../../etc", "etc"), ("a/b\\c", "a_b_c"), ("<script>", "script"),
        ("\u{202E}txt.\u{0}\n", "txt"), ("", "vacation"), ("!?…", "vacation"), ("👨‍👩‍👧", "vacation"),
        ("_a_", "a"),
    ])
    func `a location is letters, digits, marks and hyphens`(location: String, segment: String) throws {
        let made = try key(location)
        #expect(Array(made.utf8) == Array("\(segment)_2024-06-15_2024-06-22_45".utf8))
        // It is a segment of a key whatever it was made of.
        #expect(try KeyLayout(user: "ana").vacation(made).rawValue == "users/ana/vacations/\(made).json")
    }

    @Test func `it is cut between characters, and keeps its end`() throws {
        let made = try key(String(repeating: "ü", count: 150), 1_000_000)
        #expect(made == String(repeating: "ü", count: 100) + "_2024-06-15_2024-06-22_1000000")
        let odd = try key("a" + String(repeating: "e\u{323}\u{307}", count: 100))
        #expect(odd.utf8.count < 235)
        // A file's name has at most 255 bytes (Linux, NAME_MAX).
        #expect(made.utf8.count + 5 <= 255)
        #expect(try key(String(repeating: "a", count: 200) + " b").hasPrefix("aaa"))
        #expect(try key(String(repeating: "a", count: 199) + " b").contains("a_2024-06-15"))
    }

    @Test(arguments: [
        ("Rome_2024-06-15_2024-06-15_1", true), ("Rome_2024-06-15_2024-06-15_1-2", true),
        ("Rome_2024-06-15_2024-06-15_1-12", true), ("Rome_2024-06-15_2024-06-15_12", false),
        ("Rome_2024-06-15_2024-06-15_1-1", false), ("Rome_2024-06-15_2024-06-15_1-x", false),
        ("Rome_2024-06-15_2024-06-15_1--2", false), ("Oslo_2024-06-15_2024-06-15_1", false),
    ])
    func `a numbered key is told from others`(text: String, isNumbered: Bool) {
        #expect(VacationCacheKey.isText(text, numbering: "Rome_2024-06-15_2024-06-15_1") == isNumbered)
    }
}
