/// The second migration: restore jobs, what the tiers need of objects, and the memory of stores. It has shipped when you
/// read this: see ``Schema``.
enum RestoreSchema {
    static let migration = Migration("restores, classes, memory", jobs, items, tallies, objects, ages, memory)

    // Ids of jobs are told to people, those of items are where a page begins: none is used twice.
    private static let jobs = """
        CREATE TABLE restore_jobs (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            requested_at INTEGER NOT NULL,
            requested_by TEXT NOT NULL,
            tier TEXT NOT NULL CHECK (tier IN ('bulk', 'standard', 'expedited')),
            is_rush INTEGER NOT NULL CHECK (is_rush IN (0, 1)),  -- each object in the fastest tier that it has
            days INTEGER NOT NULL CHECK (days > 0),
            output BLOB,                                       -- where files are saved when they are there
            estimated_cost_usd REAL,
            estimated_hours REAL,
            finished_at INTEGER,
            announced INTEGER NOT NULL DEFAULT 0 CHECK (announced IN (0, 1)),
            expiry_announced INTEGER NOT NULL DEFAULT 0 CHECK (expiry_announced IN (0, 1)),
            looked_at INTEGER,                                 -- when the store was asked last
            looks INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        """

    private static let items = """
        CREATE TABLE restore_items (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            job_id INTEGER NOT NULL REFERENCES restore_jobs (id),
            key TEXT NOT NULL,
            path BLOB,
            destination BLOB,                                  -- below the job's output
            size INTEGER NOT NULL,
            sha256 BLOB,
            storage_class TEXT NOT NULL,
            tier TEXT NOT NULL CHECK (tier IN ('bulk', 'standard', 'expedited')),
            state TEXT NOT NULL DEFAULT 'planned'
                CHECK (state IN ('planned', 'retrieving', 'restored', 'failed', 'expired')),
            claimed_at INTEGER CHECK (claimed_at IS NULL OR state = 'planned'),
            requested_at INTEGER,
            ready_at INTEGER,
            expires_at INTEGER,
            saved_at INTEGER,
            note TEXT,
            attempts INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE INDEX restore_items_by_job ON restore_items (job_id);
        CREATE UNIQUE INDEX restore_items_open ON restore_items (key) WHERE state IN ('planned', 'retrieving');
        CREATE INDEX restore_items_waiting ON restore_items (id) WHERE state IN ('planned', 'retrieving');
        CREATE INDEX restore_items_planned ON restore_items (job_id) WHERE state = 'planned';
        CREATE INDEX restore_items_restored ON restore_items (key) WHERE state = 'restored';
        CREATE INDEX restore_items_ending ON restore_items (expires_at) WHERE state = 'restored';
        CREATE INDEX restore_items_unsaved ON restore_items (job_id) WHERE state = 'restored' AND saved_at IS NULL;
        """

    private static let tallies = """
        CREATE TABLE restore_tallies (
            state TEXT PRIMARY KEY,
            items INTEGER NOT NULL,
            bytes INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TRIGGER restore_items_inserted AFTER INSERT ON restore_items BEGIN
            INSERT INTO restore_tallies VALUES (NEW.state, 1, NEW.size)
            ON CONFLICT DO UPDATE SET items = items + 1, bytes = bytes + excluded.bytes;
        END;
        CREATE TRIGGER restore_items_deleted AFTER DELETE ON restore_items BEGIN
            UPDATE restore_tallies SET items = items - 1, bytes = bytes - OLD.size WHERE state = OLD.state;
        END;
        CREATE TRIGGER restore_items_updated AFTER UPDATE OF state, size ON restore_items
        WHEN OLD.state <> NEW.state OR OLD.size <> NEW.size BEGIN
            UPDATE restore_tallies SET items = items - 1, bytes = bytes - OLD.size WHERE state = OLD.state;
            INSERT INTO restore_tallies VALUES (NEW.state, 1, NEW.size)
            ON CONFLICT DO UPDATE SET items = items + 1, bytes = bytes + excluded.bytes;
        END;
        """

