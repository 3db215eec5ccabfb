import FoundationEssentials
import GRDB

/// A migration: gallery events, profiles and what was signed off. It has shipped when you read this: see ``Schema``.
///
/// Nothing in here may hold text of an event, in no column: ids, names of files, times and digests only.
enum GallerySchema {
    static let migration = Migration(
        "gallery events", events, files, tallies, arrivals, returns, profiles, retention, unread)

    // photo_state `waiting`: it is a file beside the event's that is not there yet.
    // retention `kept`: text of it may be on the disk. `archived`: its photo is proven in the archive and its text gone;
    // `deleted`: it had no photo, and its text is gone.
    private static let events = """
        CREATE TABLE events (
            id INTEGER PRIMARY KEY,
            event_id TEXT NOT NULL UNIQUE,
            user_id TEXT,                                      -- as given
            profile TEXT NOT NULL,                             -- as given
            profile_uuid TEXT REFERENCES profiles (uuid),      -- of a profile that was given as a telephone number
            type TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            photo_state TEXT NOT NULL CHECK (photo_state IN ('none', 'pending', 'waiting', 'stored', 'failed')),
            photo_name BLOB,                                   -- of a photo beside the event's file
            photo_md5 BLOB,
            object_id INTEGER REFERENCES objects (id),         -- its photo in the pool
            problem TEXT,                                      -- why the photo is not stored
            retention TEXT NOT NULL DEFAULT 'kept' CHECK (retention IN ('kept', 'archived', 'deleted')),
            tried_at INTEGER,                                  -- by retention
            retention_problem TEXT,
            CHECK ((photo_state = 'stored') = (photo_md5 IS NOT NULL)),
            CHECK (photo_state <> 'waiting' OR photo_name IS NOT NULL)
        ) STRICT;
        CREATE INDEX events_due ON events (created_at) WHERE retention = 'kept';
        CREATE INDEX events_waiting ON events (photo_name) WHERE photo_state = 'waiting';
        CREATE INDEX events_by_object ON events (object_id) WHERE object_id IS NOT NULL;
        CREATE INDEX events_by_profile ON events (profile);
        """

    // Every file in which an event was seen: its text is in all of them. The rows of files follow renames.
    private static let files = """
        CREATE TABLE event_files (
            event INTEGER NOT NULL REFERENCES events (id) ON DELETE CASCADE,
            photo_id INTEGER NOT NULL REFERENCES photos (id) ON DELETE CASCADE,
            clean INTEGER NOT NULL DEFAULT 0 CHECK (clean IN (0, 1)),  -- 1: its text is no longer in there
            PRIMARY KEY (event, photo_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX event_files_by_photo ON event_files (photo_id);

        CREATE TABLE event_notes (
            photo_id INTEGER PRIMARY KEY REFERENCES photos (id) ON DELETE CASCADE,
            events INTEGER NOT NULL,
            malformed INTEGER NOT NULL,
            note TEXT NOT NULL
        ) STRICT;
        """

    private static let tallies = """
        CREATE TABLE event_tallies (
            photo_state TEXT NOT NULL,
            retention TEXT NOT NULL,
            events INTEGER NOT NULL,
            PRIMARY KEY (photo_state, retention)
        ) STRICT, WITHOUT ROWID;

        CREATE TRIGGER events_inserted AFTER INSERT ON events BEGIN
            INSERT INTO event_tallies VALUES (NEW.photo_state, NEW.retention, 1)
            ON CONFLICT DO UPDATE SET events = events + 1;
        END;
        CREATE TRIGGER events_deleted AFTER DELETE ON events BEGIN
            UPDATE event_tallies SET events = events - 1
            WHERE photo_state = OLD.photo_state AND retention = OLD.retention;
        END;
        CREATE TRIGGER events_updated AFTER UPDATE OF photo_state, retention ON events
        WHEN OLD.photo_state <> NEW.photo_state OR OLD.retention <> NEW.retention BEGIN
            UPDATE event_tallies SET events = events - 1
            WHERE photo_state = OLD.photo_state AND retention = OLD.retention;
            INSERT INTO event_tallies VALUES (NEW.photo_state, NEW.retention, 1)
            ON CONFLICT DO UPDATE SET events = events + 1;
        END;
        """

