-- A new ledger, as the migrations make it. Made by scripts/make-schema; do not edit.

CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);

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
, machine TEXT, filter TEXT NOT NULL DEFAULT '', untold BLOB, untold_at INTEGER) STRICT;

CREATE TABLE directories (
    id INTEGER PRIMARY KEY,
    folder_id INTEGER NOT NULL REFERENCES folders (id),
    path BLOB NOT NULL, vacation_id INTEGER REFERENCES vacations (id), digest BLOB, digest_files INTEGER,                                -- below the folder: '/', '/trips/rome'
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
, class_since INTEGER, since_day INTEGER       -- days since 1970, UTC
    AS (COALESCE(class_since, stored_at) / 86400000), family TEXT AS (
    CASE
        WHEN key GLOB 'users/*/*/*' THEN substr(key, 1, 6 + instr(substr(key, 7), '/')
            + instr(substr(key, 7 + instr(substr(key, 7), '/')), '/'))
        WHEN key GLOB 'gallery-archive/*/*' THEN substr(key, 1, 16 + instr(substr(key, 17), '/'))
        ELSE substr(key, 1, instr(key, '/'))
    END
), stored_md5 BLOB, etag TEXT, verified_at INTEGER, problem TEXT, proved_at INTEGER AS (COALESCE(verified_at, stored_at)), dropped TEXT, note TEXT, taken_offset INTEGER, taken_rules INTEGER NOT NULL DEFAULT 0, encoding TEXT, duration INTEGER, ruin TEXT) STRICT;

CREATE TABLE agent (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    store TEXT,                                        -- where the objects are; NULL before the first
    last_sync_at INTEGER,
    store_error TEXT,
    store_checked_at INTEGER
, archive_floor INTEGER NOT NULL DEFAULT 0, classes_refreshed_at INTEGER, store_failing_since INTEGER, store_id TEXT, retries_asked INTEGER NOT NULL DEFAULT 0, machine_id TEXT, catalog_next INTEGER NOT NULL DEFAULT 1, catalog_tracking INTEGER NOT NULL DEFAULT 0 CHECK (catalog_tracking IN (0, 1)), catalog_state TEXT, catalog_replaces TEXT, catalog_written_at INTEGER, catalog_problem TEXT, machine_note TEXT, machine_note_at INTEGER, jobs_day TEXT, catalog_begun TEXT, rebuild_of TEXT, unclear_objects INTEGER NOT NULL DEFAULT 0 CHECK (unclear_objects >= 0), store_refuses INTEGER NOT NULL DEFAULT 0 CHECK (store_refuses IN (0, 1))) STRICT;

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
        CHECK (state IN ('pending', 'uploading', 'uploaded', 'failed', 'skipped', 'missing', 'lost')),
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
    error TEXT, left_out TEXT, changed INTEGER, born INTEGER, missing_since INTEGER, original_generation INTEGER, is_sidecar INTEGER AS (
    length(name) > 4 AND lower(CAST(substr(name, -4) AS TEXT)) IN ('.xmp', '.aae')
) VIRTUAL, is_filtered INTEGER NOT NULL DEFAULT 0 CHECK (is_filtered IN (0, 1)), drive INTEGER REFERENCES drives (id), supposed_drive INTEGER,
    UNIQUE (directory_id, name),
    FOREIGN KEY (directory_id, folder_id) REFERENCES directories (id, folder_id),
    CHECK ((object_id IS NULL) = (object_generation IS NULL)),
    CHECK (object_id IS NOT NULL OR state NOT IN ('uploaded', 'missing', 'lost'))
) STRICT;

CREATE TABLE attempts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    photo_id INTEGER NOT NULL REFERENCES photos (id) ON DELETE CASCADE,
    started_at INTEGER NOT NULL,
    finished_at INTEGER,
    outcome TEXT,
    error TEXT
) STRICT;

CREATE INDEX attempts_by_photo ON attempts (photo_id);

CREATE INDEX photos_queue ON photos (folder_id, next_try_at, queued_at) WHERE state = 'pending';

CREATE INDEX photos_unsynced ON photos (folder_id, state, queued_at)
    WHERE state = 'pending' OR state = 'uploading' OR state = 'failed';

CREATE INDEX photos_by_inode ON photos (inode);

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
, mark TEXT, marked_in BLOB, made_folders INTEGER NOT NULL DEFAULT 0 CHECK (made_folders >= 0), stopped_in BLOB) STRICT;

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
, claimed_by TEXT, further BLOB, given_up INTEGER NOT NULL DEFAULT 0 CHECK (given_up IN (0, 1))) STRICT;

CREATE INDEX restore_items_by_job ON restore_items (job_id);

CREATE UNIQUE INDEX restore_items_open ON restore_items (key) WHERE state IN ('planned', 'retrieving');

CREATE INDEX restore_items_waiting ON restore_items (id) WHERE state IN ('planned', 'retrieving');

CREATE INDEX restore_items_planned ON restore_items (job_id) WHERE state = 'planned';

CREATE INDEX restore_items_restored ON restore_items (key) WHERE state = 'restored';

CREATE INDEX restore_items_ending ON restore_items (expires_at) WHERE state = 'restored';

