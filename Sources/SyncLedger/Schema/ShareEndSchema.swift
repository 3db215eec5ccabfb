/// A migration: shares that were taken back on another machine, and those of other machines that are taken back here. It has
/// shipped when you read this: see ``Schema``.
enum ShareEndSchema {
    static let name = "shares and several machines"
    static let all = [
        // What people call the machine on which a person took the share back; NULL: this one, or it has not.
        "ALTER TABLE shares ADD COLUMN ended_by TEXT",
        removals,
        // The last day of which this machine has asked for the jobs that one machine does for all: 2026-11-23, UTC.
        "ALTER TABLE agent ADD COLUMN jobs_day TEXT",
    ]

    // told_at: the store has proved that it tells of the end. gone_at: a listing was empty.
    private static let removals = """
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
        """
}

/// A migration: shares of other machines that are gone. It has shipped when you read this: see ``Schema``.
enum ShareGoneSchema {
    static let name = "shares of other machines that are gone"
    static let all = [
        // By the end that their catalogues tell: one that was put off is another.
        """
        CREATE TABLE gone_shares (
            share TEXT PRIMARY KEY,                            -- a UUID
            expires_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """
    ]
}

/// A migration: shares that tell the names of files. It has shipped when you read this: see ``Schema``.
enum ShareNameSchema {
    static let name = "names of shared files"
    static let all = [
        "ALTER TABLE shares ADD COLUMN tells_names INTEGER NOT NULL DEFAULT 0 CHECK (tells_names IN (0, 1))"
    ]
}
