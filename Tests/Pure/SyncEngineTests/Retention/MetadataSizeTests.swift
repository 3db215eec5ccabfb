import Testing

@testable import SyncEngine

@Suite struct MetadataSizeTests {
    @Test(arguments: [
        ("short", 1_000, "short"),
        // 10 bytes for the name.
        (String(repeating: "a", count: 2_000), 1_800, String(repeating: "a", count: 90)),
        (String(repeating: "é", count: 500), 1_800, String(repeating: "é", count: 15)),
        // A family is one character, of 25 bytes.
        ("a👨‍👩‍👧‍👦👨‍👩‍👧‍👦", 1_900 - 10 - 1 - 75, "a👨‍👩‍👧‍👦"),
        (String(repeating: "a", count: 9), 1_890, nil as String?),
    ])
    func `a title is cut where the metadata of a request ends, on a character`(
        title: String, taken: Int, kept: String?
    ) {
        #expect(MetadataSize.cut(title, as: "task-title", beside: taken) == kept)
    }
}
