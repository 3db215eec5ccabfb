import FoundationEssentials
import GRDB

/// What has changed of folders and photos since the first version. It has shipped when you read this: see ``Schema``.
extension Migration {
    static let whatIsLeftOut = Migration(
        "what is left out",
        // The column tells nothing of a photo that is not skipped: each decision to skip it writes it anew.
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
        "CREATE INDEX event_notes_malformed ON event_notes (malformed) WHERE malformed > 0;")

    /// The two times of a file that no program can set back. NULL: not noted yet, or nothing that the file system
    /// tells. Both are nanoseconds since 1970.
    static let stamps = Migration(
        "times of change and birth",
        "ALTER TABLE photos ADD COLUMN changed INTEGER",
        "ALTER TABLE photos ADD COLUMN born INTEGER",
        "ALTER TABLE project_lists ADD COLUMN changed INTEGER",
        "ALTER TABLE project_lists ADD COLUMN born INTEGER")

    static let mounts = Migration(
        "mounts below folders",
        """
        CREATE TABLE folder_mounts (
            folder_id INTEGER NOT NULL REFERENCES folders (id),
            path BLOB NOT NULL,                                -- below the folder, as in directories
            is_mounted INTEGER NOT NULL CHECK (is_mounted IN (0, 1)),
            since INTEGER NOT NULL,                            -- when that was seen first
            PRIMARY KEY (folder_id, path)
        ) STRICT, WITHOUT ROWID;
        """)

    /// What servers refused waits, and is no longer failed; commands can ask the agent to try again.
    static let refusals = Migration(
        "what servers refused",
        // Photos that were tried and have to wait: `status` names the oldest of them.
        """
        CREATE INDEX IF NOT EXISTS photos_delayed ON photos (folder_id, queued_at)
            WHERE state = 'pending' AND error IS NOT NULL AND attempts > 0;
        """,
        // What a store had against a photo begins with the request: `put users/ana/photos/….dat: …`. In files of events
        // it stands behind the event's id.
        """
        UPDATE photos SET state = 'pending', attempts = 0, next_try_at = 0
        WHERE state = 'failed' AND (
            error GLOB 'put *: *' OR error GLOB 'put: *' OR error GLOB '*: put *: *'
            OR error GLOB 'head *: *' OR error GLOB 'head: *' OR error GLOB '*: head *: *'
            OR error GLOB 'verify *: *' OR error GLOB '*: verify *: *'
            OR error GLOB 'copy *: *' OR error GLOB 'delete *: *' OR error GLOB '*: delete *: *'
            OR error GLOB 'get *: *' OR error GLOB 'list *: *' OR error GLOB 'list: *' OR error GLOB 'check: *'
        );
        """,
        // Counts how often people have asked for another try.
        """
        ALTER TABLE agent ADD COLUMN retries_asked INTEGER NOT NULL DEFAULT 0;
        """)

    static let suspects = Migration(
        "photos in hand at unclean ends",
        // `decoding` while a library has the photo: an agent that ends then ends with it.
        """
        CREATE TABLE suspects (
            photo_id INTEGER PRIMARY KEY REFERENCES photos (id) ON DELETE CASCADE,
            generation INTEGER NOT NULL,
            decoding INTEGER NOT NULL DEFAULT 0 CHECK (decoding IN (0, 1))
        ) STRICT;
        """)

    static let earlierVersions = Migration(
        "earlier versions of photos, entries that are left out",
        // A row as long as the object is known. A content that comes back is no earlier one any more.
        """
        CREATE TABLE photo_versions (
            photo_id INTEGER NOT NULL REFERENCES photos (id) ON DELETE CASCADE,
            object_id INTEGER NOT NULL REFERENCES objects (id) ON DELETE CASCADE,
            stored_at INTEGER NOT NULL,                        -- when it became what is stored of the photo
            replaced_at INTEGER NOT NULL,
            PRIMARY KEY (photo_id, object_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX photo_versions_by_object ON photo_versions (object_id);
        """,
        """
        CREATE TRIGGER photo_version_replaced AFTER UPDATE OF object_id ON photos
        WHEN OLD.object_id IS NOT NULL AND NEW.object_id IS NOT NULL AND NEW.object_id <> OLD.object_id BEGIN
            INSERT INTO photo_versions
            VALUES (NEW.id, OLD.object_id, COALESCE(OLD.uploaded_at, 0), COALESCE(NEW.uploaded_at, 0))
            ON CONFLICT DO UPDATE SET stored_at = excluded.stored_at, replaced_at = excluded.replaced_at;
            DELETE FROM photo_versions WHERE photo_id = NEW.id AND object_id = NEW.object_id;
        END;
        """,
        """
        CREATE TABLE left_out_entries (
            folder_id INTEGER NOT NULL REFERENCES folders (id),
            path BLOB NOT NULL,                                -- below the folder
            reason TEXT NOT NULL,
            PRIMARY KEY (folder_id, path)
        ) STRICT, WITHOUT ROWID;
        """)

