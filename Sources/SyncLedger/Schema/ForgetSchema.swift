/// A migration: stored photos that are deleted for good, and since when files are gone. It has shipped when you read this:
/// see ``Schema``.
enum ForgetSchema {
    static let name = "deletions for good"
    static let all = [deletions, absences, vacations]

    // Objects that nothing refers to any more, until the store has proved that they are gone. sent_at: a request to delete
    // it may be under way; before that, whoever stores the photo anew takes the row away. last_attempt: an upload that began
    // before the object was gone may have seen it: its row stays until they have all ended.
    private static let deletions = """
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
        """

    // Of those that are gone already, nobody knows since when: from now on, it is known.
    private static let absences = """
        ALTER TABLE photos ADD COLUMN missing_since INTEGER;
        UPDATE photos SET missing_since = CAST(strftime('%s', 'now') AS INTEGER) * 1000
            WHERE state IN ('missing', 'lost');
        """

    // Photos that its manifest names were forgotten since it was written.
    private static let vacations = """
        ALTER TABLE vacations ADD COLUMN has_forgotten INTEGER NOT NULL DEFAULT 0 CHECK (has_forgotten IN (0, 1));
        """
}