CREATE INDEX restore_items_unsaved ON restore_items (job_id) WHERE state = 'restored' AND saved_at IS NULL;

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

CREATE INDEX objects_archived_by_taken ON objects (taken_at)
    WHERE storage_class IN ('GLACIER', 'DEEP_ARCHIVE') AND taken_at IS NOT NULL;

CREATE INDEX objects_restored ON objects (restored_until) WHERE restore_state = 'restored';

CREATE INDEX photos_by_object ON photos (object_id) WHERE object_id IS NOT NULL;

CREATE TABLE object_ages (
    family TEXT NOT NULL,
    storage_class TEXT NOT NULL,
    day INTEGER NOT NULL,                              -- since when the objects are in the class
    is_small INTEGER NOT NULL,                         -- by agent.archive_floor
    objects INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (family, storage_class, day, is_small)
) STRICT, WITHOUT ROWID;

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
    successor_id INTEGER REFERENCES vacations (id) ON DELETE SET NULL, has_forgotten INTEGER NOT NULL DEFAULT 0 CHECK (has_forgotten IN (0, 1)),
    UNIQUE (folder_id, name)
) STRICT;

CREATE INDEX vacations_changed ON vacations (folder_id) WHERE revision <> looked_revision;

CREATE INDEX vacations_by_key ON vacations (cache_key);

CREATE INDEX vacations_by_successor ON vacations (successor_id) WHERE successor_id IS NOT NULL;

CREATE TABLE vacation_sets (
    vacation_id INTEGER PRIMARY KEY REFERENCES vacations (id) ON DELETE CASCADE,
    photos BLOB NOT NULL
) STRICT;

