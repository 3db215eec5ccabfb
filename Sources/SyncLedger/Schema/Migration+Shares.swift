/// What has changed of shares since their first version. It has shipped when you read this: see ``Schema``.
extension Migration {
    /// Of which photos of a share the file decides, and to whom a share is to be sent.
    static let shareLooks = Migration(
        "what shares were made of",
        // Where the photo was on the disk when it was chosen, nothing but that very file is shared: what its owner has
        // changed or removed since is not taken from the store. Shares of before are taken for such, unless they wait
        // for the archive.
        """
        ALTER TABLE share_photos ADD COLUMN is_local INTEGER NOT NULL DEFAULT 1 CHECK (is_local IN (0, 1));
        UPDATE share_photos SET is_local = 0 WHERE share IN (SELECT number FROM shares WHERE state = 'waiting');
        """,
        """
        ALTER TABLE shares ADD COLUMN recipient TEXT;          -- whatsapp:+49…, sms:+49…, email:…; NULL when it is over
        """,
        """
        ALTER TABLE shares ADD COLUMN link_end_is_known INTEGER NOT NULL DEFAULT 1 CHECK (link_end_is_known IN (0, 1));
        """)

    /// Shares that were taken back on another machine, and those of other machines that are taken back here.
    static let shareEnds = Migration(
        "shares and several machines",
        // What people call the machine on which a person took the share back; NULL: this one, or it has not.
        "ALTER TABLE shares ADD COLUMN ended_by TEXT",
        // told_at: the store has proved that it tells of the end. gone_at: a listing was empty.
        """
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
        """,
        // The last day of which this machine has asked for the jobs that one machine does for all: 2026-11-23, UTC.
        "ALTER TABLE agent ADD COLUMN jobs_day TEXT")

    static let shareOwners = Migration(
        "owners of shares",
        // The number of the take-over by which this machine has the share; 0: it has made it; NULL: it has taken it up
        // from a catalogue, and the store does not tell the others so yet.
        "ALTER TABLE shares ADD COLUMN ownership INTEGER DEFAULT 0 CHECK (ownership >= 0)")

    static let shareObjects = Migration(
        "objects of shares",
        // Photos, thumbnails, page and manifest, each as it was put there last. What was put by an earlier version is
        // not here.
        """
        CREATE TABLE share_objects (
            share INTEGER NOT NULL REFERENCES shares (number) ON DELETE CASCADE,
            key TEXT NOT NULL,
            sha256 BLOB NOT NULL,
            etag TEXT,                                         -- as the store gave it
            PRIMARY KEY (share, key)
        ) STRICT, WITHOUT ROWID;
        """)

    static let films = Migration(
        "films",
        "ALTER TABLE objects ADD COLUMN duration INTEGER",  // milliseconds; NULL: not known
        // Of the copy that is shared. The type is NULL where it is a JPEG.
        "ALTER TABLE share_photos ADD COLUMN media_type TEXT",
        "ALTER TABLE share_photos ADD COLUMN duration INTEGER",
        "ALTER TABLE share_photos ADD COLUMN has_poster INTEGER NOT NULL DEFAULT 1 CHECK (has_poster IN (0, 1))")

    static let shareNames = Migration(
        "names of shared files",
        "ALTER TABLE shares ADD COLUMN tells_names INTEGER NOT NULL DEFAULT 0 CHECK (tells_names IN (0, 1))")

    static let guests = Migration(
        "photos of guests",
        "ALTER TABLE shares ADD COLUMN takes_guests INTEGER NOT NULL DEFAULT 0 CHECK (takes_guests IN (0, 1))",
        // Why the last attempt to take photos in did not get to its end; NULL: it did.
        "ALTER TABLE shares ADD COLUMN guests_problem TEXT",
        // The share may be forgotten before its guests' photos are decided on: it is named, and not referred to.
        """
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
            source TEXT,                                       -- the object in the store, and which one of its place
            PRIMARY KEY (share, slot),
            CHECK ((state = 'waiting') = (decided_at IS NULL))
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX guest_photos_waiting ON guest_photos (share) WHERE state = 'waiting';
        """)

    /// Shares that a rebuild finds open beside another one of the same.
    static let shareTwins = Migration(
        "shares beside another of the same",
        // 0: the only one that is ever made of its folder, selection and quality; else it was shared with a ledger that
        // did not know of the other one.
        "ALTER TABLE shares ADD COLUMN twin INTEGER NOT NULL DEFAULT 0 CHECK (twin >= 0)",
        "DROP INDEX shares_open",
        """
        CREATE UNIQUE INDEX shares_open ON shares (folder, selection, quality, twin)
            WHERE state IN ('preparing', 'waiting', 'live')
        """)

    static let goneShares = Migration(
        "shares of other machines that are gone",
        // By the end that their catalogues tell: one that was put off is another.
        """
        CREATE TABLE gone_shares (
            share TEXT PRIMARY KEY,                            -- a UUID
            expires_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """)

    /// One photo may have been sent twice: which photo it is stands with each object, and no longer with the photo.
    static let guestObjects = Migration(
        "objects of guests",
        "DROP INDEX guest_photos_waiting",
        "ALTER TABLE guest_photos RENAME TO guest_photos_before",
        """
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
        """,
        """
        INSERT INTO guest_photos
        SELECT share, slot, sha256, size, content_type, received_at, state, decided_at, path, reason
        FROM guest_photos_before
        """,
        "CREATE INDEX guest_photos_waiting ON guest_photos (share) WHERE state = 'waiting'",
        """
        CREATE TABLE guest_objects (
            share TEXT NOT NULL,                               -- a UUID
            key TEXT NOT NULL,
            mark TEXT NOT NULL,                                -- which one of its key
            slot INTEGER NOT NULL,                             -- of the photo that it is
            PRIMARY KEY (share, key),
            FOREIGN KEY (share, slot) REFERENCES guest_photos (share, slot)
        ) STRICT, WITHOUT ROWID;
        """,
        // What lay over another one came after it.
        """
        INSERT OR REPLACE INTO guest_objects (share, key, mark, slot)
        SELECT share, 'shares/' || share || '/guests/' || substr(source, 1, instr(source, ' ') - 1),
            substr(source, instr(source, ' ') + 1), slot
        FROM guest_photos_before WHERE instr(source, ' ') > 1 ORDER BY received_at, slot
        """,
        "DROP TABLE guest_photos_before")
}
