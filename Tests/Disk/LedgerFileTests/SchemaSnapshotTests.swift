import Foundation
import GRDB
import SystemPackage
import Testing

@testable import SyncLedger

@Suite struct SchemaSnapshotTests {
    /// A ledger that took the steps, up to one of them.
    private static func migrated(upTo migration: String? = nil) throws -> DatabaseQueue {
        let database = try DatabaseQueue()
        if let migration {
            try Schema.migrator.migrate(database, upTo: migration)
        } else {
            try Schema.migrator.migrate(database)
        }
        return database
    }

    /// With SYNC_AGENT_WRITE_SCHEMA it writes the file first: see scripts/make-schema.
    @Test func `the snapshot stands for all migrations`() throws {
        let text = try Self.migrated().read(LedgerTable.snapshot)
        var snapshot = SchemaSnapshot.sql
        if ProcessInfo.processInfo.environment["SYNC_AGENT_WRITE_SCHEMA"] != nil {
            let root = FilePath(#filePath).removingLastComponent().pushing("../../..")
            let file = root.pushing("Sources/SyncLedger/Schema/ledger.sql")
            try Data(text.utf8).write(to: URL(filePath: file.string))
            snapshot = try String(contentsOfFile: file.string, encoding: .utf8)
        }
        let isCurrent = snapshot == text
        #expect(isCurrent, "Schema/ledger.sql is not what the migrations make: run scripts/make-schema")
    }

    @Test func `a new ledger is as the migrations make one`() throws {
        let state = try StateFolder()
        let ledger = try Ledger(at: state.ledger)
        let new = try ledger.database.read(LedgerContents.init(of:))
        let migrated = try Self.migrated().read(LedgerContents.init(of:))
        #expect(new.schema.count > 100 && new.schema == migrated.schema)
        #expect(new.rows.count > 60 && new.rows == migrated.rows)
        let damage = try ledger.database.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") }
        #expect(damage == ["ok"])
        #expect(try ledger.check() == [])
    }

    @Test func `a new ledger takes what is newer than the snapshot as any other one`() throws {
        let earlier = try Self.migrated(upTo: "films").read(LedgerTable.snapshot)
        let database = try DatabaseQueue()
        try database.write { db in
            try db.execute(sql: earlier)
            try CatalogSchema.drawMachineID(db)
            try PseudonymSchema.drawKey(db)
        }
        try Schema.migrator.migrate(database)
        let migrated = try Self.migrated().read(LedgerContents.init(of:))
        #expect(try database.read(LedgerContents.init(of:)) == migrated)
    }

    @Test func `a ledger that has tables is left alone`() throws {
        let database = try Self.migrated(upTo: "films")
        let before = try database.read(LedgerContents.init(of:))
        try database.write(SchemaSnapshot.make)
        #expect(try database.read(LedgerContents.init(of:)) == before)
    }

    /// A log is 32 bytes, and 24 with a page for each frame (https://www.sqlite.org/fileformat2.html#walformat).
    @Test(arguments: [0, 0.1, 0.5, 0.9, 1])
    func `of a new ledger whose making was cut off there is nothing, and the next one makes it`(part: Double) throws {
        let (state, survivor) = try (StateFolder(), StateFolder())
        let ledger = try Ledger(at: state.ledger)
        try state.copyAsAfterCrash(to: survivor)
        let log = FilePath(survivor.ledger.string + "-wal")
        let (whole, frame) = (try survivor.read(log), 24 + 4096)
        let frames = (whole.count - 32) / frame
        #expect(frames > 50)
        // All but the last one, in which the transaction ends.
        try survivor.write(whole.prefix(32 + Int(Double(frames - 1) * part) * frame), to: log)

        let cut = try DatabaseQueue(path: survivor.ledger.string)
        let tables = try cut.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM sqlite_schema") }
        #expect(tables == 0)
        try cut.close()
        let next = try Ledger(at: survivor.ledger)
        let contents = try [ledger, next].map { try $0.database.read(LedgerContents.init(of:)) }
        #expect(contents[0] == contents[1])
        #expect(try next.check() == [])
    }
}

/// A table of a ledger, with what is stored in it.
private struct LedgerTable {
    /// What is random in a new ledger, and the number of the row that it stands in.
    static let drawn: Set = ["agent.machine_id", "pseudonym_key.id", "pseudonym_key.key"]

    let name: String
    let columns: [String]
    private let order: String

    static func tables(of db: Database) throws -> [LedgerTable] {
        let tables = try Row.fetchAll(
            db, sql: "SELECT name, sql FROM sqlite_schema WHERE type = 'table' ORDER BY rowid")
        return try tables.map { table in
            let (name, text): (String, String) = (table[0], table[1])
            let columns = try String.fetchAll(db, sql: "SELECT name FROM pragma_table_info(?)", arguments: [name])
            let order = text.hasSuffix("WITHOUT ROWID") ? "" : "ORDER BY rowid"
            return LedgerTable(name: name, columns: columns, order: order)
        }
    }

    func isDrawn(_ column: String) -> Bool { Self.drawn.contains("\(name).\(column)") }

    /// - Parameter values: one for each column, as SQL that gives a text.
    func rows(_ db: Database, _ values: [String]) throws -> [String] {
        let row = values.joined(separator: " || ', ' || ")
        return try String.fetchAll(db, sql: "SELECT \(row) FROM \(name.quotedDatabaseIdentifier) \(order)")
    }

    /// All that makes a ledger what it is, as SQL: tables, indexes and triggers in their order, and rows.
    static func snapshot(of db: Database) throws -> String {
        let note = "-- A new ledger, as the migrations make it. Made by scripts/make-schema; do not edit."
        let ours = "sql IS NOT NULL AND name NOT GLOB 'sqlite_*'"
        let statements = try String.fetchAll(
            db, sql: "SELECT sql || ';' FROM sqlite_schema WHERE \(ours) ORDER BY rowid")
        let rows = try tables(of: db).compactMap { try $0.insertion(db) }
        return ([note] + statements + rows).joined(separator: "\n\n") + "\n"
    }

    /// - Returns: nil where there is nothing to insert.
    private func insertion(_ db: Database) throws -> String? {
        let filled = try columns.filter { column in
            let sql = "SELECT COUNT(\(column.quotedDatabaseIdentifier)) FROM \(name.quotedDatabaseIdentifier)"
            let count = try Int.fetchOne(db, sql: sql) ?? 0
            return count > 0 && !isDrawn(column)
        }
        guard !filled.isEmpty else { return nil }
        let quoted = filled.map { "quote(\($0.quotedDatabaseIdentifier))" }
        let tuples = try rows(db, quoted).map { "    (\($0))" }.joined(separator: ",\n")
        return "INSERT INTO \(name) (\(filled.joined(separator: ", "))) VALUES\n\(tuples);"
    }
}

/// All of a ledger; of what is random, its type and length.
private struct LedgerContents: Equatable {
    let schema: [String]
    let rows: [String]

    init(of db: Database) throws {
        let entry = "type || ' ' || name || ' ' || tbl_name || ' ' || COALESCE(sql, '')"
        schema = try String.fetchAll(db, sql: "SELECT \(entry) FROM sqlite_schema ORDER BY rowid")
        rows = try LedgerTable.tables(of: db).flatMap { table in
            let values = table.columns.map { column in
                let name = column.quotedDatabaseIdentifier
                return table.isDrawn(column) ? "typeof(\(name)) || COALESCE(length(\(name)), '')" : "quote(\(name))"
            }
            return try table.rows(db, values).map { "\(table.name): \($0)" }
        }
    }
}