    static let matches = Migration(
        "files that were matched and not read",
        """
        CREATE TABLE matched_photos (
            photo_id INTEGER PRIMARY KEY REFERENCES photos (id) ON DELETE CASCADE
        ) STRICT;
        """)

    static let filters = Migration(
        "filters of folders",
        // The rules, one a line.
        "ALTER TABLE folders ADD COLUMN filter TEXT NOT NULL DEFAULT ''",
        // Says something of what is skipped.
        "ALTER TABLE photos ADD COLUMN is_filtered INTEGER NOT NULL DEFAULT 0 CHECK (is_filtered IN (0, 1))",
        "CREATE INDEX photos_filtered ON photos (folder_id) WHERE state = 'skipped' AND is_filtered = 1")

    static let untoldFiles = Migration(
        "files that came untold",
        "ALTER TABLE folders ADD COLUMN untold BLOB",  // below the folder; NULL where each was told
        "ALTER TABLE folders ADD COLUMN untold_at INTEGER")  // nanoseconds since 1970

    static let folderDigests = Migration(
        "digests of directories",
        // What says that a directory is as it is known goes with the first change of what is known.
        "ALTER TABLE directories ADD COLUMN digest BLOB",  // NULL: it has to be compared
        "ALTER TABLE directories ADD COLUMN digest_files INTEGER",  // of the directory with that digest
        """
        CREATE TRIGGER directory_gets_row AFTER INSERT ON photos BEGIN
            UPDATE directories SET digest = NULL WHERE id = NEW.directory_id AND digest IS NOT NULL;
        END
        """,
        """
        CREATE TRIGGER directory_loses_row AFTER DELETE ON photos BEGIN
            UPDATE directories SET digest = NULL WHERE id = OLD.directory_id AND digest IS NOT NULL;
        END
        """,
        """
        CREATE TRIGGER directory_has_other_row
        AFTER UPDATE OF directory_id, name, device, inode, size, modified, changed, born, state, gone ON photos
        WHEN OLD.directory_id <> NEW.directory_id OR OLD.name <> NEW.name OR OLD.gone <> NEW.gone
            OR OLD.device <> NEW.device OR OLD.inode <> NEW.inode OR OLD.size <> NEW.size
            OR OLD.modified <> NEW.modified OR OLD.changed IS NOT NEW.changed OR OLD.born IS NOT NEW.born
            OR (OLD.state = 'missing' OR OLD.state = 'lost') <> (NEW.state = 'missing' OR NEW.state = 'lost')
        BEGIN
            UPDATE directories SET digest = NULL
            WHERE digest IS NOT NULL AND (id = OLD.directory_id OR id = NEW.directory_id);
        END
        """)

    static let removals = Migration(
        "files that are being removed",
        // Files of events in which nothing is left. The generation is that of the file when it was so.
        """
        CREATE TABLE file_removals (
            photo_id INTEGER PRIMARY KEY REFERENCES photos (id) ON DELETE CASCADE,
            generation INTEGER NOT NULL
        ) STRICT
        """)

    static let folderDrives = Migration(
        "drives of folders",
        // A folder itself, and each place below it where another drive begins. What is in neither is as above it.
        """
        CREATE TABLE folder_drives (
            folder_id INTEGER NOT NULL REFERENCES folders (id),
            path BLOB NOT NULL,                                -- below the folder, as in directories
            drive TEXT NOT NULL,                               -- how the file system of its photos is recognised
            PRIMARY KEY (folder_id, path)
        ) STRICT, WITHOUT ROWID;
        """)

    static let supposedDrives = Migration(
        "photos that count as copies on another drive",
        // On which a file has the stamp of the photo, as long as its content was not compared: 0, on one that cannot be
        // recognised later; -1, a file that had the stamp was another photo; NULL, on no other than `drive`.
        "ALTER TABLE photos ADD COLUMN supposed_drive INTEGER")

    static let untoldDrives = Migration(
        "photos of drives that told nothing",
        """
        CREATE INDEX photos_untold ON photos (folder_id, directory_id)
            WHERE drive IS NULL AND state <> 'missing' AND state <> 'lost';
        """)

    /// A name with a wildcard in it, and nothing known by it any more, could be read as a pattern for other photos.
    static let formerNames = Migration(
        "names of before that look like wildcards",
        """
        CREATE TABLE former_names (path BLOB PRIMARY KEY) STRICT, WITHOUT ROWID;

        CREATE TRIGGER photo_left_its_name AFTER DELETE ON photos
        WHEN instr(OLD.name, x'2A') OR instr(OLD.name, x'3F') OR instr(OLD.name, x'5B') BEGIN
            INSERT OR IGNORE INTO former_names
            SELECT CAST(folders.path || rtrim(directories.path, '/') || '/' || OLD.name AS BLOB)
            FROM directories JOIN folders ON folders.id = directories.folder_id WHERE directories.id = OLD.directory_id;
        END;

        CREATE TRIGGER photo_got_another_name AFTER UPDATE OF directory_id, name ON photos
        WHEN instr(OLD.name, x'2A') OR instr(OLD.name, x'3F') OR instr(OLD.name, x'5B') BEGIN
            INSERT OR IGNORE INTO former_names
            SELECT CAST(folders.path || rtrim(directories.path, '/') || '/' || OLD.name AS BLOB)
            FROM directories JOIN folders ON folders.id = directories.folder_id WHERE directories.id = OLD.directory_id;
        END;

        CREATE TRIGGER directory_left_its_name AFTER DELETE ON directories
        WHEN instr(OLD.path, x'2A') OR instr(OLD.path, x'3F') OR instr(OLD.path, x'5B') BEGIN
            INSERT OR IGNORE INTO former_names
            SELECT CAST(path || OLD.path AS BLOB) FROM folders WHERE id = OLD.folder_id;
        END;
        """)

