import FoundationEssentials
import Testing

@testable import SyncCLI

@Suite struct RecentSharesElsewhereTests {
    @Test func `what was known last is told while the store cannot be asked, and that it is`() async throws {
        let recent = RecentSharesElsewhere()
        let start = Date(timeIntervalSince1970: 1_800_000_000)
        func problems(_ seconds: Double, isAway: Bool) async throws -> [String] {
            try await recent.now(start.addingTimeInterval(seconds)) {
                if isAway { throw SharesElsewhere.Unasked(reason: "no answer within 4 s") }
                return .init()
            }.problems
        }
        let reason = "since the store cannot be asked: no answer within 4 s"
        #expect(try await problems(0, isAway: true) == ["shares of other machines are not in the list, \(reason)"])
        #expect(try await problems(301, isAway: false) == [])
        // Not asked again within five minutes.
        #expect(try await problems(400, isAway: true) == [])
        #expect(
            try await problems(602, isAway: true)
                == ["shares of other machines are told as they were known last, \(reason)"])
        #expect(try await problems(903, isAway: false) == [])
    }
}