    // A family is what lifecycle rules are made for: users/ana/photos/, gallery-archive/ana/, shares/.
    private static let objects = """
        ALTER TABLE objects ADD COLUMN class_since INTEGER;    -- NULL: since it was stored
        ALTER TABLE objects ADD COLUMN since_day INTEGER       -- days since 1970, UTC
            AS (COALESCE(class_since, stored_at) / 86400000);
        ALTER TABLE objects ADD COLUMN family TEXT AS (
            CASE
                WHEN key GLOB 'users/*/*/*' THEN substr(key, 1, 6 + instr(substr(key, 7), '/')
                    + instr(substr(key, 7 + instr(substr(key, 7), '/')), '/'))
                WHEN key GLOB 'gallery-archive/*/*' THEN substr(key, 1, 16 + instr(substr(key, 17), '/'))
                ELSE substr(key, 1, instr(key, '/'))
            END
        );
        CREATE INDEX objects_unarchived ON objects (key, stored_at, size)
            WHERE storage_class NOT IN ('GLACIER', 'DEEP_ARCHIVE');
        CREATE INDEX objects_archived_by_taken ON objects (taken_at)
            WHERE storage_class IN ('GLACIER', 'DEEP_ARCHIVE') AND taken_at IS NOT NULL;
        CREATE INDEX objects_restored ON objects (restored_until) WHERE restore_state = 'restored';
        CREATE INDEX photos_by_object ON photos (object_id) WHERE object_id IS NOT NULL;
        """

    // Objects of less bytes than `archive_floor` are never archived. Whoever changes it makes `object_ages` anew.
    private static let ages = """
        ALTER TABLE agent ADD COLUMN archive_floor INTEGER NOT NULL DEFAULT 0;
        CREATE TABLE object_ages (
            family TEXT NOT NULL,
            storage_class TEXT NOT NULL,
            day INTEGER NOT NULL,                              -- since when the objects are in the class
            is_small INTEGER NOT NULL,                         -- by agent.archive_floor
            objects INTEGER NOT NULL,
            bytes INTEGER NOT NULL,
            PRIMARY KEY (family, storage_class, day, is_small)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO object_ages
            SELECT family, storage_class, since_day, size < 0, COUNT(*), SUM(size) FROM objects GROUP BY 1, 2, 3, 4;

        CREATE TRIGGER objects_aged_by_insert AFTER INSERT ON objects BEGIN
            INSERT INTO object_ages VALUES (NEW.family, NEW.storage_class, NEW.since_day,
                NEW.size < (SELECT archive_floor FROM agent), 1, NEW.size)
            ON CONFLICT DO UPDATE SET objects = objects + 1, bytes = bytes + excluded.bytes;
        END;
        CREATE TRIGGER objects_aged_by_delete AFTER DELETE ON objects BEGIN
            UPDATE object_ages SET objects = objects - 1, bytes = bytes - OLD.size
            WHERE family = OLD.family AND storage_class = OLD.storage_class AND day = OLD.since_day
            AND is_small = (OLD.size < (SELECT archive_floor FROM agent));
        END;
        CREATE TRIGGER objects_aged_by_update AFTER UPDATE OF storage_class, size, stored_at, class_since ON objects
        WHEN OLD.storage_class <> NEW.storage_class OR OLD.size <> NEW.size OR OLD.since_day <> NEW.since_day BEGIN
            UPDATE object_ages SET objects = objects - 1, bytes = bytes - OLD.size
            WHERE family = OLD.family AND storage_class = OLD.storage_class AND day = OLD.since_day
            AND is_small = (OLD.size < (SELECT archive_floor FROM agent));
            INSERT INTO object_ages VALUES (NEW.family, NEW.storage_class, NEW.since_day,
                NEW.size < (SELECT archive_floor FROM agent), 1, NEW.size)
            ON CONFLICT DO UPDATE SET objects = objects + 1, bytes = bytes + excluded.bytes;
        END;
        """

    private static let memory = """
        ALTER TABLE agent ADD COLUMN classes_refreshed_at INTEGER;
        ALTER TABLE agent ADD COLUMN store_failing_since INTEGER;
        UPDATE agent SET store_failing_since = store_checked_at WHERE store_error IS NOT NULL;

        CREATE TABLE uploads (
            id TEXT PRIMARY KEY,
            key TEXT NOT NULL,
            began_at INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE store_facts (
            place TEXT NOT NULL,
            fact TEXT NOT NULL,
            value TEXT NOT NULL,
            PRIMARY KEY (place, fact)
        ) STRICT, WITHOUT ROWID;
        """
}
