import GRDB

/// A migration: what servers refused waits, and is no longer failed; commands can ask the agent to try again. It has
/// shipped when you read this: see ``Schema``.
enum QueueSchema {
    static let all = [delayed, refused, asked]

    // Photos that were tried and have to wait: `status` names the oldest of them.
    private static let delayed = """
        CREATE INDEX IF NOT EXISTS photos_delayed ON photos (folder_id, queued_at)
            WHERE state = 'pending' AND error IS NOT NULL AND attempts > 0;
        """

    // What a store had against a photo begins with the request: `put users/ana/photos/….dat: …`. In files of events it
    // stands behind the event's id.
    private static let refused = """
        UPDATE photos SET state = 'pending', attempts = 0, next_try_at = 0
        WHERE state = 'failed' AND (
            error GLOB 'put *: *' OR error GLOB 'put: *' OR error GLOB '*: put *: *'
            OR error GLOB 'head *: *' OR error GLOB 'head: *' OR error GLOB '*: head *: *'
            OR error GLOB 'verify *: *' OR error GLOB '*: verify *: *'
            OR error GLOB 'copy *: *' OR error GLOB 'delete *: *' OR error GLOB '*: delete *: *'
            OR error GLOB 'get *: *' OR error GLOB 'list *: *' OR error GLOB 'list: *' OR error GLOB 'check: *'
        );
        """

    // Counts how often people have asked for another try.
    private static let asked = """
        ALTER TABLE agent ADD COLUMN retries_asked INTEGER NOT NULL DEFAULT 0;
        """
}

/// A migration: what a stored copy has not of its photo, and what else is to be known of it. It has shipped when you read
/// this: see ``Schema``.
enum CopySchema {
    static let name = "what copies leave out"

    static let all = [
        "ALTER TABLE objects ADD COLUMN dropped TEXT",  // names, with commas between; NULL: nothing that is known
        "ALTER TABLE objects ADD COLUMN note TEXT",
    ]
}

/// Which embedded store the objects are in: the id in its marker.
enum StoreIDSchema {
    static let all = ["ALTER TABLE agent ADD COLUMN store_id TEXT"]
}

/// A migration: the two times of a file that no program can set back. It has shipped when you read this: see ``Schema``.
///
/// NULL: not noted yet, or nothing that the file system tells. Both are nanoseconds since 1970.
enum StampSchema {
    static let all = [
        "ALTER TABLE photos ADD COLUMN changed INTEGER",
        "ALTER TABLE photos ADD COLUMN born INTEGER",
        "ALTER TABLE project_lists ADD COLUMN changed INTEGER",
        "ALTER TABLE project_lists ADD COLUMN born INTEGER",
    ]
}

/// A migration: objects are found by the digest of their bytes. It has shipped when you read this: see ``Schema``.
enum StoredDigestSchema {
    static let name = "objects by the digest of their bytes"
    static let all = ["CREATE INDEX objects_by_sha256 ON objects (sha256, key);"]
}

/// A migration: what is mounted below watched folders. It has shipped when you read this: see ``Schema``.
enum MountSchema {
    static let all = [
        """
        CREATE TABLE folder_mounts (
            folder_id INTEGER NOT NULL REFERENCES folders (id),
            path BLOB NOT NULL,                                -- below the folder, as in directories
            is_mounted INTEGER NOT NULL CHECK (is_mounted IN (0, 1)),
            since INTEGER NOT NULL,                            -- when that was seen first
            PRIMARY KEY (folder_id, path)
        ) STRICT, WITHOUT ROWID;
        """
    ]
}

/// A migration: photos that were in hand when the agent ended uncleanly. It has shipped when you read this: see ``Schema``.
enum SuspectSchema {
    static let name = "photos in hand at unclean ends"

    // `decoding` while a library has the photo: an agent that ends then ends with it.
    static let all = [
        """
        CREATE TABLE suspects (
            photo_id INTEGER PRIMARY KEY REFERENCES photos (id) ON DELETE CASCADE,
            generation INTEGER NOT NULL,
            decoding INTEGER NOT NULL DEFAULT 0 CHECK (decoding IN (0, 1))
        ) STRICT;
        """
    ]
}

/// A migration: what is left out on purpose, to be counted and named. It has shipped when you read this: see ``Schema``.
enum LeftOutSchema {
    // The column tells nothing of a photo that is not skipped: each decision to skip it writes it anew.
    static let all = [
        "ALTER TABLE photos ADD COLUMN left_out TEXT;",
        """
        UPDATE photos SET left_out = CASE
            WHEN error = 'no record in projects.json' THEN 'unrecorded'
            WHEN error LIKE 'a duplicate of project %' THEN 'duplicate'
            WHEN error LIKE 'its project has been processing %' THEN 'dropped'
            WHEN error LIKE 'its project failed;%' THEN 'failed'
        END WHERE state = 'skipped' AND CAST(name AS TEXT) NOT LIKE '%.json';
        """,
        """
        CREATE INDEX photos_left_out ON photos (folder_id, queued_at)
            WHERE state = 'skipped' AND left_out IS NOT NULL;
        """,
        "CREATE INDEX event_notes_malformed ON event_notes (malformed) WHERE malformed > 0;",
    ]
}

