/// What has changed of objects and of the store since the first version. It has shipped when you read this: see
/// ``Schema``.
extension Migration {
    /// Which embedded store the objects are in: the id in its marker.
    static let storeID = Migration("id of the store", "ALTER TABLE agent ADD COLUMN store_id TEXT")

    static let storedDigests = Migration(
        "objects by the digest of their bytes",
        "CREATE INDEX objects_by_sha256 ON objects (sha256, key);")

    static let copies = Migration(
        "what copies leave out",
        "ALTER TABLE objects ADD COLUMN dropped TEXT",  // names, with commas between; NULL: nothing that is known
        "ALTER TABLE objects ADD COLUMN note TEXT")

    /// `taken_at` is milliseconds since 1970-01-01T00:00 on the clock of the place. In rows of before (`taken_rules =
    /// 0`) it was UTC where the offset was known, and the camera's clock where it was not.
    static let captureTimes = Migration(
        "offsets of capture times",
        "ALTER TABLE objects ADD COLUMN taken_offset INTEGER",  // minutes ahead of UTC; NULL: not known
        "ALTER TABLE objects ADD COLUMN taken_rules INTEGER NOT NULL DEFAULT 0",
        "CREATE INDEX objects_taken_before ON objects (id) WHERE taken_rules = 0",
        "ALTER TABLE share_photos ADD COLUMN taken_offset INTEGER")

    static let deletions = Migration(
        "deletions for good",
        // Objects that nothing refers to any more, until the store has proved that they are gone. sent_at: a request to
        // delete it may be under way; before that, whoever stores the photo anew takes the row away. last_attempt: an
        // upload that began before the object was gone may have seen it: its row stays until they have all ended.
        """
        CREATE TABLE object_deletions (
            key TEXT PRIMARY KEY,
            size INTEGER NOT NULL,
            storage_class TEXT NOT NULL,
            begun_at INTEGER NOT NULL,
            sent_at INTEGER,
            gone_at INTEGER,
            last_attempt INTEGER,
            CHECK ((gone_at IS NULL) = (last_attempt IS NULL)),
            CHECK (gone_at IS NULL OR sent_at IS NOT NULL)
        ) STRICT, WITHOUT ROWID;
        """,
        // Of those that are gone already, nobody knows since when: from now on, it is known.
        """
        ALTER TABLE photos ADD COLUMN missing_since INTEGER;
        UPDATE photos SET missing_since = CAST(strftime('%s', 'now') AS INTEGER) * 1000
            WHERE state IN ('missing', 'lost');
        """,
        // Photos that its manifest names were forgotten since it was written.
        """
        ALTER TABLE vacations ADD COLUMN has_forgotten INTEGER NOT NULL DEFAULT 0 CHECK (has_forgotten IN (0, 1));
        """)

    /// What was deleted for good, which another store may still have.
    static let forgottenKeys = Migration(
        "keys that were forgotten",
        """
        CREATE TABLE forgotten_keys (key TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
        INSERT INTO forgotten_keys SELECT key FROM object_deletions;
        """)

    static let originals = Migration(
        "originals",
        "ALTER TABLE objects ADD COLUMN encoding TEXT",  // of an original: 'none', 'jxl'; NULL: not known
        // The generation of which the original is kept, or need not be.
        "ALTER TABLE photos ADD COLUMN original_generation INTEGER",
        """
        CREATE INDEX photos_without_original ON photos (id)
            WHERE state = 'uploaded' AND original_generation IS NOT generation;
        """)

    static let otherDamage = Migration(
        "damaged objects of silent machines",
        """
        CREATE TABLE other_damage (
            key TEXT PRIMARY KEY,
            machine TEXT,                                      -- what people call it; NULL: no catalogue names the object
            path BLOB,                                         -- there
            problem TEXT NOT NULL,
            found_at INTEGER NOT NULL,
            seen_at INTEGER NOT NULL                           -- when it was looked at last
        ) STRICT, WITHOUT ROWID;
        """)

    static let originalUploads = Migration(
        "originals on their way",
        """
        CREATE TABLE original_uploads (
            id INTEGER PRIMARY KEY AUTOINCREMENT,              -- never used twice: a late note must not meet another's row
            key TEXT NOT NULL UNIQUE,
            is_void INTEGER NOT NULL DEFAULT 0 CHECK (is_void IN (0, 1))  -- 1: its photo was forgotten meanwhile
        ) STRICT;
        """)

