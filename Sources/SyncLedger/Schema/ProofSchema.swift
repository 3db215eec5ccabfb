import GRDB

/// A migration: photos that are lost, and what is known about the bytes of objects. It has shipped when you read this: see
/// ``Schema``.
enum ProofSchema {
    static let migration = Migration(name: "lost photos, proofs", run: migrate)

    private static func migrate(_ db: Database) throws {
        try allowLost(db)
        try countLostAsMissing(db)
        try db.execute(sql: objects)
        try db.execute(sql: checks)
    }

    // A check cannot be altered. A new table in place of the old one would have to know all columns, indexes, triggers and
    // references of this moment; the text of the check alone is replaced, as sqlite.org/lang_altertable.html describes it
    // ("Making Other Kinds Of Table Schema Changes", the second way): the rows stay valid.
    private static func allowLost(_ db: Database) throws {
        let version = try Int.fetchOne(db, sql: "PRAGMA schema_version") ?? 0
        try db.execute(
            sql: """
                PRAGMA writable_schema = ON;
                UPDATE sqlite_schema SET sql = replace(sql, '''missing'')', '''missing'', ''lost'')')
                    WHERE type = 'table' AND name = 'photos';
                PRAGMA schema_version = \(version + 1);
                PRAGMA writable_schema = OFF;
                """)
    }

    // Wherever a trigger says `missing`, it means: not on the disk. That is so of a lost photo, too.
    private static func countLostAsMissing(_ db: Database) throws {
        let triggers = try Row.fetchAll(
            db, sql: "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND sql LIKE '%''missing''%'")
        for trigger in triggers {
            let (name, text): (String, String) = (trigger[0], trigger[1])
            try db.execute(sql: "DROP TRIGGER \(name.quotedDatabaseIdentifier)")
            try db.execute(
                sql: text.replacing("state = 'missing'", with: "state IN ('missing', 'lost')")
                    .replacing("state <> 'missing'", with: "state NOT IN ('missing', 'lost')"))
        }
    }

    // proved_at: when the bytes were last known to be right, by an upload's proof or by reading them back.
    private static let objects = """
        ALTER TABLE objects ADD COLUMN stored_md5 BLOB;        -- of the stored bytes
        ALTER TABLE objects ADD COLUMN etag TEXT;              -- as the store tells it
        ALTER TABLE objects ADD COLUMN verified_at INTEGER;    -- NULL: not since it was stored
        ALTER TABLE objects ADD COLUMN problem TEXT;           -- NULL; 'missing'; 'damaged: …'
        ALTER TABLE objects ADD COLUMN proved_at INTEGER AS (COALESCE(verified_at, stored_at));
        CREATE INDEX objects_by_proof ON objects (proved_at, id);
        CREATE INDEX objects_broken ON objects (key) WHERE problem IS NOT NULL;
        CREATE INDEX photos_lost ON photos (directory_id) WHERE state = 'lost';
        CREATE INDEX photos_lost_in_folder ON photos (folder_id, queued_at) WHERE state = 'lost';
        """

    // What verification has come to, ever, and what it has cost in each month (UTC).
    private static let checks = """
        CREATE TABLE verified_objects (
            result TEXT PRIMARY KEY CHECK (result IN ('ok', 'damaged', 'missing')),
            objects INTEGER NOT NULL,
            bytes INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE verification_costs (
            month TEXT PRIMARY KEY,                            -- 2026-11
            usd REAL NOT NULL
        ) STRICT, WITHOUT ROWID;
        """
}
