/// A migration: what is left out on purpose, to be counted and named. It has shipped when you read this: see ``Schema``.
enum LeftOutSchema {
    // The column tells nothing of a photo that is not skipped: each decision to skip it writes it anew.
    static let all = [
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
        "CREATE INDEX event_notes_malformed ON event_notes (malformed) WHERE malformed > 0;",
    ]
}