    static let counters = Migration(
        "counters",
        // They only grow, for as long as there is this ledger.
        """
        CREATE TABLE counters (
            name TEXT NOT NULL,
            label TEXT NOT NULL,                               -- '' where the counter has none
            value INTEGER NOT NULL,
            PRIMARY KEY (name, label)
        ) STRICT, WITHOUT ROWID;
        """)

    /// What people were told, and is not over.
    static let standingNotices = Migration(
        "standing notices",
        """
        CREATE TABLE standing_notices (
            kind TEXT NOT NULL,
            subject TEXT NOT NULL,                             -- '' where there is one of the kind
            told_at INTEGER NOT NULL,
            PRIMARY KEY (kind, subject)
        ) STRICT, WITHOUT ROWID;
        """)

    static let unclearObjects = Migration(
        "objects that the store could not tell of",
        // When all were compared with its listing last.
        "ALTER TABLE agent ADD COLUMN unclear_objects INTEGER NOT NULL DEFAULT 0 CHECK (unclear_objects >= 0)")

    static let listing = Migration(
        "objects as they are listed",
        // Keys say nothing of when a row came: in their order, nearly each row is in another page of the file.
        """
        CREATE INDEX objects_listed
            ON objects (key, size, storage_class, restore_state, restored_until, etag, problem);
        """)

    static let undecidedObjects = Migration(
        "objects that nobody can tell of",
        // agent.unclear_objects counts those that a look has found beside these.
        """
        CREATE TABLE unclear_objects (
            key TEXT PRIMARY KEY,
            is_unseen INTEGER NOT NULL CHECK (is_unseen IN (0, 1)),  -- 1: the last look could not look at it
            is_unread INTEGER NOT NULL CHECK (is_unread IN (0, 1))  -- 1: it is to be read, and no listing decides
        ) STRICT, WITHOUT ROWID;
        CREATE TRIGGER unclear_object_removed AFTER DELETE ON objects BEGIN
            DELETE FROM unclear_objects WHERE key = OLD.key;
        END;
        CREATE TRIGGER unclear_object_decided AFTER UPDATE OF key, stored_at, problem, verified_at ON objects
        WHEN NEW.key <> OLD.key OR NEW.stored_at <> OLD.stored_at OR NEW.problem IS NOT OLD.problem
            OR NEW.verified_at IS NOT OLD.verified_at
        BEGIN
            DELETE FROM unclear_objects WHERE key = OLD.key;
        END;
        """)

    static let archiveOrder = Migration(
        "objects by their age",
        // Keys are spread: each object that is stored was put into another page of an index that begins with them. And
        // who looks for the old ones has no young ones to pass.
        "DROP INDEX objects_unarchived",
        """
        CREATE INDEX objects_unarchived ON objects (stored_at, key, size)
            WHERE storage_class NOT IN ('GLACIER', 'DEEP_ARCHIVE');
        """)

    static let storeRefusal = Migration(
        "stores that refuse photos",
        // 1: store_error is of a store that answers, and takes no photos. It outlasts a good answer.
        "ALTER TABLE agent ADD COLUMN store_refuses INTEGER NOT NULL DEFAULT 0 CHECK (store_refuses IN (0, 1))",
        // Of what is noted already nobody knows which it is.
        "UPDATE agent SET store_refuses = 1 WHERE store_error IS NOT NULL")

    static let deniedObjects = Migration(
        "objects that the store denied",
        // To a run of some work; its next run asks for them last.
        """
        CREATE TABLE denied_objects (
            work TEXT NOT NULL,
            key TEXT NOT NULL,
            denied_at INTEGER NOT NULL,
            PRIMARY KEY (work, key)
        ) STRICT, WITHOUT ROWID;
        """)

    /// What was damaged and may be in the store still is none that a rebuild may take for whole. No ETag is kept with
    /// it: the one that is known is that of what was stored, and not that of what has come into its place.
    static let forgottenRuins = Migration(
        "damaged objects that were forgotten",
        """
        CREATE TABLE forgotten_ruins (
            key TEXT PRIMARY KEY,
            problem TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
        """)

    /// Whose the versions of before are, no row tells: this machine may have set aside what another one counts as its
    /// own, and a rebuild has noted all that the store had.
    static let versionMakers = Migration(
        "whose versions of projects are",
        """
        ALTER TABLE project_versions ADD COLUMN maker TEXT NOT NULL DEFAULT 'unknown'
            CHECK (maker IN ('this', 'other', 'unknown'));
        """)

    static let listedRuins = Migration(
        "damaged objects as they were listed",
        // Size, ETag and time, when it was looked at last and was damaged; NULL: it is to be looked at again.
        "ALTER TABLE objects ADD COLUMN ruin TEXT")
}