    // A photo that events beside it wait for is done with, or comes there from elsewhere: their files are read again. One
    // that is in hand at this moment has looked for the photo too early; its commit sees the new generation. The plus
    // keeps SQLite from walking the whole directory for each photo that is stored.
    private static let arrivals = """
        CREATE TRIGGER event_photo_arrived AFTER UPDATE OF state ON photos
        WHEN NEW.state IN ('uploaded', 'failed', 'skipped') AND OLD.state <> NEW.state BEGIN
            \(readAgain)
            WHERE +directory_id = NEW.directory_id AND state <> 'missing' AND id IN (\(waiting));
        END;
        CREATE TRIGGER event_photo_moved AFTER UPDATE OF directory_id, name ON photos
        WHEN NEW.state = 'uploaded' BEGIN
            \(readAgain)
            WHERE +directory_id = NEW.directory_id AND state <> 'missing' AND id IN (\(waiting));
        END;
        CREATE TRIGGER event_file_moved AFTER UPDATE OF directory_id ON photos
        WHEN NEW.directory_id <> OLD.directory_id AND NEW.state <> 'missing' BEGIN
            \(readAgain)
            WHERE id = NEW.id AND EXISTS (
                SELECT 1 FROM event_files JOIN events ON events.id = event_files.event
                WHERE event_files.photo_id = NEW.id AND events.photo_state = 'waiting'
            );
        END;
        """

    private static let readAgain = """
        UPDATE photos SET state = CASE state WHEN 'uploading' THEN 'uploading' ELSE 'pending' END,
            generation = generation + 1, attempts = 0, next_try_at = 0, error = NULL
        """

    private static let waiting = """
        SELECT event_files.photo_id FROM events INDEXED BY events_waiting
        JOIN event_files ON event_files.event = events.id
        WHERE events.photo_state = 'waiting' AND events.photo_name = NEW.name
        """

    // A file that is back as it was is not read again: what it holds is due as it was before.
    private static let returns = """
        CREATE TRIGGER event_file_returned AFTER UPDATE OF state ON photos
        WHEN OLD.state = 'missing' AND NEW.state <> 'missing' BEGIN
            UPDATE event_files SET clean = 0 WHERE photo_id = NEW.id;
            UPDATE events SET retention = 'kept'
            WHERE retention <> 'kept' AND id IN (SELECT event FROM event_files WHERE photo_id = NEW.id);
        END;
        """

    private static let profiles = """
        CREATE TABLE profiles (
            uuid TEXT PRIMARY KEY,
            phone TEXT NOT NULL UNIQUE,                        -- E.164
            name TEXT,
            created_at INTEGER NOT NULL
        ) STRICT;
        """

    // Before there were events, each JSON file of a gallery was skipped. LIKE leaves the case of ASCII letters aside.
    private static let unread = """
        UPDATE photos SET state = 'pending', generation = generation + 1, attempts = 0, next_try_at = 0, error = NULL
        WHERE state = 'skipped' AND CAST(name AS TEXT) LIKE '%.json'
        AND folder_id IN (SELECT id FROM folders WHERE kind = 'gallery');
        """

    // Records outlive their events.
    private static let retention = """
        CREATE TABLE retention_records (
            event_id TEXT PRIMARY KEY,
            user_id TEXT NOT NULL,
            profile TEXT NOT NULL,                             -- as in the key
            type TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            signed_off_at INTEGER NOT NULL,
            key TEXT,                                          -- NULL: it had no photo
            sha256 BLOB,
            CHECK ((key IS NULL) = (sha256 IS NULL))
        ) STRICT;
        CREATE INDEX retention_records_by_time ON retention_records (signed_off_at);

        CREATE TABLE daily_runs (
            name TEXT PRIMARY KEY,
            scheduled_at INTEGER NOT NULL,                     -- the last scheduled moment that is done with
            finished_at INTEGER NOT NULL
        ) STRICT;
        """
}

/// A migration: the key of pseudonyms. It has shipped when you read this: see ``Schema``.
enum PseudonymSchema {
    static let migration = Migration(name: "the key of pseudonyms", run: migrate)

    /// Bytes.
    private static let length = 32

    private static func migrate(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE pseudonym_key (
                    id INTEGER PRIMARY KEY CHECK (id = 1),
                    key BLOB NOT NULL CHECK (length(key) = 32)
                ) STRICT;
                """)
        try drawKey(db)
    }

    static func drawKey(_ db: Database) throws {
        var random = SystemRandomNumberGenerator()
        let key = (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        try db.execute(sql: "INSERT OR REPLACE INTO pseudonym_key VALUES (1, ?)", arguments: [Data(key)])
    }
}
