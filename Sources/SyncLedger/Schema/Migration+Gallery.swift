/// What has changed of gallery events and profiles since their first version. As in ``GallerySchema``, nothing in here
/// may hold text of an event. It has shipped when you read this: see ``Schema``.
extension Migration {
    static let eventIdentities = Migration(
        "events under one id",
        // event_id stays unique: the id as it is given, and of a second event with that id with U+001F and a number
        // behind it, which no id holds. mark tells the photo of an event apart before it is stored: the MD5 of one in
        // its file, a `/` and the name of one beside it; NULL where that is not known.
        """
        ALTER TABLE events ADD COLUMN given_id TEXT
            GENERATED ALWAYS AS (substr(event_id, 1, instr(event_id || char(31), char(31)) - 1)) VIRTUAL;
        ALTER TABLE events ADD COLUMN mark BLOB;
        CREATE INDEX events_by_given_id ON events (given_id);
        CREATE INDEX retention_records_by_key ON retention_records (key);
        """,
        // The name of a file may be the id of its event.
        """
        CREATE TRIGGER event_file_renamed AFTER UPDATE OF name ON photos
        WHEN NEW.name <> OLD.name AND NEW.state <> 'missing' BEGIN
            UPDATE photos SET state = CASE state WHEN 'uploading' THEN 'uploading' ELSE 'pending' END,
                generation = generation + 1, attempts = 0, next_try_at = 0, error = NULL
            WHERE id = NEW.id AND EXISTS (SELECT 1 FROM event_files WHERE photo_id = NEW.id);
        END;
        """,
        // Before, files of some shapes were no files of events, and photos in the data of events were not seen.
        """
        UPDATE photos SET state = 'pending', generation = generation + 1, attempts = 0, next_try_at = 0, error = NULL
        WHERE state IN ('uploaded', 'skipped', 'failed') AND (CAST(name AS TEXT) LIKE '%.json'
            OR CAST(name AS TEXT) LIKE '%.jsonl' OR CAST(name AS TEXT) LIKE '%.ndjson')
        AND folder_id IN (SELECT id FROM folders WHERE kind = 'gallery');
        """)

    /// Of files of events, the one photo that was decoded when the agent ended.
    static let eventPhotoSuspects = Migration(
        "photos of events in hand at unclean ends",
        // `photo`: which of the file's photos a library has. They go by their bytes: the file may grow, and an id may
        // stand twice in it.
        "ALTER TABLE suspects ADD COLUMN photo BLOB",
        """
        CREATE TABLE event_photos_set_aside (
            photo_id INTEGER NOT NULL REFERENCES photos (id) ON DELETE CASCADE,
            md5 BLOB NOT NULL,
            PRIMARY KEY (photo_id, md5)
        ) STRICT, WITHOUT ROWID
        """)

    /// Profiles of which the store's catalogue has told the id, and nobody here the number.
    static let profileIDs = Migration(
        "ids of profiles from the catalogue",
        """
        CREATE TABLE profile_ids (
            uuid TEXT PRIMARY KEY                              -- as in profiles; none that is there
        ) STRICT, WITHOUT ROWID;
        """)

    static let retentionRuns = Migration(
        "cleanups of old events",
        """
        CREATE TABLE retention_runs (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            scheduled_at INTEGER UNIQUE,                       -- NULL: started by hand
            finished_at INTEGER NOT NULL,
            archived INTEGER NOT NULL,
            deleted INTEGER NOT NULL,
            skipped INTEGER NOT NULL,
            failed INTEGER NOT NULL,
            waiting INTEGER NOT NULL
        ) STRICT;
        """)

    static let profileMerges = Migration(
        "names and merges of profiles",
        // profile_ids.uuid may be any id from now on. Ids are as they stand in keys: none tells a telephone number. A
        // merge leads to its end in one step.
        """
        ALTER TABLE profile_ids ADD COLUMN name TEXT;
        ALTER TABLE profile_ids ADD COLUMN needs_number INTEGER NOT NULL DEFAULT 1 CHECK (needs_number IN (0, 1));
        CREATE TABLE profile_merges (
            profile TEXT PRIMARY KEY,
            into_profile TEXT NOT NULL,                        -- whose all of it is; no profile of this table
            CHECK (profile <> into_profile)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX events_by_profile_uuid ON events (profile_uuid) WHERE profile_uuid IS NOT NULL;
        """)

    /// Merges of which other machines are to know before they begin.
    static let mergeAnnouncements = Migration(
        "announced merges of profiles",
        """
        CREATE TABLE merge_announcements (
            profile TEXT PRIMARY KEY,
            into_profile TEXT NOT NULL,
            CHECK (profile <> into_profile)
        ) STRICT, WITHOUT ROWID;
        """)

    static let archiveNotes = Migration(
        "what archived photos tell of themselves",
        // `etag` and `modified` are of a listing: the rest was told by this version of the object. What begins with
        // `meta_` is as it stands in its metadata; NULL: it does not.
        """
        CREATE TABLE archive_notes (
            key TEXT PRIMARY KEY,
            etag TEXT NOT NULL,
            modified INTEGER NOT NULL,
            content_type TEXT,
            meta_event_id TEXT,
            meta_type TEXT,
            meta_created_at TEXT,
            meta_archived_at TEXT,
            meta_sha256 TEXT,
            meta_width TEXT,
            meta_height TEXT
        ) STRICT, WITHOUT ROWID
        """)
}
