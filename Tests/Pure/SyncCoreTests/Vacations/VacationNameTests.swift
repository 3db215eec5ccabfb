import SyncCore
import Testing

@Suite struct VacationNameTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var location: String
        var start: String?
        var end: String?

        init(_ name: String, _ location: String, _ start: String? = nil, _ end: String? = nil) {
            (self.name, self.location, self.start, self.end) = (name, location, start, end)
        }

        var testDescription: String { name.debugDescription }
    }

    @Test(arguments: [
        // Two dates
        Row("Paris_France_2024-06-15_2024-06-22", "Paris France", "2024-06-15", "2024-06-22"),
        Row("Rome_2024-02-29_2024-03-01", "Rome", "2024-02-29", "2024-03-01"),
        Row("Rome_2024-03-01_2024-02-29", "Rome", "2024-02-29", "2024-03-01"),
        Row("Rome_2024-06-15_2024-06-15", "Rome", "2024-06-15", "2024-06-15"),
        Row("Rome 2024-06-15 2024-06-22", "Rome", "2024-06-15", "2024-06-22"),
        Row("Rome__2024-06-15__2024-06-22", "Rome", "2024-06-15", "2024-06-22"),
        Row("New York City_2024-06-15_2024-06-22", "New York City", "2024-06-15", "2024-06-22"),
        Row("Baden-Baden_2024-06-15_2024-06-22", "Baden-Baden", "2024-06-15", "2024-06-22"),
        Row("Zu\u{308}rich_2024-06-15_2024-06-22", "Zürich", "2024-06-15", "2024-06-22"),
        Row("Z\u{FC}rich_2024-06-15_2024-06-22", "Zürich", "2024-06-15", "2024-06-22"),
        Row("東京_2024-06-15_2024-06-22", "東京", "2024-06-15", "2024-06-22"),
        Row("2024-06-15_2024-06-22", "", "2024-06-15", "2024-06-22"),
        Row("_2024-06-15_2024-06-22", "", "2024-06-15", "2024-06-22"),
        Row("Rome_2023-01-01_2024-06-15_2024-06-22", "Rome 2023-01-01", "2024-06-15", "2024-06-22"),
        // One date
        Row("Lake_2024-06-15", "Lake", "2024-06-15", "2024-06-15"),
        Row("Lake 2024-06-15", "Lake", "2024-06-15", "2024-06-15"),
        Row("2024-06-15", "", "2024-06-15", "2024-06-15"),
        Row("Rome_2024-02-30_2024-06-22", "Rome 2024-02-30", "2024-06-22", "2024-06-22"),
        Row("Rome_soon_2024-06-22", "Rome soon", "2024-06-22", "2024-06-22"),
        Row("Rome2024-06-15_2024-06-22", "Rome2024-06-15", "2024-06-22", "2024-06-22"),
        // No date
        Row("Paris_France", "Paris France"),
        Row("Paris", "Paris"),
        Row("Rome_2024-06-31", "Rome 2024-06-31"),
        Row("Rome_2024-6-1", "Rome 2024-6-1"),
        Row("Rome_2024-06-15_", "Rome 2024-06-15"),
        Row("Rome_2024-06-15.old", "Rome 2024-06-15.old"),
        Row("Rome2024-06-15", "Rome2024-06-15"),
        Row("2024-06-15 Rome", "2024-06-15 Rome"),
        Row("Rome_０２０２４-06-15", "Rome ０２０２４-06-15"),
        Row("Rome_0000-00-00", "Rome 0000-00-00"),
        // Hostile
        Row("", ""),
        Row("___", ""),
        Row("  Rome  ", "Rome"),
        Row("Ro\nme\t\u{0}_2024-06-15", "Ro me", "2024-06-15", "2024-06-15"),
        Row("<script>alert(1)</script>_2024-06-15", "<script>alert(1)</script>", "2024-06-15", "2024-06-15"),
        Row("..", ".."),
        Row("\u{FFFD}\u{FFFD}_2024-06-15", "\u{FFFD}\u{FFFD}", "2024-06-15", "2024-06-15"),
        Row("👨‍👩‍👧_2024-06-15_2024-06-22", "👨‍👩‍👧", "2024-06-15", "2024-06-22"),
    ])
    func `a folder's name tells a place and days`(row: Row) {
        let name = VacationName(row.name)
        #expect(name.location == row.location)
        #expect(name.startDate == row.start.flatMap { CalendarDay($0) })
        #expect(name.endDate == row.end.flatMap { CalendarDay($0) })
    }
}
