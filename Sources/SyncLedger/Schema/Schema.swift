import GRDB

/// The tables, as a list of migrations. A migration that has shipped is never edited: a change is a new one at the end.
/// Their text uses nothing of the program, so that what they did stays what they did. A new ledger begins with
/// ``SchemaSnapshot``, which scripts/make-schema makes anew when there is another one.
enum Schema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        for migration in migrations {
            migrator.registerMigration(migration.name, foreignKeyChecks: .immediate, migrate: migration.run)
        }
        return migrator
    }

    /// Whether a ledger has taken all of them, and no other: with one statement, and without the migrator's list.
    static func isCurrent(_ db: Database) throws -> Bool {
        do {
            let taken: String? = try db.rawRow(
                """
                SELECT coalesce(group_concat(identifier, char(10)), '')
                FROM (SELECT identifier FROM grdb_migrations ORDER BY identifier)
                """)?[0]
            return taken == names
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            // A new file has no such table.
            return false
        }
    }

    /// Of all migrations, in the order of their bytes, a line each. To compare them as sets, each a row of its own, was half
    /// of what it takes to open a ledger, besides reading its schema.
    private static let names = migrations.map { $0.name }.sorted().joined(separator: "\n")

    /// In the order in which they came to be.
    private static let migrations: [Migration] = [
        first, RestoreSchema.migration, VacationSchema.migration, ShareSchema.migration, GallerySchema.migration,
        ProjectSchema.migration, .whatIsLeftOut, .stamps, .mounts, .storeID, .refusals, .eventIdentities,
        ProofSchema.migration, .storedDigests, .copies, .suspects, .shareLooks, .captureTimes, .earlierVersions,
        PseudonymSchema.migration, .eventPhotoSuspects, .restoreClaims, CatalogSchema.migration, .restorePlaces,
        .machineNotes, .deletions, .profileIDs, .matches, .shareEnds, .shareOwners, .catalogWrites, .rebuilds,
        .shareObjects, .forgottenKeys, .originals, .otherDamage, .films, .originalUploads, SidecarSchema.migration,
        .counters, .retentionRuns, .standingNotices, .profileMerges, .shareNames, .guests, .mergeAnnouncements,
        .filters, .untoldFiles, .archiveNotes, .folderDigests, .removals, .restoreOutputs, .restoreMarks,
        .restoreReservations, .shareTwins, .catalogProofs, .madeFolders, .unclearObjects, .givenUp, .goneShares,
        .listing, .undecidedObjects, .folderDrives, .archiveOrder, .storeRefusal, .guestObjects, .photoDrives,
        .otherProjectContents, .restoreEnds, .supposedDrives, .deniedObjects, .untoldDrives, .formerNames,
        .forgottenRuins, .versionMakers, .listedRuins,
    ]

    private static let first = Migration(
        "folders, photos, objects, attempts", folders, photos, photoIndexes, photoTallies, objectTallies)

    // Names on Linux are bytes, in no encoding that one could rely on: paths are BLOBs. They compare as memcmp(3) does,
    // so that a folder and all below it are one range. Times are milliseconds since 1970; a file's modification time is
    // nanoseconds. Device and inode are unsigned, kept as the signed number of the same bits.
    private static let folders = """
        CREATE TABLE folders (
            id INTEGER PRIMARY KEY,
            path BLOB NOT NULL UNIQUE,
            kind TEXT NOT NULL CHECK (kind IN ('gallery', 'vacations', 'projects')),
            profile TEXT,
            active INTEGER NOT NULL CHECK (active IN (0, 1)),  -- 0: no longer in the configuration
            position INTEGER NOT NULL,                         -- order in the configuration
            watching TEXT,
            note TEXT,
            problem TEXT,
            scanned_at INTEGER
        ) STRICT;

        CREATE TABLE directories (
            id INTEGER PRIMARY KEY,
            folder_id INTEGER NOT NULL REFERENCES folders (id),
            path BLOB NOT NULL,                                -- below the folder: '/', '/trips/rome'
            UNIQUE (folder_id, path),
            UNIQUE (id, folder_id)
        ) STRICT;

        CREATE TABLE objects (
            id INTEGER PRIMARY KEY,
            key TEXT NOT NULL UNIQUE,
            size INTEGER NOT NULL,
            md5 BLOB,                                          -- of the photo on the disk
            sha256 BLOB,                                       -- of the stored bytes
            content_type TEXT NOT NULL,
            storage_class TEXT NOT NULL,
            restore_state TEXT NOT NULL CHECK (restore_state IN ('none', 'inProgress', 'restored')),
            restored_until INTEGER,
            width INTEGER,
            height INTEGER,
            taken_at INTEGER,
            stored_at INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE agent (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            store TEXT,                                        -- where the objects are; NULL before the first
            last_sync_at INTEGER,
            store_error TEXT,
            store_checked_at INTEGER
        ) STRICT;
        INSERT INTO agent (id) VALUES (1);
        """

    private static let photos = """
        CREATE TABLE photos (
            id INTEGER PRIMARY KEY,
            folder_id INTEGER NOT NULL,
            directory_id INTEGER NOT NULL,
            name BLOB NOT NULL,
            device INTEGER NOT NULL,
            inode INTEGER NOT NULL,
            size INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            state TEXT NOT NULL
                CHECK (state IN ('pending', 'uploading', 'uploaded', 'failed', 'skipped', 'missing')),
            generation INTEGER NOT NULL DEFAULT 1,             -- counts the changes of the file
            gone INTEGER NOT NULL DEFAULT 0 CHECK (gone = 0 OR state = 'uploading'),
            md5 BLOB,                                          -- of this generation, once it was read
            sha256 BLOB,
            object_id INTEGER REFERENCES objects (id),         -- what is stored, of this generation or an earlier one
            object_generation INTEGER,
            uploaded_at INTEGER,
            attempts INTEGER NOT NULL DEFAULT 0,
            next_try_at INTEGER NOT NULL DEFAULT 0,            -- 0: at once
            queued_at INTEGER NOT NULL,
            error TEXT,
            UNIQUE (directory_id, name),
            FOREIGN KEY (directory_id, folder_id) REFERENCES directories (id, folder_id),
            CHECK ((object_id IS NULL) = (object_generation IS NULL)),
            CHECK (object_id IS NOT NULL OR state NOT IN ('uploaded', 'missing'))
        ) STRICT;

        -- The ids are never used twice: a late commit must not meet another attempt's row.
        CREATE TABLE attempts (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            photo_id INTEGER NOT NULL REFERENCES photos (id) ON DELETE CASCADE,
            started_at INTEGER NOT NULL,
            finished_at INTEGER,
            outcome TEXT,
            error TEXT
        ) STRICT;
        CREATE INDEX attempts_by_photo ON attempts (photo_id);
        """

    private static let photoIndexes = """
        CREATE INDEX photos_queue ON photos (folder_id, next_try_at, queued_at) WHERE state = 'pending';
        CREATE INDEX photos_unsynced ON photos (folder_id, state, queued_at)
            WHERE state = 'pending' OR state = 'uploading' OR state = 'failed';
        CREATE INDEX photos_by_inode ON photos (inode);
        """

    private static let photoTallies = """
        CREATE TABLE photo_tallies (
            folder_id INTEGER NOT NULL,
            state TEXT NOT NULL,
            files INTEGER NOT NULL,
            bytes INTEGER NOT NULL,
            PRIMARY KEY (folder_id, state)
        ) STRICT, WITHOUT ROWID;

        CREATE TRIGGER photos_inserted AFTER INSERT ON photos BEGIN
            INSERT INTO photo_tallies VALUES (NEW.folder_id, NEW.state, 1, NEW.size)
            ON CONFLICT DO UPDATE SET files = files + 1, bytes = bytes + excluded.bytes;
        END;
        CREATE TRIGGER photos_deleted AFTER DELETE ON photos BEGIN
            UPDATE photo_tallies SET files = files - 1, bytes = bytes - OLD.size
            WHERE folder_id = OLD.folder_id AND state = OLD.state;
        END;
        CREATE TRIGGER photos_updated AFTER UPDATE OF folder_id, state, size ON photos
        WHEN OLD.folder_id <> NEW.folder_id OR OLD.state <> NEW.state OR OLD.size <> NEW.size BEGIN
            UPDATE photo_tallies SET files = files - 1, bytes = bytes - OLD.size
            WHERE folder_id = OLD.folder_id AND state = OLD.state;
            INSERT INTO photo_tallies VALUES (NEW.folder_id, NEW.state, 1, NEW.size)
            ON CONFLICT DO UPDATE SET files = files + 1, bytes = bytes + excluded.bytes;
        END;
        """

    private static let objectTallies = """
        CREATE TABLE object_tallies (
            storage_class TEXT PRIMARY KEY,
            objects INTEGER NOT NULL,
            bytes INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TRIGGER objects_inserted AFTER INSERT ON objects BEGIN
            INSERT INTO object_tallies VALUES (NEW.storage_class, 1, NEW.size)
            ON CONFLICT DO UPDATE SET objects = objects + 1, bytes = bytes + excluded.bytes;
        END;
        CREATE TRIGGER objects_deleted AFTER DELETE ON objects BEGIN
            UPDATE object_tallies SET objects = objects - 1, bytes = bytes - OLD.size
            WHERE storage_class = OLD.storage_class;
        END;
        CREATE TRIGGER objects_updated AFTER UPDATE OF storage_class, size ON objects
        WHEN OLD.storage_class <> NEW.storage_class OR OLD.size <> NEW.size BEGIN
            UPDATE object_tallies SET objects = objects - 1, bytes = bytes - OLD.size
            WHERE storage_class = OLD.storage_class;
            INSERT INTO object_tallies VALUES (NEW.storage_class, 1, NEW.size)
            ON CONFLICT DO UPDATE SET objects = objects + 1, bytes = bytes + excluded.bytes;
        END;
        """
}

/// A step to the schema. Its name stands in each ledger that has taken it.
struct Migration: Sendable {
    let name: String
    let run: @Sendable (Database) throws -> Void
}

extension Migration {
    init(_ name: String, _ statements: String...) {
        self.init(name: name) { db in for sql in statements { try db.execute(sql: sql) } }
    }
}

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
