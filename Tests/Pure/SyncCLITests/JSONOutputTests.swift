import FoundationEssentials
import Testing

@testable import SyncCLI

@Suite struct JSONOutputTests {
    private struct Inner: Encodable {
        var plain: String?
        @Nullable var told: Date?
    }

    private struct Outer: Encodable {
        var rows: [Inner]
        @Nullable var inner: Inner?
        @Nullable var count: Int?
    }

    @Test func `a field without a value is null, and never left out`() throws {
        let text = try JSONOutput.text(Outer(rows: []))
        #expect(text.contains("\"inner\" : null") && text.contains("\"count\" : null"))
    }

    @Test func `a field that would be left out is found, however deep`() {
        #expect(JSONOutput.absentKeys(in: Outer(rows: [])) == [])
        #expect(JSONOutput.absentKeys(in: Outer(rows: [Inner()])) == ["plain"])
        #expect(JSONOutput.absentKeys(in: Outer(rows: [], inner: Inner(plain: "a"))) == ["plain"])
        #expect(JSONOutput.absentKeys(in: Outer(rows: [], count: 1)) == [])
    }
}