CREATE TABLE stale_manifests (
    cache_key TEXT PRIMARY KEY,
    digest BLOB NOT NULL,
    vacation_id INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX directories_by_vacation ON directories (vacation_id) WHERE vacation_id IS NOT NULL;

CREATE TRIGGER directories_joined_vacation AFTER INSERT ON directories
WHEN NEW.path <> X'2F' AND (SELECT kind FROM folders WHERE id = NEW.folder_id) = 'vacations' BEGIN
    INSERT INTO vacations (folder_id, name) VALUES (NEW.folder_id, CASE instr(substr(NEW.path, 2), X'2F') WHEN 0 THEN substr(NEW.path, 2)
ELSE substr(NEW.path, 2, instr(substr(NEW.path, 2), X'2F') - 1) END)
    ON CONFLICT DO NOTHING;
    UPDATE directories SET vacation_id = (
        SELECT id FROM vacations WHERE folder_id = NEW.folder_id AND name = CASE instr(substr(NEW.path, 2), X'2F') WHEN 0 THEN substr(NEW.path, 2)
ELSE substr(NEW.path, 2, instr(substr(NEW.path, 2), X'2F') - 1) END
    ) WHERE id = NEW.id;
END;

CREATE TRIGGER photos_moved_from_vacation AFTER UPDATE OF directory_id ON photos
WHEN OLD.directory_id <> NEW.directory_id BEGIN
    UPDATE vacations SET successor_id = (SELECT vacation_id FROM directories WHERE id = NEW.directory_id)
    WHERE id = (SELECT vacation_id FROM directories WHERE id = OLD.directory_id)
    AND id IS NOT (SELECT vacation_id FROM directories WHERE id = NEW.directory_id);
END;

CREATE TABLE shares (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,                           -- a UUID
    folder BLOB NOT NULL,                              -- of the vacation, absolute
    selection TEXT NOT NULL,                           -- '0,2-5'; empty: all
    quality TEXT NOT NULL CHECK (quality IN ('reduced', 'full')),
    location TEXT NOT NULL,
    start_day TEXT NOT NULL,
    end_day TEXT NOT NULL,
    shared_by TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'preparing' CHECK (
        state IN ('preparing', 'waiting', 'live', 'revoking', 'expiring', 'revoked', 'expired')),
    step TEXT NOT NULL DEFAULT 'publish' CHECK (step IN ('publish', 'clean', 'done')),
    next_slot INTEGER NOT NULL DEFAULT 0,              -- no slot is used twice
    restore_job INTEGER REFERENCES restore_jobs (id),  -- the last one that brings back its sources
    problem TEXT,                                      -- why the last attempt did not get to its end
    published_at INTEGER,                              -- when what is seen changed last
    page_written_at INTEGER,
    links_end_at INTEGER,                              -- those inside the page; NULL: they are relative
    link TEXT,
    link_ends_at INTEGER,
    link_limit TEXT,
    ended_at INTEGER CHECK ((ended_at IS NOT NULL) = (state IN ('revoked', 'expired'))),
    claimed_by TEXT,
    claimed_until INTEGER CHECK ((claimed_by IS NULL) = (claimed_until IS NULL)), recipient TEXT, link_end_is_known INTEGER NOT NULL DEFAULT 1 CHECK (link_end_is_known IN (0, 1)), ended_by TEXT, ownership INTEGER DEFAULT 0 CHECK (ownership >= 0), tells_names INTEGER NOT NULL DEFAULT 0 CHECK (tells_names IN (0, 1)), takes_guests INTEGER NOT NULL DEFAULT 0 CHECK (takes_guests IN (0, 1)), guests_problem TEXT, twin INTEGER NOT NULL DEFAULT 0 CHECK (twin >= 0),
    CHECK (state <> 'live' OR published_at IS NOT NULL)
) STRICT;

CREATE INDEX shares_unended ON shares (number) WHERE state NOT IN ('revoked', 'expired');

CREATE TABLE share_photos (
    share INTEGER NOT NULL REFERENCES shares (number),
    slot INTEGER NOT NULL CHECK (slot >= 0),           -- orderIndex
    position INTEGER,                                  -- in the order in which they are seen
    md5 BLOB NOT NULL,                                 -- of the photo on the disk
    path BLOB NOT NULL,                                -- where it is, or was
    source_key TEXT,
    taken_at INTEGER,
    sha256 BLOB,                                       -- of the shared copy
    size INTEGER,
    width INTEGER,
    height INTEGER,
    stored_at INTEGER,
    failure TEXT,                                      -- why it cannot be shared
    is_final INTEGER NOT NULL DEFAULT 0 CHECK (is_final IN (0, 1)), is_local INTEGER NOT NULL DEFAULT 1 CHECK (is_local IN (0, 1)), taken_offset INTEGER, media_type TEXT, duration INTEGER, has_poster INTEGER NOT NULL DEFAULT 1 CHECK (has_poster IN (0, 1)),
    PRIMARY KEY (share, slot),
    CHECK ((stored_at IS NULL) = (sha256 IS NULL) AND (stored_at IS NULL) = (size IS NULL)
        AND (stored_at IS NULL) = (width IS NULL) AND (stored_at IS NULL) = (height IS NULL)),
    CHECK (failure IS NULL OR stored_at IS NULL)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX share_photos_shared ON share_photos (share, md5) WHERE position IS NOT NULL;

CREATE TABLE sharer (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    name TEXT NOT NULL
) STRICT;

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
    retention_problem TEXT, given_id TEXT
    GENERATED ALWAYS AS (substr(event_id, 1, instr(event_id || char(31), char(31)) - 1)) VIRTUAL, mark BLOB,
    CHECK ((photo_state = 'stored') = (photo_md5 IS NOT NULL)),
    CHECK (photo_state <> 'waiting' OR photo_name IS NOT NULL)
) STRICT;

CREATE INDEX events_due ON events (created_at) WHERE retention = 'kept';

CREATE INDEX events_waiting ON events (photo_name) WHERE photo_state = 'waiting';

CREATE INDEX events_by_object ON events (object_id) WHERE object_id IS NOT NULL;

CREATE INDEX events_by_profile ON events (profile);

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

CREATE TABLE profiles (
    uuid TEXT PRIMARY KEY,
    phone TEXT NOT NULL UNIQUE,                        -- E.164
    name TEXT,
    created_at INTEGER NOT NULL
) STRICT;

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

CREATE TABLE project_lists (
    folder BLOB PRIMARY KEY,
    device INTEGER NOT NULL,                           -- of the file that was read: as for photos
    inode INTEGER NOT NULL,
    size INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    read_at INTEGER,                                   -- NULL: it could never be read
    problem TEXT                                       -- what is wrong with the file now
, changed INTEGER, born INTEGER) STRICT;

CREATE TABLE projects (
    folder BLOB NOT NULL REFERENCES project_lists (folder),
    id TEXT NOT NULL,
    template_id TEXT NOT NULL,
    template_name TEXT NOT NULL,
    thumbnail_url TEXT,
    created_at INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('Processing', 'Completed', 'Failed')),
    request_id TEXT,
    position INTEGER NOT NULL,                         -- in the file
    duplicate_of TEXT,
    given_up_at INTEGER,                               -- when it was told that it is no longer waited for
    PRIMARY KEY (folder, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX projects_processing ON projects (folder, created_at) WHERE status = 'Processing';

CREATE TABLE project_requests (
    id INTEGER PRIMARY KEY AUTOINCREMENT,              -- the oldest has the lowest
    request_id TEXT NOT NULL UNIQUE,
    project_id TEXT NOT NULL
) STRICT;

CREATE TABLE project_versions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id TEXT NOT NULL,
    key TEXT NOT NULL UNIQUE
, maker TEXT NOT NULL DEFAULT 'unknown'
    CHECK (maker IN ('this', 'other', 'unknown'))) STRICT;

CREATE INDEX project_versions_by_project ON project_versions (project_id, key);

CREATE TABLE project_deletions (
    folder BLOB NOT NULL,
    project_id TEXT NOT NULL,
    PRIMARY KEY (folder, project_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX photos_left_out ON photos (folder_id, queued_at)
    WHERE state = 'skipped' AND left_out IS NOT NULL;

CREATE INDEX event_notes_malformed ON event_notes (malformed) WHERE malformed > 0;

CREATE TABLE folder_mounts (
    folder_id INTEGER NOT NULL REFERENCES folders (id),
    path BLOB NOT NULL,                                -- below the folder, as in directories
    is_mounted INTEGER NOT NULL CHECK (is_mounted IN (0, 1)),
    since INTEGER NOT NULL,                            -- when that was seen first
    PRIMARY KEY (folder_id, path)
) STRICT, WITHOUT ROWID;

CREATE INDEX photos_delayed ON photos (folder_id, queued_at)
    WHERE state = 'pending' AND error IS NOT NULL AND attempts > 0;

CREATE INDEX events_by_given_id ON events (given_id);

CREATE INDEX retention_records_by_key ON retention_records (key);

CREATE TRIGGER event_photo_arrived AFTER UPDATE OF state ON photos
WHEN NEW.state IN ('uploaded', 'failed', 'skipped') AND OLD.state <> NEW.state BEGIN
    UPDATE photos SET state = CASE state WHEN 'uploading' THEN 'uploading' ELSE 'pending' END,
    generation = generation + 1, attempts = 0, next_try_at = 0, error = NULL
    WHERE +directory_id = NEW.directory_id AND state NOT IN ('missing', 'lost') AND id IN (SELECT event_files.photo_id FROM events INDEXED BY events_waiting
JOIN event_files ON event_files.event = events.id
WHERE events.photo_state = 'waiting' AND events.photo_name = NEW.name);
END;

CREATE TRIGGER event_photo_moved AFTER UPDATE OF directory_id, name ON photos
WHEN NEW.state = 'uploaded' BEGIN
    UPDATE photos SET state = CASE state WHEN 'uploading' THEN 'uploading' ELSE 'pending' END,
    generation = generation + 1, attempts = 0, next_try_at = 0, error = NULL
    WHERE +directory_id = NEW.directory_id AND state NOT IN ('missing', 'lost') AND id IN (SELECT event_files.photo_id FROM events INDEXED BY events_waiting
JOIN event_files ON event_files.event = events.id
WHERE events.photo_state = 'waiting' AND events.photo_name = NEW.name);
END;

CREATE TRIGGER event_file_moved AFTER UPDATE OF directory_id ON photos
WHEN NEW.directory_id <> OLD.directory_id AND NEW.state NOT IN ('missing', 'lost') BEGIN
    UPDATE photos SET state = CASE state WHEN 'uploading' THEN 'uploading' ELSE 'pending' END,
    generation = generation + 1, attempts = 0, next_try_at = 0, error = NULL
    WHERE id = NEW.id AND EXISTS (
        SELECT 1 FROM event_files JOIN events ON events.id = event_files.event
        WHERE event_files.photo_id = NEW.id AND events.photo_state = 'waiting'
    );
END;

CREATE TRIGGER event_file_returned AFTER UPDATE OF state ON photos
WHEN OLD.state IN ('missing', 'lost') AND NEW.state NOT IN ('missing', 'lost') BEGIN
    UPDATE event_files SET clean = 0 WHERE photo_id = NEW.id;
    UPDATE events SET retention = 'kept'
    WHERE retention <> 'kept' AND id IN (SELECT event FROM event_files WHERE photo_id = NEW.id);
END;

CREATE TRIGGER event_file_renamed AFTER UPDATE OF name ON photos
WHEN NEW.name <> OLD.name AND NEW.state NOT IN ('missing', 'lost') BEGIN
    UPDATE photos SET state = CASE state WHEN 'uploading' THEN 'uploading' ELSE 'pending' END,
        generation = generation + 1, attempts = 0, next_try_at = 0, error = NULL
    WHERE id = NEW.id AND EXISTS (SELECT 1 FROM event_files WHERE photo_id = NEW.id);
END;

CREATE INDEX objects_by_proof ON objects (proved_at, id);

CREATE INDEX objects_broken ON objects (key) WHERE problem IS NOT NULL;

CREATE INDEX photos_lost ON photos (directory_id) WHERE state = 'lost';

CREATE INDEX photos_lost_in_folder ON photos (folder_id, queued_at) WHERE state = 'lost';

CREATE TABLE verified_objects (
    result TEXT PRIMARY KEY CHECK (result IN ('ok', 'damaged', 'missing')),
    objects INTEGER NOT NULL,
    bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE verification_costs (
    month TEXT PRIMARY KEY,                            -- 2026-11
    usd REAL NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX objects_by_sha256 ON objects (sha256, key);

CREATE TABLE suspects (
    photo_id INTEGER PRIMARY KEY REFERENCES photos (id) ON DELETE CASCADE,
    generation INTEGER NOT NULL,
    decoding INTEGER NOT NULL DEFAULT 0 CHECK (decoding IN (0, 1))
, photo BLOB) STRICT;

CREATE INDEX objects_taken_before ON objects (id) WHERE taken_rules = 0;

CREATE TABLE photo_versions (
    photo_id INTEGER NOT NULL REFERENCES photos (id) ON DELETE CASCADE,
    object_id INTEGER NOT NULL REFERENCES objects (id) ON DELETE CASCADE,
    stored_at INTEGER NOT NULL,                        -- when it became what is stored of the photo
    replaced_at INTEGER NOT NULL,
    PRIMARY KEY (photo_id, object_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX photo_versions_by_object ON photo_versions (object_id);

CREATE TRIGGER photo_version_replaced AFTER UPDATE OF object_id ON photos
WHEN OLD.object_id IS NOT NULL AND NEW.object_id IS NOT NULL AND NEW.object_id <> OLD.object_id BEGIN
    INSERT INTO photo_versions
    VALUES (NEW.id, OLD.object_id, COALESCE(OLD.uploaded_at, 0), COALESCE(NEW.uploaded_at, 0))
    ON CONFLICT DO UPDATE SET stored_at = excluded.stored_at, replaced_at = excluded.replaced_at;
    DELETE FROM photo_versions WHERE photo_id = NEW.id AND object_id = NEW.object_id;
END;

CREATE TABLE left_out_entries (
    folder_id INTEGER NOT NULL REFERENCES folders (id),
    path BLOB NOT NULL,                                -- below the folder
    reason TEXT NOT NULL,
    PRIMARY KEY (folder_id, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE pseudonym_key (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    key BLOB NOT NULL CHECK (length(key) = 32)
) STRICT;

CREATE TABLE event_photos_set_aside (
    photo_id INTEGER NOT NULL REFERENCES photos (id) ON DELETE CASCADE,
    md5 BLOB NOT NULL,
    PRIMARY KEY (photo_id, md5)
) STRICT, WITHOUT ROWID;

CREATE INDEX restore_items_claimed ON restore_items (claimed_by) WHERE claimed_by IS NOT NULL;

CREATE TABLE catalog_segments (
    last INTEGER PRIMARY KEY,                          -- the writes that it stands for, first to last
    first INTEGER NOT NULL,
    lines INTEGER NOT NULL,
    size INTEGER NOT NULL
, sha256 TEXT, etag TEXT, problem TEXT) STRICT;

CREATE TABLE catalog_changes (
    folder_id INTEGER NOT NULL,
    directory BLOB NOT NULL,                           -- as in directories
    name BLOB NOT NULL,
    segment INTEGER,
    PRIMARY KEY (folder_id, directory, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX catalog_changes_by_segment ON catalog_changes (segment);

CREATE TRIGGER catalog_photo_added AFTER INSERT ON photos
WHEN NEW.object_id IS NOT NULL AND (SELECT catalog_tracking FROM agent) = 1 AND (SELECT machine FROM folders WHERE id = NEW.folder_id) IS NULL BEGIN INSERT INTO catalog_changes (folder_id, directory, name)
    SELECT NEW.folder_id, path, NEW.name FROM directories WHERE id = NEW.directory_id
    ON CONFLICT DO UPDATE SET segment = NULL; END;

CREATE TRIGGER catalog_photo_changed
AFTER UPDATE OF object_id, object_generation, generation, size, modified ON photos
WHEN NEW.object_id IS NOT NULL AND (OLD.object_id IS NOT NEW.object_id
    OR OLD.object_generation IS NOT NEW.object_generation OR OLD.generation <> NEW.generation
    OR OLD.size <> NEW.size OR OLD.modified <> NEW.modified) AND (SELECT catalog_tracking FROM agent) = 1 AND (SELECT machine FROM folders WHERE id = NEW.folder_id) IS NULL
BEGIN INSERT INTO catalog_changes (folder_id, directory, name)
    SELECT NEW.folder_id, path, NEW.name FROM directories WHERE id = NEW.directory_id
    ON CONFLICT DO UPDATE SET segment = NULL; END;

CREATE TRIGGER catalog_photo_moved AFTER UPDATE OF directory_id, name ON photos
WHEN OLD.object_id IS NOT NULL AND (OLD.directory_id <> NEW.directory_id OR OLD.name <> NEW.name)
    AND (SELECT catalog_tracking FROM agent) = 1 AND (SELECT machine FROM folders WHERE id = OLD.folder_id) IS NULL
BEGIN INSERT INTO catalog_changes (folder_id, directory, name)
    SELECT OLD.folder_id, path, OLD.name FROM directories WHERE id = OLD.directory_id
    ON CONFLICT DO UPDATE SET segment = NULL; INSERT INTO catalog_changes (folder_id, directory, name)
    SELECT NEW.folder_id, path, NEW.name FROM directories WHERE id = NEW.directory_id
    ON CONFLICT DO UPDATE SET segment = NULL; END;

CREATE TRIGGER catalog_photo_removed AFTER DELETE ON photos
WHEN OLD.object_id IS NOT NULL AND (SELECT catalog_tracking FROM agent) = 1 AND (SELECT machine FROM folders WHERE id = OLD.folder_id) IS NULL BEGIN INSERT INTO catalog_changes (folder_id, directory, name)
    SELECT OLD.folder_id, path, OLD.name FROM directories WHERE id = OLD.directory_id
    ON CONFLICT DO UPDATE SET segment = NULL; END;

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

CREATE TABLE profile_ids (
    uuid TEXT PRIMARY KEY                              -- as in profiles; none that is there
, name TEXT, needs_number INTEGER NOT NULL DEFAULT 1 CHECK (needs_number IN (0, 1))) STRICT, WITHOUT ROWID;

CREATE TABLE matched_photos (
    photo_id INTEGER PRIMARY KEY REFERENCES photos (id) ON DELETE CASCADE
) STRICT;

CREATE TABLE share_removals (
    share TEXT PRIMARY KEY,                            -- a UUID
    location TEXT NOT NULL,
    machine TEXT NOT NULL,                             -- what people call the one that has it
    expires_at INTEGER NOT NULL,
    begun_at INTEGER NOT NULL,
    told_at INTEGER,
    gone_at INTEGER,
    problem TEXT,
    CHECK (gone_at IS NULL OR told_at IS NOT NULL)
) STRICT, WITHOUT ROWID;

CREATE TABLE share_objects (
    share INTEGER NOT NULL REFERENCES shares (number) ON DELETE CASCADE,
    key TEXT NOT NULL,
    sha256 BLOB NOT NULL,
    etag TEXT,                                         -- as the store gave it
    PRIMARY KEY (share, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE forgotten_keys (key TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

CREATE INDEX photos_without_original ON photos (id)
    WHERE state = 'uploaded' AND original_generation IS NOT generation;

CREATE TABLE other_damage (
    key TEXT PRIMARY KEY,
    machine TEXT,                                      -- what people call it; NULL: no catalogue names the object
    path BLOB,                                         -- there
    problem TEXT NOT NULL,
    found_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL                           -- when it was looked at last
) STRICT, WITHOUT ROWID;

CREATE TABLE original_uploads (
    id INTEGER PRIMARY KEY AUTOINCREMENT,              -- never used twice: a late note must not meet another's row
    key TEXT NOT NULL UNIQUE,
    is_void INTEGER NOT NULL DEFAULT 0 CHECK (is_void IN (0, 1))  -- 1: its photo was forgotten meanwhile
) STRICT;

CREATE TRIGGER photos_joined_vacation AFTER INSERT ON photos BEGIN
    UPDATE vacations SET revision = revision + 1,
    waiting = waiting + (NEW.name <> CAST('vacation.json' AS BLOB) AND NOT NEW.is_sidecar AND NEW.state IN ('pending', 'uploading')),
    uploaded = uploaded + (NEW.name <> CAST('vacation.json' AS BLOB) AND NOT NEW.is_sidecar AND NEW.state = 'uploaded'),
    failed = failed + (NEW.name <> CAST('vacation.json' AS BLOB) AND NOT NEW.is_sidecar AND NEW.state = 'failed'),
    missing = missing + (NEW.name <> CAST('vacation.json' AS BLOB) AND NOT NEW.is_sidecar AND NEW.state IN ('missing', 'lost'))
WHERE id = (SELECT vacation_id FROM directories WHERE id = NEW.directory_id);
END;

CREATE TRIGGER photos_left_vacation AFTER DELETE ON photos BEGIN
    UPDATE vacations SET revision = revision + 1,
    waiting = waiting - (OLD.name <> CAST('vacation.json' AS BLOB) AND NOT OLD.is_sidecar AND OLD.state IN ('pending', 'uploading')),
    uploaded = uploaded - (OLD.name <> CAST('vacation.json' AS BLOB) AND NOT OLD.is_sidecar AND OLD.state = 'uploaded'),
    failed = failed - (OLD.name <> CAST('vacation.json' AS BLOB) AND NOT OLD.is_sidecar AND OLD.state = 'failed'),
    missing = missing - (OLD.name <> CAST('vacation.json' AS BLOB) AND NOT OLD.is_sidecar AND OLD.state IN ('missing', 'lost'))
WHERE id = (SELECT vacation_id FROM directories WHERE id = OLD.directory_id);
END;

CREATE TRIGGER photos_changed_in_vacation AFTER UPDATE OF directory_id, name, state, md5 ON photos
WHEN OLD.directory_id <> NEW.directory_id OR OLD.name <> NEW.name OR OLD.state <> NEW.state
    OR OLD.md5 IS NOT NEW.md5
BEGIN
    UPDATE vacations SET revision = revision + 1,
    waiting = waiting - (OLD.name <> CAST('vacation.json' AS BLOB) AND NOT OLD.is_sidecar AND OLD.state IN ('pending', 'uploading')),
    uploaded = uploaded - (OLD.name <> CAST('vacation.json' AS BLOB) AND NOT OLD.is_sidecar AND OLD.state = 'uploaded'),
    failed = failed - (OLD.name <> CAST('vacation.json' AS BLOB) AND NOT OLD.is_sidecar AND OLD.state = 'failed'),
    missing = missing - (OLD.name <> CAST('vacation.json' AS BLOB) AND NOT OLD.is_sidecar AND OLD.state IN ('missing', 'lost'))
WHERE id = (SELECT vacation_id FROM directories WHERE id = OLD.directory_id);
    UPDATE vacations SET revision = revision + 1,
    waiting = waiting + (NEW.name <> CAST('vacation.json' AS BLOB) AND NOT NEW.is_sidecar AND NEW.state IN ('pending', 'uploading')),
    uploaded = uploaded + (NEW.name <> CAST('vacation.json' AS BLOB) AND NOT NEW.is_sidecar AND NEW.state = 'uploaded'),
    failed = failed + (NEW.name <> CAST('vacation.json' AS BLOB) AND NOT NEW.is_sidecar AND NEW.state = 'failed'),
    missing = missing + (NEW.name <> CAST('vacation.json' AS BLOB) AND NOT NEW.is_sidecar AND NEW.state IN ('missing', 'lost'))
WHERE id = (SELECT vacation_id FROM directories WHERE id = NEW.directory_id);
END;

CREATE TRIGGER folders_changed_kind AFTER UPDATE OF kind ON folders WHEN OLD.kind <> NEW.kind BEGIN
    UPDATE directories SET vacation_id = NULL WHERE folder_id = NEW.id AND vacation_id IS NOT NULL;
    INSERT INTO vacations (folder_id, name)
    SELECT DISTINCT folder_id, CASE instr(substr(path, 2), X'2F') WHEN 0 THEN substr(path, 2)
ELSE substr(path, 2, instr(substr(path, 2), X'2F') - 1) END FROM directories WHERE path <> X'2F' AND folder_id = NEW.id AND NEW.kind = 'vacations'
    ON CONFLICT DO NOTHING;
UPDATE directories SET vacation_id = (
    SELECT id FROM vacations
    WHERE vacations.folder_id = directories.folder_id AND name = CASE instr(substr(path, 2), X'2F') WHEN 0 THEN substr(path, 2)
ELSE substr(path, 2, instr(substr(path, 2), X'2F') - 1) END
) WHERE path <> X'2F' AND folder_id = NEW.id AND NEW.kind = 'vacations';
    UPDATE vacations SET revision = revision + 1, (waiting, uploaded, failed, missing) = (
    SELECT COUNT(*) FILTER (WHERE state IN ('pending', 'uploading')),
        COUNT(*) FILTER (WHERE state = 'uploaded'), COUNT(*) FILTER (WHERE state = 'failed'),
        COUNT(*) FILTER (WHERE state IN ('missing', 'lost'))
    FROM directories CROSS JOIN photos ON photos.directory_id = directories.id
    WHERE directories.vacation_id = vacations.id AND photos.name <> CAST('vacation.json' AS BLOB) AND NOT photos.is_sidecar
) WHERE folder_id = NEW.id;
END;

CREATE TABLE counters (
    name TEXT NOT NULL,
    label TEXT NOT NULL,                               -- '' where the counter has none
    value INTEGER NOT NULL,
    PRIMARY KEY (name, label)
) STRICT, WITHOUT ROWID;

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

CREATE TABLE standing_notices (
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,                             -- '' where there is one of the kind
    told_at INTEGER NOT NULL,
    PRIMARY KEY (kind, subject)
) STRICT, WITHOUT ROWID;

CREATE TABLE profile_merges (
    profile TEXT PRIMARY KEY,
    into_profile TEXT NOT NULL,                        -- whose all of it is; no profile of this table
    CHECK (profile <> into_profile)
) STRICT, WITHOUT ROWID;

CREATE INDEX events_by_profile_uuid ON events (profile_uuid) WHERE profile_uuid IS NOT NULL;

CREATE TABLE merge_announcements (
    profile TEXT PRIMARY KEY,
    into_profile TEXT NOT NULL,
    CHECK (profile <> into_profile)
) STRICT, WITHOUT ROWID;

CREATE INDEX photos_filtered ON photos (folder_id) WHERE state = 'skipped' AND is_filtered = 1;

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
) STRICT, WITHOUT ROWID;

CREATE TRIGGER directory_gets_row AFTER INSERT ON photos BEGIN
    UPDATE directories SET digest = NULL WHERE id = NEW.directory_id AND digest IS NOT NULL;
END;

CREATE TRIGGER directory_loses_row AFTER DELETE ON photos BEGIN
    UPDATE directories SET digest = NULL WHERE id = OLD.directory_id AND digest IS NOT NULL;
END;

CREATE TRIGGER directory_has_other_row
AFTER UPDATE OF directory_id, name, device, inode, size, modified, changed, born, state, gone ON photos
WHEN OLD.directory_id <> NEW.directory_id OR OLD.name <> NEW.name OR OLD.gone <> NEW.gone
    OR OLD.device <> NEW.device OR OLD.inode <> NEW.inode OR OLD.size <> NEW.size
    OR OLD.modified <> NEW.modified OR OLD.changed IS NOT NEW.changed OR OLD.born IS NOT NEW.born
    OR (OLD.state = 'missing' OR OLD.state = 'lost') <> (NEW.state = 'missing' OR NEW.state = 'lost')
BEGIN
    UPDATE directories SET digest = NULL
    WHERE digest IS NOT NULL AND (id = OLD.directory_id OR id = NEW.directory_id);
END;

CREATE TABLE file_removals (
    photo_id INTEGER PRIMARY KEY REFERENCES photos (id) ON DELETE CASCADE,
    generation INTEGER NOT NULL
) STRICT;

CREATE INDEX restore_jobs_marked ON restore_jobs (id) WHERE marked_in IS NOT NULL;

CREATE TABLE restore_reservations (
    id INTEGER PRIMARY KEY,                            -- that of the job, which no other gets
    mark TEXT NOT NULL,                                -- of the name of its file
    folder BLOB NOT NULL,                              -- where the file is put
    makes_folder INTEGER NOT NULL CHECK (makes_folder IN (0, 1)),
    owner TEXT NOT NULL,                               -- the process that makes the job
    made_at INTEGER NOT NULL
, made_folders INTEGER NOT NULL DEFAULT 0 CHECK (made_folders >= 0)) STRICT;

CREATE UNIQUE INDEX shares_open ON shares (folder, selection, quality, twin)
    WHERE state IN ('preparing', 'waiting', 'live');

CREATE TABLE gone_shares (
    share TEXT PRIMARY KEY,                            -- a UUID
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX objects_listed
    ON objects (key, size, storage_class, restore_state, restored_until, etag, problem);

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

CREATE TABLE folder_drives (
    folder_id INTEGER NOT NULL REFERENCES folders (id),
    path BLOB NOT NULL,                                -- below the folder, as in directories
    drive TEXT NOT NULL,                               -- how the file system of its photos is recognised
    PRIMARY KEY (folder_id, path)
) STRICT, WITHOUT ROWID;

CREATE INDEX objects_unarchived ON objects (stored_at, key, size)
    WHERE storage_class NOT IN ('GLACIER', 'DEEP_ARCHIVE');

CREATE TABLE guest_photos (
    share TEXT NOT NULL,                               -- a UUID
    slot INTEGER NOT NULL,
    sha256 BLOB NOT NULL,
    size INTEGER NOT NULL,
    content_type TEXT NOT NULL,
    received_at INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'accepted', 'refused')),
    decided_at INTEGER,
    path BLOB,                                         -- of the accepted one
    reason TEXT,
    PRIMARY KEY (share, slot),
    CHECK ((state = 'waiting') = (decided_at IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX guest_photos_waiting ON guest_photos (share) WHERE state = 'waiting';

CREATE TABLE guest_objects (
    share TEXT NOT NULL,                               -- a UUID
    key TEXT NOT NULL,
    mark TEXT NOT NULL,                                -- which one of its key
    slot INTEGER NOT NULL,                             -- of the photo that it is
    PRIMARY KEY (share, key),
    FOREIGN KEY (share, slot) REFERENCES guest_photos (share, slot)
) STRICT, WITHOUT ROWID;

CREATE TABLE drives (
    id INTEGER PRIMARY KEY,
    identity TEXT NOT NULL UNIQUE              -- as in folder_drives
) STRICT;

CREATE INDEX restore_items_ended ON restore_items (expires_at) WHERE state = 'expired';

CREATE TABLE denied_objects (
    work TEXT NOT NULL,
    key TEXT NOT NULL,
    denied_at INTEGER NOT NULL,
    PRIMARY KEY (work, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX photos_untold ON photos (folder_id, directory_id)
    WHERE drive IS NULL AND state <> 'missing' AND state <> 'lost';

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

CREATE TABLE forgotten_ruins (
    key TEXT PRIMARY KEY,
    problem TEXT NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO grdb_migrations (identifier) VALUES
    ('folders, photos, objects, attempts'),
    ('restores, classes, memory'),
    ('vacations'),
    ('shares'),
    ('gallery events'),
    ('projects'),
    ('what is left out'),
    ('times of change and birth'),
    ('mounts below folders'),
    ('id of the store'),
    ('what servers refused'),
    ('events under one id'),
    ('lost photos, proofs'),
    ('objects by the digest of their bytes'),
    ('what copies leave out'),
    ('photos in hand at unclean ends'),
    ('what shares were made of'),
    ('offsets of capture times'),
    ('earlier versions of photos, entries that are left out'),
    ('the key of pseudonyms'),
    ('photos of events in hand at unclean ends'),
    ('owners of restores that are being sent'),
    ('the catalogue in the store'),
    ('further places of restored photos'),
    ('what other machines are told'),
    ('deletions for good'),
    ('ids of profiles from the catalogue'),
    ('files that were matched and not read'),
    ('shares and several machines'),
    ('owners of shares'),
    ('interrupted writes of the catalogue'),
    ('rebuilds under way'),
    ('objects of shares'),
    ('keys that were forgotten'),
    ('originals'),
    ('damaged objects of silent machines'),
    ('films'),
    ('originals on their way'),
    ('sidecars'),
    ('counters'),
    ('cleanups of old events'),
    ('standing notices'),
    ('names and merges of profiles'),
    ('names of shared files'),
    ('photos of guests'),
    ('announced merges of profiles'),
    ('filters of folders'),
    ('files that came untold'),
    ('what archived photos tell of themselves'),
    ('digests of directories'),
    ('files that are being removed'),
    ('folders that restores are saved in'),
    ('marks of folders that restores are saved in'),
    ('numbers of restores that are about to be made'),
    ('shares beside another of the same'),
    ('what parts of the catalogue are known by'),
    ('folders that restores have made'),
    ('objects that the store could not tell of'),
    ('restored photos that were given up'),
    ('shares of other machines that are gone'),
    ('objects as they are listed'),
    ('objects that nobody can tell of'),
    ('drives of folders'),
    ('objects by their age'),
    ('stores that refuse photos'),
    ('objects of guests'),
    ('drives of photos'),
    ('files of projects of which another content is stored'),
    ('ends of restored copies that are over'),
    ('photos that count as copies on another drive'),
    ('objects that the store denied'),
    ('photos of drives that told nothing'),
    ('names of before that look like wildcards'),
    ('damaged objects that were forgotten'),
    ('whose versions of projects are'),
    ('damaged objects as they were listed');

INSERT INTO agent (id, archive_floor, retries_asked, catalog_next, catalog_tracking, unclear_objects, store_refuses) VALUES
    (1, 0, 0, 1, 0, 0, 0);

INSERT INTO sqlite_sequence (name, seq) VALUES
    ('vacations', 0);
