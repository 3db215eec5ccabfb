import FoundationEssentials
import GRDB
import SyncCore

/// A migration: what of the ledger stands in the store's catalogue, and whose photos there are. It has shipped when you read
/// this: see ``Schema``.
enum CatalogSchema {
    static let migration = Migration(name: "the catalogue in the store", run: migrate)

    /// Bytes of a machine's id.
    private static let idLength = 8

    private static func migrate(_ db: Database) throws {
        for sql in [columns, segments, changes] + triggers { try db.execute(sql: sql) }
        try drawMachineID(db)
    }

    static func drawMachineID(_ db: Database) throws {
        var random = SystemRandomNumberGenerator()
        let id = (0..<idLength).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        try db.execute(sql: "UPDATE agent SET machine_id = ?", arguments: [id.hexadecimal])
    }

    // folders.machine: NULL: this one's; the id of another one; 'recovered' for what was found without a name.
    private static let columns = """
        ALTER TABLE agent ADD COLUMN machine_id TEXT;
        ALTER TABLE agent ADD COLUMN catalog_next INTEGER NOT NULL DEFAULT 1;  -- the number of the next write
        ALTER TABLE agent ADD COLUMN catalog_tracking INTEGER NOT NULL DEFAULT 0 CHECK (catalog_tracking IN (0, 1));
        ALTER TABLE agent ADD COLUMN catalog_state TEXT;                       -- SHA-256 of the state as written last
        ALTER TABLE agent ADD COLUMN catalog_replaces TEXT;                    -- JSON: machines that were taken over
        ALTER TABLE agent ADD COLUMN catalog_written_at INTEGER;
        ALTER TABLE agent ADD COLUMN catalog_problem TEXT;
        ALTER TABLE folders ADD COLUMN machine TEXT;
        """

    private static let segments = """
        CREATE TABLE catalog_segments (
            last INTEGER PRIMARY KEY,                          -- the writes that it stands for, first to last
            first INTEGER NOT NULL,
            lines INTEGER NOT NULL,
            size INTEGER NOT NULL
        ) STRICT;
        """

    // The places that are another thing now than the full segment says. segment: NULL: not written since; 0: being written;
    // else the number of the write in which it was.
    private static let changes = """
        CREATE TABLE catalog_changes (
            folder_id INTEGER NOT NULL,
            directory BLOB NOT NULL,                           -- as in directories
            name BLOB NOT NULL,
            segment INTEGER,
            PRIMARY KEY (folder_id, directory, name)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX catalog_changes_by_segment ON catalog_changes (segment);
        """

    // Before the first full segment nothing is tracked: all of it is to be written.
    private static let triggers = [
        """
        CREATE TRIGGER catalog_photo_added AFTER INSERT ON photos
        WHEN NEW.object_id IS NOT NULL AND \(isTracked("NEW")) BEGIN \(mark("NEW")) END
        """,
        """
        CREATE TRIGGER catalog_photo_changed
        AFTER UPDATE OF object_id, object_generation, generation, size, modified ON photos
        WHEN NEW.object_id IS NOT NULL AND (OLD.object_id IS NOT NEW.object_id
            OR OLD.object_generation IS NOT NEW.object_generation OR OLD.generation <> NEW.generation
            OR OLD.size <> NEW.size OR OLD.modified <> NEW.modified) AND \(isTracked("NEW"))
        BEGIN \(mark("NEW")) END
        """,
        """
        CREATE TRIGGER catalog_photo_moved AFTER UPDATE OF directory_id, name ON photos
        WHEN OLD.object_id IS NOT NULL AND (OLD.directory_id <> NEW.directory_id OR OLD.name <> NEW.name)
            AND \(isTracked("OLD"))
        BEGIN \(mark("OLD")) \(mark("NEW")) END
        """,
        """
        CREATE TRIGGER catalog_photo_removed AFTER DELETE ON photos
        WHEN OLD.object_id IS NOT NULL AND \(isTracked("OLD")) BEGIN \(mark("OLD")) END
        """,
    ]

    private static func isTracked(_ row: String) -> String {
        """
        (SELECT catalog_tracking FROM agent) = 1 AND (SELECT machine FROM folders WHERE id = \(row).folder_id) IS NULL
        """
    }

    private static func mark(_ row: String) -> String {
        """
        INSERT INTO catalog_changes (folder_id, directory, name)
            SELECT \(row).folder_id, path, \(row).name FROM directories WHERE id = \(row).directory_id
            ON CONFLICT DO UPDATE SET segment = NULL;
        """
    }
}
