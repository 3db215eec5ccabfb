import Foundation
import GRDB
import SyncCore
import SystemPackage
import Testing

@testable import SyncLedger

@Suite struct SingleConnectionTests {
    @Test func `one connection reads and writes, and leaves nothing open`() throws {
        let state = try StateFolder()
        let agent = try Ledger(at: state.ledger)
        let folder = try agent.fill(3)
        let ledger = try Ledger(at: state.ledger, connections: .single)
        #expect(ledger.database is DatabaseQueue)
        #expect(try ledger.knownFileCount(folder) == 3)
        #expect(try ledger.claim(limit: 2, at: Date(timeIntervalSince1970: 2_000)).count == 2)
        #expect(try ledger.check() == [])
        #expect(try agent.overview().totals[.uploading].files == 2)
        try agent.close()
        try ledger.close()
        #expect(try state.size(of: FilePath(state.ledger.string + "-wal")) ?? 0 == 0)
        #expect(try state.openDescriptors() == 0)
        let error = #expect(throws: LedgerError.self) { try ledger.overview() }
        #expect(error?.message.hasPrefix("the ledger is closed") == true)
        #expect(try Ledger(at: state.ledger).overview().totals[.uploading].files == 2)
    }

    @Test func `a read sets nothing for which SQLite would prepare each statement anew`() throws {
        let state = try StateFolder()
        _ = try Ledger(at: state.ledger).fill(3)
        let ledger = try Ledger(at: state.ledger, connections: .single)
        #expect(ledger.database is DatabaseQueue)
        for _ in 1...2 {
            #expect(try ledger.read("look") { try Int.fetchOne($0, sql: "PRAGMA query_only") } == 0)
        }
        try ledger.close()
    }

    @Test func `what a statement reads is noted for nobody`() throws {
        let state = try StateFolder()
        _ = try Ledger(at: state.ledger).fill(3)
        let ledger = try Ledger(at: state.ledger, connections: .single)
        let region = try ledger.read("look") { try $0.makeStatement(sql: "SELECT name FROM photos").databaseRegion }
        #expect(region.isEmpty)
        try ledger.close()
    }

    @Test(arguments: [nil, "films", Schema.migrator.migrations.last])
    func `who looks first makes the ledger, or migrates it`(migration: String?) throws {
        let state = try StateFolder()
        if let migration { try state.makeLedger(upTo: migration) { _ in } }
        let ledger = try Ledger(at: state.ledger, connections: .single)
        #expect(try ledger.database.read(Schema.isCurrent))
        let mode = try ledger.database.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") }
        #expect(mode == "wal")
        #expect(try ledger.check() == [])
        try ledger.close()
        let next = try Ledger(at: state.ledger, connections: .single)
        #expect(next.database is DatabaseQueue)
        try next.close()
    }

    @Test(arguments: [
        "DELETE FROM grdb_migrations WHERE identifier = 'films'", "DELETE FROM grdb_migrations",
        "UPDATE grdb_migrations SET identifier = 'sounds' WHERE identifier = 'films'", "DROP TABLE grdb_migrations",
        "INSERT INTO grdb_migrations (identifier) VALUES ('of a newer program')",
    ])
    func `a ledger that lacks a migration, or has one more, is not current`(change: String) throws {
        let state = try StateFolder()
        let ledger = try Ledger(at: state.ledger)
        #expect(try ledger.database.read(Schema.isCurrent))
        try ledger.database.write { try $0.execute(sql: change) }
        #expect(try !ledger.database.read(Schema.isCurrent))
        try ledger.close()
    }
}
