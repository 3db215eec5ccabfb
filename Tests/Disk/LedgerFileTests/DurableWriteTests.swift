import GRDB
import SyncTestSupport
import Testing

@testable import SyncLedger

/// That it is on the disk is seen from outside, by strace (`DurableLedgerTests`).
@Suite struct DurableWriteTests {
    private struct Refused: Error {}

    /// `PRAGMA synchronous`: 1 is NORMAL, 2 is FULL.
    private func level(_ db: Database) throws -> Int? {
        try Int.fetchOne(db, sql: "PRAGMA synchronous")
    }

    @Test func `only a durable transaction waits for the disk, and one that fails is taken back`() throws {
        let tree = try TemporaryTree()
        let ledger = try Ledger(at: tree.path("state/ledger.sqlite"))
        #expect(try ledger.write("test") { try level($0) } == 1)
        #expect(try ledger.write("test", isDurable: true) { try level($0) } == 2)
        #expect(throws: LedgerError.self) {
            try ledger.write("test", isDurable: true) { db in
                try db.execute(sql: "INSERT INTO store_facts (place, fact, value) VALUES ('p', 'f', 'v')")
                throw Refused()
            }
        }
        #expect(ledger.facts(of: "p") == [:])
        #expect(try ledger.write("test") { try level($0) } == 1)
        try ledger.makeDurable()
        #expect(try ledger.write("test") { try level($0) } == 1)
        try ledger.close()
    }
}
