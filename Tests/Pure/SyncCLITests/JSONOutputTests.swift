import FoundationEssentials
import Testing

@testable import SyncCLI

@Suite struct JSONOutputTests {
    private struct Answer: Encodable {
        @Nullable var told: Date?
        @Nullable var count: Int?
    }

    @Test func `a field without a value is null, and never left out`() throws {
        let text = try JSONOutput.text(Answer(count: 1))
        #expect(text.contains("\"told\" : null") && text.contains("\"count\" : 1"))
    }
}