    static let photoDrives = Migration(name: "drives of photos") { db in
        try db.execute(
            sql: """
                CREATE TABLE drives (
                    id INTEGER PRIMARY KEY,
                    identity TEXT NOT NULL UNIQUE              -- as in folder_drives
                ) STRICT;
                INSERT INTO drives (identity) SELECT DISTINCT drive FROM folder_drives;
                -- On which the file was seen last; NULL: not known, or one that cannot be recognised later.
                ALTER TABLE photos ADD COLUMN drive INTEGER REFERENCES drives (id);
                -- What was found on another drive than the one of its place says so when it is seen.
                UPDATE directories SET digest = NULL
                WHERE digest IS NOT NULL AND folder_id IN (SELECT folder_id FROM folder_drives);
                """)
        // The deepest place of a photo comes last. Where a drive was mounted that told nothing, none is known.
        let places = try Row.fetchAll(
            db,
            sql: """
                SELECT folder_id, path, drive FROM (
                    SELECT folder_drives.folder_id, folder_drives.path, drives.id AS drive FROM folder_drives
                    JOIN drives ON drives.identity = folder_drives.drive
                    UNION ALL
                    SELECT folder_id, path, NULL FROM folder_mounts
                    WHERE (folder_id, path) NOT IN (SELECT folder_id, path FROM folder_drives)
                ) ORDER BY length(path)
                """)
        for place in places {
            let (folder, path, drive): (Int64, Data, Int64?) = (place[0], place[1], place[2])
            try db.execute(
                sql: """
                    UPDATE photos SET drive = ?3
                    WHERE state NOT IN ('missing', 'lost') AND gone = 0 AND directory_id IN (
                        SELECT id FROM directories WHERE folder_id = ?1 AND (?2 = X'2F' OR path = ?2
                            OR substr(path, 1, length(?2)) = ?2 AND substr(path, length(?2) + 1, 1) = X'2F')
                    )
                    """, arguments: [folder, path, drive])
        }
    }

    /// Keys of projects are made of names. A file of another folder could get the key of a stored one, which counted as
    /// stored all the same; what has replaced a content since is noted with it.
    static let otherProjectContents = Migration(
        "files of projects of which another content is stored",
        """
        CREATE TEMP TABLE not_stored AS
        SELECT photos.id, photos.object_id AS other, (
            SELECT kept.id FROM project_versions JOIN objects AS kept ON kept.key = project_versions.key
            WHERE kept.md5 = photos.md5 AND kept.problem IS NULL AND photos.state <> 'uploading'
            ORDER BY kept.key DESC LIMIT 1
        ) AS version
        FROM photos
        JOIN folders ON folders.id = photos.folder_id
        JOIN objects ON objects.id = photos.object_id
        WHERE folders.kind = 'projects' AND folders.machine IS NULL AND photos.object_generation = photos.generation
            AND photos.md5 <> objects.md5;
        -- Their content was kept when the other one took its place: the version is what they are stored as, and stays.
        UPDATE photos SET object_id = (SELECT version FROM not_stored WHERE not_stored.id = photos.id),
            state = IIF(state = 'lost', 'missing', state), error = IIF(state = 'lost', NULL, error)
        WHERE id IN (SELECT id FROM not_stored WHERE version IS NOT NULL);
        -- A trigger takes that for new contents of theirs.
        DELETE FROM photo_versions
        WHERE (photo_id, object_id) IN (SELECT id, other FROM not_stored WHERE version IS NOT NULL);
        DELETE FROM not_stored WHERE version IS NOT NULL;
        -- Nothing of these is left.
        DELETE FROM photos WHERE id IN (SELECT id FROM not_stored) AND state IN ('missing', 'lost');
        UPDATE photos SET object_id = NULL, object_generation = NULL, uploaded_at = NULL,
            state = IIF(state = 'uploaded', 'pending', state), next_try_at = 0
        WHERE id IN (SELECT id FROM not_stored);
        DROP TABLE not_stored;
        -- An earlier version that was replaced before what its key has now was stored.
        DELETE FROM photo_versions
        WHERE photo_id IN (
            SELECT photos.id FROM photos JOIN folders ON folders.id = photos.folder_id
            WHERE folders.kind = 'projects' AND folders.machine IS NULL
        ) AND stored_at <= replaced_at AND replaced_at < (
            SELECT objects.stored_at FROM objects
            WHERE objects.id = photo_versions.object_id AND objects.key NOT IN (SELECT key FROM project_versions)
        );
        """)
}
