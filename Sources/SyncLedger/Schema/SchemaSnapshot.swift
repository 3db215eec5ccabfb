import GRDB

/// A new ledger as the migrations make it, in one piece: each of them takes a transaction, and has SQLite parse the
/// whole schema. It stands for those whose names it notes; what is newer is migrated as in any other ledger. So one
/// that is out of date is never wrong, only slower.
enum SchemaSnapshot {
    /// The build makes it from `resources: [.embedInCode("Schema/ledger.sql")]` of the target in Package.swift.
    static var sql: String { String(decoding: PackageResources.ledger_sql, as: UTF8.self) }

    /// Makes all tables of a ledger that has none, and leaves any other one alone. Within a transaction: of several
    /// processes that find a new file, one makes them.
    static func make(_ db: Database) throws {
        guard try Bool.fetchOne(db, sql: "SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)") == true else { return }
        try db.execute(sql: sql)
        try CatalogSchema.drawMachineID(db)
        try PseudonymSchema.drawKey(db)
    }
}
