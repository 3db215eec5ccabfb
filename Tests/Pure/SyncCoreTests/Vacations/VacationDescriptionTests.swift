import SyncCore
import Testing

@Suite struct VacationDescriptionTests {
    private func parse(_ text: String) -> VacationDescription { VacationDescription(parsing: Array(text.utf8)) }

    @Test func `all fields are read, and others are of no account`() {
        let description = parse(
            """
            {"locationName": " Paris,\\n France ", "startDate": "2024-06-15", "endDate": "2024-06-22",
             "sharedBy": "Ana", "photoCount": 45, "photos": []}
            """)
        #expect(
            description
                == VacationDescription(
                    locationName: "Paris, France", startDate: CalendarDay("2024-06-15"),
                    endDate: CalendarDay("2024-06-22"), sharedBy: "Ana"))
    }

    @Test(arguments: [
        (#""2024-06-15""#, "2024-06-15"), (#""2024-06-15T23:59:59Z""#, "2024-06-15"),
        (#""2024-06-15T08:00:00.000+02:00""#, "2024-06-15"), (#""2024-06-15 08:00""#, "2024-06-15"),
        ("1718409600", "2024-06-15"), ("1718409600000", "2024-06-15"), ("1718409600.5", "2024-06-15"),
        ("0", "1970-01-01"), ("-86400", "1969-12-31"),
    ])
    func `a date is a day, a time, or a number of seconds or milliseconds`(written: String, day: String) {
        let description = parse(#"{"startDate": \#(written)}"#)
        #expect(description.startDate == CalendarDay(day))
        #expect(description.problems.isEmpty)
    }

    @Test(arguments: [
        #""15.06.2024""#, #""2024-02-30""#, #""2024-06-155""#, #""""#, "true", "[]", "{}", "1e300", "-1e18",
    ])
    func `a date that makes no sense is told, and the rest is used`(written: String) {
        let description = parse(#"{"locationName": "Rome", "startDate": \#(written), "sharedBy": 7}"#)
        #expect(description.locationName == "Rome")
        #expect(description.startDate == nil && description.sharedBy == nil)
        #expect(description.problems == ["startDate is no date (YYYY-MM-DD)", "sharedBy is no text"])
    }

    @Test(arguments: ["", "{", "[]", "null", "7", #""Rome""#, "\u{0}\u{1}", #"{"locationName": "Rome""#])
    func `what is no JSON object is told, and is as nothing`(text: String) {
        #expect(parse(text) == VacationDescription(problems: ["it is not a JSON object"]))
    }

    @Test func `one in UTF-16 is read`() {
        let text: [UInt8] = [0xFF, 0xFE] + #"{"locationName": "Rome"}"#.utf8.flatMap { [$0, 0] as [UInt8] }
        #expect(VacationDescription(parsing: text) == parse(#"{"locationName": "Rome"}"#))
    }

    @Test func `null and empty texts are as missing ones, and a byte order mark is no damage`() {
        #expect(parse(#"{"locationName": null, "sharedBy": "  ", "startDate": null}"#) == VacationDescription())
        #expect(parse("{}") == VacationDescription())
        let marked = VacationDescription(parsing: [0xEF, 0xBB, 0xBF] + Array(#"{"sharedBy": "Bo"}"#.utf8))
        #expect(marked == VacationDescription(sharedBy: "Bo"))
    }

    @Test func `a text has one line and an end`() {
        let long = String(repeating: "ü ", count: 10_000)
        let name = parse(#"{"locationName": "\#(long)\u0000\t\n"}"#).locationName
        #expect(name?.count == 200)
        #expect(parse(#"{"sharedBy": "a\u0000\u001b[31mb"}"#).sharedBy == "a [31mb")
    }
}
