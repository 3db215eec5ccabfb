import Foundation
import Testing

@testable import SyncCLI

@Suite struct JSONOutputTests {
    @Test func `nothing in JSON is acted on by a terminal, and all of it can be read back`() throws {
        let texts = ["\u{9B}2J", "\u{202E}gpj", "a\u{2028}b\u{2029}", "\u{7F}\u{85}", "tab\t\u{1B}[0m", "é 東京 👩‍👧"]
        let json = try JSONOutput.text(texts)
        let raw = json.unicodeScalars.filter { scalar in
            scalar.value < 0x20 && scalar != "\n" || (0x7F...0x9F).contains(scalar.value)
                || [0x202E, 0x2028, 0x2029].contains(scalar.value)
        }
        #expect(raw.isEmpty)
        #expect(json.contains("é 東京 👩‍👧"))
        #expect(try JSONDecoder().decode([String].self, from: Data(json.utf8)) == texts)
    }

    private struct Answer: Encodable {
        @Nullable var told: Date?
        @Nullable var count: Int?
    }

    @Test func `a field without a value is null, and never left out`() throws {
        let text = try JSONOutput.text(Answer(count: 1))
        #expect(text.contains("\"told\" : null") && text.contains("\"count\" : 1"))
    }
}
