import Foundation
import Testing

@testable import SyncCLI

@Suite struct VerifyReportTests {
    private func line(ok: Int, unread: Int) -> String? {
        let report = VerifyReport(
            checked: 3, bytes: 0, ok: ok, unread: unread, damaged: [], missing: [], leftToOthers: 0, repaired: 0,
            costUSD: 0, oldestUnverified: nil, undecided: 0, errors: [], stoppedBy: nil, lost: 0)
        return report.lines(now: Date(timeIntervalSince1970: 1_780_000_000)).first
    }

    @Test func `what is archived is not said to have been read`() throws {
        let some = try #require(line(ok: 3, unread: 2))
        #expect(
            some.hasSuffix(
                "all as they were stored (2 by size and ETag only, as the store tells them: they are archived, and "
                    + "cannot be read without a restore)"), "\(some)")
        let one = try #require(line(ok: 2, unread: 1))
        #expect(one.contains("2 as they were stored (1 by size and ETag only, as the store"), "\(one)")
        #expect(one.contains(": it is archived, "), "\(one)")
        let none = try #require(line(ok: 3, unread: 0))
        #expect(none.hasSuffix("all as they were stored"), "\(none)")
    }
}
