import Testing

@testable import SyncCLI

@Suite struct RestoreVersionTests {
    @Test(arguments: [
        ("1", RestoreVersion.number(1)), ("12", .number(12)), ("d41d8cd9", .id("d41d8cd9")), ("D41D8C", .id("d41d8c")),
        ("123456", .id("123456")),
    ])
    func `a version is a number, or six or more digits of an id`(text: String, expected: RestoreVersion) {
        #expect(RestoreVersion(text) == expected)
    }

    @Test func `a version is also a day`() {
        #expect(RestoreVersion("2026-11-22").map { if case .day = $0 { true } else { false } } == true)
    }

    @Test(arguments: ["", "0", "-1", "latest", "d41d", "2026-13-01"])
    func `anything else is refused`(text: String) {
        #expect(RestoreVersion(text) == nil)
    }
}
