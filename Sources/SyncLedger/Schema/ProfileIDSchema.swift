/// A migration: profiles of which the store's catalogue has told the id, and nobody here the number. It has shipped when you
/// read this: see ``Schema``.
enum ProfileIDSchema {
    static let name = "ids of profiles from the catalogue"
    static let all = [
        """
        CREATE TABLE profile_ids (
            uuid TEXT PRIMARY KEY                              -- as in profiles; none that is there
        ) STRICT, WITHOUT ROWID;
        """
    ]
}

/// A migration: names of profiles that go by an id, and which profiles are one. It has shipped when you read this: see
/// ``Schema``.
enum ProfileMergeSchema {
    static let name = "names and merges of profiles"

    // profile_ids.uuid may be any id from now on. Ids are as they stand in keys: none tells a telephone number. A merge
    // leads to its end in one step.
    static let all = [
        """
        ALTER TABLE profile_ids ADD COLUMN name TEXT;
        ALTER TABLE profile_ids ADD COLUMN needs_number INTEGER NOT NULL DEFAULT 1 CHECK (needs_number IN (0, 1));
        CREATE TABLE profile_merges (
            profile TEXT PRIMARY KEY,
            into_profile TEXT NOT NULL,                        -- whose all of it is; no profile of this table
            CHECK (profile <> into_profile)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX events_by_profile_uuid ON events (profile_uuid) WHERE profile_uuid IS NOT NULL;
        """
    ]
}

/// A migration: merges of which other machines are to know before they begin. It has shipped when you read this: see
/// ``Schema``.
enum MergeAnnouncementSchema {
    static let name = "announced merges of profiles"
    static let all = [
        """
        CREATE TABLE merge_announcements (
            profile TEXT PRIMARY KEY,
            into_profile TEXT NOT NULL,
            CHECK (profile <> into_profile)
        ) STRICT, WITHOUT ROWID;
        """
    ]
}
