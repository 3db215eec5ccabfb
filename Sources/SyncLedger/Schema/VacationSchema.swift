/// A migration: vacations and the counts of their photos. It has shipped when you read this: see ``Schema``.
enum VacationSchema {
    static let migration = Migration("vacations", vacations, directories, photos, folders)

    // A vacation is a folder directly below a watched folder of the kind vacations. The counts leave the descriptions
    // out (files named vacation.json), the revision counts their changes too.
    private static let vacations = """
        CREATE TABLE vacations (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            folder_id INTEGER NOT NULL REFERENCES folders (id),
            name BLOB NOT NULL,                                -- of its folder
            waiting INTEGER NOT NULL DEFAULT 0,                -- pending and uploading
            uploaded INTEGER NOT NULL DEFAULT 0,
            failed INTEGER NOT NULL DEFAULT 0,
            missing INTEGER NOT NULL DEFAULT 0,
            revision INTEGER NOT NULL DEFAULT 1,               -- counts the changes of its files
            looked_revision INTEGER NOT NULL DEFAULT 0,        -- up to which it was seen to
            location TEXT,                                     -- at the last look
            start_date TEXT,
            end_date TEXT,
            shared_by TEXT,
            cache_key TEXT,                                    -- of the manifest in the store
            photo_count INTEGER,
            fingerprint BLOB,
            manifest BLOB,                                     -- SHA-256 of the manifest as written here
            is_own INTEGER NOT NULL DEFAULT 0 CHECK (is_own IN (0, 1)),
            stored_at INTEGER,
            has_moved INTEGER NOT NULL DEFAULT 0 CHECK (has_moved IN (0, 1)),
            successor_id INTEGER REFERENCES vacations (id) ON DELETE SET NULL,
            UNIQUE (folder_id, name)
        ) STRICT;
        CREATE INDEX vacations_changed ON vacations (folder_id) WHERE revision <> looked_revision;
        CREATE INDEX vacations_by_key ON vacations (cache_key);
        CREATE INDEX vacations_by_successor ON vacations (successor_id) WHERE successor_id IS NOT NULL;

        -- The MD5s of the photos in the manifest, ascending, one after the other.
        CREATE TABLE vacation_sets (
            vacation_id INTEGER PRIMARY KEY REFERENCES vacations (id) ON DELETE CASCADE,
            photos BLOB NOT NULL
        ) STRICT;

        -- Manifests to be removed from the store, with the SHA-256 of what was put there, and whose they are or were.
        CREATE TABLE stale_manifests (
            cache_key TEXT PRIMARY KEY,
            digest BLOB NOT NULL,
            vacation_id INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """

    private static let directories = """
        ALTER TABLE directories ADD COLUMN vacation_id INTEGER REFERENCES vacations (id);
        CREATE INDEX directories_by_vacation ON directories (vacation_id) WHERE vacation_id IS NOT NULL;

        CREATE TRIGGER directories_joined_vacation AFTER INSERT ON directories
        WHEN NEW.path <> X'2F' AND (SELECT kind FROM folders WHERE id = NEW.folder_id) = 'vacations' BEGIN
            INSERT INTO vacations (folder_id, name) VALUES (NEW.folder_id, \(firstName(of: "NEW.path")))
            ON CONFLICT DO NOTHING;
            UPDATE directories SET vacation_id = (
                SELECT id FROM vacations WHERE folder_id = NEW.folder_id AND name = \(firstName(of: "NEW.path"))
            ) WHERE id = NEW.id;
        END;
        """

    private static let photos = """
        CREATE TRIGGER photos_joined_vacation AFTER INSERT ON photos BEGIN
            \(count("NEW", "+"))
        END;
        CREATE TRIGGER photos_left_vacation AFTER DELETE ON photos BEGIN
            \(count("OLD", "-"))
        END;
        CREATE TRIGGER photos_changed_in_vacation AFTER UPDATE OF directory_id, name, state, md5 ON photos
        WHEN OLD.directory_id <> NEW.directory_id OR OLD.name <> NEW.name OR OLD.state <> NEW.state
            OR OLD.md5 IS NOT NEW.md5
        BEGIN
            \(count("OLD", "-"))
            \(count("NEW", "+"))
        END;
        CREATE TRIGGER photos_moved_from_vacation AFTER UPDATE OF directory_id ON photos
        WHEN OLD.directory_id <> NEW.directory_id BEGIN
            UPDATE vacations SET successor_id = (SELECT vacation_id FROM directories WHERE id = NEW.directory_id)
            WHERE id = (SELECT vacation_id FROM directories WHERE id = OLD.directory_id)
            AND id IS NOT (SELECT vacation_id FROM directories WHERE id = NEW.directory_id);
        END;
        """

    /// A folder may be watched already, and may turn into one of vacations or from it.
    private static let folders = """
        \(join("folder_id IN (SELECT id FROM folders WHERE kind = 'vacations')"))
        \(recount("TRUE"))

        CREATE TRIGGER folders_changed_kind AFTER UPDATE OF kind ON folders WHEN OLD.kind <> NEW.kind BEGIN
            UPDATE directories SET vacation_id = NULL WHERE folder_id = NEW.id AND vacation_id IS NOT NULL;
            \(join("folder_id = NEW.id AND NEW.kind = 'vacations'"))
            \(recount("folder_id = NEW.id"))
        END;
        """

    private static let description = "CAST('vacation.json' AS BLOB)"

    // Nothing is appended: that would make a text of the path, and characters of its bytes.
    private static func firstName(of path: String) -> String {
        """
        CASE instr(substr(\(path), 2), X'2F') WHEN 0 THEN substr(\(path), 2)
        ELSE substr(\(path), 2, instr(substr(\(path), 2), X'2F') - 1) END
        """
    }

    /// Counts a photo, which is a row of a trigger, into or out of its vacation.
    private static func count(_ row: String, _ sign: String) -> String {
        """
        UPDATE vacations SET revision = revision + 1,
            waiting = waiting \(sign) (\(row).name <> \(description) AND \(row).state IN ('pending', 'uploading')),
            uploaded = uploaded \(sign) (\(row).name <> \(description) AND \(row).state = 'uploaded'),
            failed = failed \(sign) (\(row).name <> \(description) AND \(row).state = 'failed'),
            missing = missing \(sign) (\(row).name <> \(description) AND \(row).state = 'missing')
        WHERE id = (SELECT vacation_id FROM directories WHERE id = \(row).directory_id);
        """
    }

    private static func join(_ condition: String) -> String {
        """
        INSERT INTO vacations (folder_id, name)
            SELECT DISTINCT folder_id, \(firstName(of: "path")) FROM directories WHERE path <> X'2F' AND \(condition)
            ON CONFLICT DO NOTHING;
        UPDATE directories SET vacation_id = (
            SELECT id FROM vacations
            WHERE vacations.folder_id = directories.folder_id AND name = \(firstName(of: "path"))
        ) WHERE path <> X'2F' AND \(condition);
        """
    }

    private static func recount(_ condition: String) -> String {
        """
        UPDATE vacations SET revision = revision + 1, (waiting, uploaded, failed, missing) = (
            SELECT COUNT(*) FILTER (WHERE state IN ('pending', 'uploading')),
                COUNT(*) FILTER (WHERE state = 'uploaded'), COUNT(*) FILTER (WHERE state = 'failed'),
                COUNT(*) FILTER (WHERE state = 'missing')
            FROM directories CROSS JOIN photos ON photos.directory_id = directories.id
            WHERE directories.vacation_id = vacations.id AND photos.name <> \(description)
        ) WHERE \(condition);
        """
    }
}