/// A migration: of which photos of a share the file decides, and to whom a share is to be sent. It has shipped when you
/// read this: see ``Schema``.
enum ShareLookSchema {
    static let name = "what shares were made of"
    static let all = [files, recipients, links]

    // Where the photo was on the disk when it was chosen, nothing but that very file is shared: what its owner has
    // changed or removed since is not taken from the store. Shares of before are taken for such, unless they wait for
    // the archive.
    private static let files = """
        ALTER TABLE share_photos ADD COLUMN is_local INTEGER NOT NULL DEFAULT 1 CHECK (is_local IN (0, 1));
        UPDATE share_photos SET is_local = 0 WHERE share IN (SELECT number FROM shares WHERE state = 'waiting');
        """

    private static let links = """
        ALTER TABLE shares ADD COLUMN link_end_is_known INTEGER NOT NULL DEFAULT 1 CHECK (link_end_is_known IN (0, 1));
        """

    private static let recipients = """
        ALTER TABLE shares ADD COLUMN recipient TEXT;          -- whatsapp:+49…, sms:+49…, email:…; NULL when it is over
        """
}

/// A migration: offsets of capture times, and of which objects the time was not read since. It has shipped when you read
/// this: see ``Schema``.
///
/// `taken_at` is milliseconds since 1970-01-01T00:00 on the clock of the place. In rows of before (`taken_rules = 0`) it was
/// UTC where the offset was known, and the camera's clock where it was not.
enum CaptureTimeSchema {
    static let name = "offsets of capture times"
    static let all = [
        "ALTER TABLE objects ADD COLUMN taken_offset INTEGER",  // minutes ahead of UTC; NULL: not known
        "ALTER TABLE objects ADD COLUMN taken_rules INTEGER NOT NULL DEFAULT 0",
        "CREATE INDEX objects_taken_before ON objects (id) WHERE taken_rules = 0",
        "ALTER TABLE share_photos ADD COLUMN taken_offset INTEGER",
    ]
}

/// A migration: several events may have one id. It has shipped when you read this: see ``Schema``.
enum EventIdentitySchema {
    static let name = "events under one id"
    static let all = [identity, renames, unread]

    // event_id stays unique: the id as it is given, and of a second event with that id with U+001F and a number behind it,
    // which no id holds. mark tells the photo of an event apart before it is stored: the MD5 of one in its file, a `/` and
    // the name of one beside it; NULL where that is not known.
    private static let identity = """
        ALTER TABLE events ADD COLUMN given_id TEXT
            GENERATED ALWAYS AS (substr(event_id, 1, instr(event_id || char(31), char(31)) - 1)) VIRTUAL;
        ALTER TABLE events ADD COLUMN mark BLOB;
        CREATE INDEX events_by_given_id ON events (given_id);
        CREATE INDEX retention_records_by_key ON retention_records (key);
        """

    // Before, files of some shapes were no files of events, and photos in the data of events were not seen.
    private static let unread = """
        UPDATE photos SET state = 'pending', generation = generation + 1, attempts = 0, next_try_at = 0, error = NULL
        WHERE state IN ('uploaded', 'skipped', 'failed') AND (CAST(name AS TEXT) LIKE '%.json'
            OR CAST(name AS TEXT) LIKE '%.jsonl' OR CAST(name AS TEXT) LIKE '%.ndjson')
        AND folder_id IN (SELECT id FROM folders WHERE kind = 'gallery');
        """

    // The name of a file may be the id of its event.
    private static let renames = """
        CREATE TRIGGER event_file_renamed AFTER UPDATE OF name ON photos
        WHEN NEW.name <> OLD.name AND NEW.state <> 'missing' BEGIN
            UPDATE photos SET state = CASE state WHEN 'uploading' THEN 'uploading' ELSE 'pending' END,
                generation = generation + 1, attempts = 0, next_try_at = 0, error = NULL
            WHERE id = NEW.id AND EXISTS (SELECT 1 FROM event_files WHERE photo_id = NEW.id);
        END;
        """
}

/// A migration: what was stored of earlier contents of photos, and what lies in watched folders and is never stored. It has
/// shipped when you read this: see ``Schema``.
enum EarlierVersionSchema {
    static let name = "earlier versions of photos, entries that are left out"
    static let all = [versions, notes, entries]

    // A row as long as the object is known. A content that comes back is no earlier one any more.
    private static let versions = """
        CREATE TABLE photo_versions (
            photo_id INTEGER NOT NULL REFERENCES photos (id) ON DELETE CASCADE,
            object_id INTEGER NOT NULL REFERENCES objects (id) ON DELETE CASCADE,
            stored_at INTEGER NOT NULL,                        -- when it became what is stored of the photo
            replaced_at INTEGER NOT NULL,
            PRIMARY KEY (photo_id, object_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX photo_versions_by_object ON photo_versions (object_id);
        """

