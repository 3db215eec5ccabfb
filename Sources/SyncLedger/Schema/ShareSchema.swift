/// A migration: shares and what they consist of. It has shipped when you read this: see ``Schema``.
enum ShareSchema {
    static let migration = Migration("shares", shares, photos, sharer)

    // An open share is the only one of its vacation, selection and quality: who shares the same again is to find it.
    private static let shares = """
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
            claimed_until INTEGER CHECK ((claimed_by IS NULL) = (claimed_until IS NULL)),
            CHECK (state <> 'live' OR published_at IS NOT NULL)
        ) STRICT;
        CREATE UNIQUE INDEX shares_open ON shares (folder, selection, quality)
            WHERE state IN ('preparing', 'waiting', 'live');
        CREATE INDEX shares_unended ON shares (number) WHERE state NOT IN ('revoked', 'expired');
        """

    // A row without a position is no longer shared: it goes when its objects are gone.
    private static let photos = """
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
            is_final INTEGER NOT NULL DEFAULT 0 CHECK (is_final IN (0, 1)),
            PRIMARY KEY (share, slot),
            CHECK ((stored_at IS NULL) = (sha256 IS NULL) AND (stored_at IS NULL) = (size IS NULL)
                AND (stored_at IS NULL) = (width IS NULL) AND (stored_at IS NULL) = (height IS NULL)),
            CHECK (failure IS NULL OR stored_at IS NULL)
        ) STRICT, WITHOUT ROWID;
        CREATE UNIQUE INDEX share_photos_shared ON share_photos (share, md5) WHERE position IS NOT NULL;
        """

    private static let sharer = """
        CREATE TABLE sharer (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            name TEXT NOT NULL
        ) STRICT;
        """
}
