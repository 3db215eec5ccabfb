import Foundation
import GRDB
import SystemPackage
import Testing

@testable import SyncLedger

/// What SQLite writes beside the file of the ledger.
@Suite struct LedgerLogTests {
    @Test func `what a statement changes goes to no temporary file`() throws {
        let state = try StateFolder()
        let ledger = try Ledger(at: state.ledger)
        // Their rows and indexes are some 25 pages. SQLite by itself keeps 16 in memory.
        _ = try ledger.fill(1_000)
        let written = try ledger.database.write { db -> Int in
            let before = try Self.bytesWritten()
            try db.execute(sql: "UPDATE photos SET queued_at = queued_at + 1")
            return try Self.bytesWritten() - before
        }
        #expect(written == 0)
        try ledger.close()
    }

    /// By this thread, to whatever file (proc_pid_io(5)).
    private static func bytesWritten() throws -> Int {
        let lines = try String(contentsOfFile: "/proc/thread-self/io", encoding: .utf8).split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix("wchar: ") })
        return try #require(Int(line.dropFirst("wchar: ".count)))
    }
}