    private static let notes = """
        CREATE TRIGGER photo_version_replaced AFTER UPDATE OF object_id ON photos
        WHEN OLD.object_id IS NOT NULL AND NEW.object_id IS NOT NULL AND NEW.object_id <> OLD.object_id BEGIN
            INSERT INTO photo_versions
            VALUES (NEW.id, OLD.object_id, COALESCE(OLD.uploaded_at, 0), COALESCE(NEW.uploaded_at, 0))
            ON CONFLICT DO UPDATE SET stored_at = excluded.stored_at, replaced_at = excluded.replaced_at;
            DELETE FROM photo_versions WHERE photo_id = NEW.id AND object_id = NEW.object_id;
        END;
        """

    private static let entries = """
        CREATE TABLE left_out_entries (
            folder_id INTEGER NOT NULL REFERENCES folders (id),
            path BLOB NOT NULL,                                -- below the folder
            reason TEXT NOT NULL,
            PRIMARY KEY (folder_id, path)
        ) STRICT, WITHOUT ROWID;
        """
}

/// A migration: who has the request of a restore in hand. It has shipped when you read this: see ``Schema``.
enum RestoreClaimSchema {
    static let name = "owners of restores that are being sent"
    static let all = [
        "ALTER TABLE restore_items ADD COLUMN claimed_by TEXT",
        "CREATE INDEX restore_items_claimed ON restore_items (claimed_by) WHERE claimed_by IS NOT NULL",
    ]
}

/// A migration: a write of the catalogue that was under way. It has shipped when you read this: see ``Schema``.
enum CatalogWriteSchema {
    static let name = "interrupted writes of the catalogue"

    static let all = [
        // JSON: a segment on its way to the store; NULL: none.
        "ALTER TABLE agent ADD COLUMN catalog_begun TEXT"
    ]
}

/// A migration: a rebuild that has not come to its end. It has shipped when you read this: see ``Schema``.
enum RebuildSchema {
    static let name = "rebuilds under way"

    static let all = [
        // The id of the machine whose place is taken; '': of none; NULL: no rebuild is under way.
        "ALTER TABLE agent ADD COLUMN rebuild_of TEXT"
    ]
}

/// A migration: what was put into the store for shares. It has shipped when you read this: see ``Schema``.
enum ShareObjectSchema {
    static let name = "objects of shares"

    // Photos, thumbnails, page and manifest, each as it was put there last. What was put by an earlier version is not here.
    static let all = [
        """
        CREATE TABLE share_objects (
            share INTEGER NOT NULL REFERENCES shares (number) ON DELETE CASCADE,
            key TEXT NOT NULL,
            sha256 BLOB NOT NULL,
            etag TEXT,                                         -- as the store gave it
            PRIMARY KEY (share, key)
        ) STRICT, WITHOUT ROWID;
        """
    ]
}

/// A migration: what was deleted for good, which another store may still have. It has shipped when you read this: see
/// ``Schema``.
enum ForgottenSchema {
    static let name = "keys that were forgotten"
    static let all = [
        """
        CREATE TABLE forgotten_keys (key TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
        INSERT INTO forgotten_keys SELECT key FROM object_deletions;
        """
    ]
}

/// A migration: originals, kept beside the copies. It has shipped when you read this: see ``Schema``.
enum OriginalSchema {
    static let name = "originals"
    static let all = [
        "ALTER TABLE objects ADD COLUMN encoding TEXT",  // of an original: 'none', 'jxl'; NULL: not known
        // The generation of which the original is kept, or need not be.
        "ALTER TABLE photos ADD COLUMN original_generation INTEGER",
        """
        CREATE INDEX photos_without_original ON photos (id)
            WHERE state = 'uploaded' AND original_generation IS NOT generation;
        """,
    ]
}

/// A migration: originals on their way. It has shipped when you read this: see ``Schema``.
enum OriginalUploadSchema {
    static let name = "originals on their way"
    static let all = [
        """
        CREATE TABLE original_uploads (
            id INTEGER PRIMARY KEY AUTOINCREMENT,              -- never used twice: a late note must not meet another's row
            key TEXT NOT NULL UNIQUE,
            is_void INTEGER NOT NULL DEFAULT 0 CHECK (is_void IN (0, 1))  -- 1: its photo was forgotten meanwhile
        ) STRICT;
        """
    ]
}

/// A migration: films. It has shipped when you read this: see ``Schema``.
enum FilmSchema {
    static let name = "films"
    static let all = [
        "ALTER TABLE objects ADD COLUMN duration INTEGER",  // milliseconds; NULL: not known
        // Of the copy that is shared. The type is NULL where it is a JPEG.
        "ALTER TABLE share_photos ADD COLUMN media_type TEXT",
        "ALTER TABLE share_photos ADD COLUMN duration INTEGER",
        "ALTER TABLE share_photos ADD COLUMN has_poster INTEGER NOT NULL DEFAULT 1 CHECK (has_poster IN (0, 1))",
    ]
}
