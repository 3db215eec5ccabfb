import GRDB

/// A migration: files that go with photos are stored. It has shipped when you read this: see ``Schema``.
enum SidecarSchema {
    static let migration = Migration(name: "sidecars", run: migrate)

    private static func migrate(_ db: Database) throws {
        try db.execute(sql: column)
        try leaveOutOfVacations(db)
        try db.execute(sql: recounted)
        try db.execute(sql: queued)
    }

    private static let column = """
        ALTER TABLE photos ADD COLUMN is_sidecar INTEGER AS (
            length(name) > 4 AND lower(CAST(substr(name, -4) AS TEXT)) IN ('.xmp', '.aae')
        ) VIRTUAL;
        """

    // A vacation has photos, and they have sidecars: wherever a trigger leaves out the description of one.
    private static func leaveOutOfVacations(_ db: Database) throws {
        let triggers = try Row.fetchAll(
            db, sql: "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND sql LIKE '%vacation.json%'")
        for trigger in triggers {
            let (name, text): (String, String) = (trigger[0], trigger[1])
            try db.execute(sql: "DROP TRIGGER \(name.quotedDatabaseIdentifier)")
            let description = "name <> CAST('vacation.json' AS BLOB)"
            try db.execute(
                sql: ["OLD", "NEW", "photos"].reduce(text) { text, row in
                    text.replacing("\(row).\(description)", with: "\(row).\(description) AND NOT \(row).is_sidecar")
                })
        }
    }

    // Those that waited, were in hand or had failed were counted.
    private static let recounted = """
        UPDATE vacations SET revision = revision + 1, (waiting, uploaded, failed, missing) = (
            SELECT COUNT(*) FILTER (WHERE state IN ('pending', 'uploading')),
                COUNT(*) FILTER (WHERE state = 'uploaded'), COUNT(*) FILTER (WHERE state = 'failed'),
                COUNT(*) FILTER (WHERE state IN ('missing', 'lost'))
            FROM directories CROSS JOIN photos ON photos.directory_id = directories.id
            WHERE directories.vacation_id = vacations.id AND photos.name <> CAST('vacation.json' AS BLOB)
                AND NOT photos.is_sidecar
        ) WHERE EXISTS (
            SELECT 1 FROM directories CROSS JOIN photos ON photos.directory_id = directories.id
            WHERE directories.vacation_id = vacations.id AND photos.is_sidecar AND photos.state <> 'skipped'
        );
        """

    // Older versions skipped them.
    private static let queued = """
        UPDATE photos SET state = 'pending', attempts = 0, next_try_at = 0, error = NULL, left_out = NULL
        WHERE state = 'skipped' AND is_sidecar
            AND folder_id IN (SELECT id FROM folders WHERE kind IN ('gallery', 'vacations'));
        """
}
