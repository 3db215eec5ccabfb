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
        // Their rows and indexes are some 22 pages. SQLite by itself keeps 16 in memory.
        _ = try ledger.fill(800)
        let written = try ledger.database.write { db -> Int in
            let before = try Self.bytesWritten()
            try db.execute(sql: "UPDATE photos SET queued_at = queued_at + 1")
            return try Self.bytesWritten() - before
        }
        #expect(written == 0)
        try ledger.close()
    }

    /// As the next try of all photos, or a file of many events that is gone. With more in memory than SQLite writes at
    /// once, each of these failed, as if the disk were full.
    @Test func `a statement that changes more than stays in memory goes on in a temporary file`() throws {
        let state = try StateFolder()
        let ledger = try Ledger(at: state.ledger)
        // Some 84 pages.
        _ = try ledger.fill(3_000)
        let changed = try ledger.database.write { db -> Int in
            try db.execute(sql: "UPDATE photos SET queued_at = queued_at + 1")
            return db.changesCount
        }
        #expect(changed == 3_000)
        try ledger.close()
    }

    @Test func `a log is folded into the file at rest, and not after each four megabytes`() throws {
        let state = try StateFolder()
        let (ledger, other) = try (Ledger(at: state.ledger), Ledger(at: state.ledger))
        let log = FilePath(state.ledger.string + "-wal")
        for place in 1...6 { try Self.grow(ledger, place) }
        let grown = try #require(try state.size(of: log))
        #expect(grown > 10 << 20)
        // What somebody reads is not taken away.
        try other.database.read { db in
            #expect(try Self.facts(db) == 6)
            try Self.grow(ledger, 7)
            ledger.releaseMemory()
            #expect(try Self.facts(db) == 6)
        }
        #expect(try #require(try state.size(of: log)) > grown)
        ledger.releaseMemory()
        #expect(try state.size(of: log) == 0)
        #expect(try other.database.read(Self.facts) == 7)
        let patience = try ledger.database.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA busy_timeout") }
        #expect(patience == 5_000)
        try ledger.close()
    }

    /// By two megabytes.
    private static func grow(_ ledger: Ledger, _ place: Int) throws {
        try ledger.database.write { db in
            try db.execute(
                sql: "INSERT INTO store_facts VALUES (?, 'size', hex(randomblob(1048576)))", arguments: ["\(place)"])
        }
    }

    private static func facts(_ db: Database) throws -> Int? {
        try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM store_facts")
    }

    /// By this thread, to whatever file (proc_pid_io(5)).
    private static func bytesWritten() throws -> Int {
        let lines = try String(contentsOfFile: "/proc/thread-self/io", encoding: .utf8).split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix("wchar: ") })
        return try #require(Int(line.dropFirst("wchar: ".count)))
    }
}
