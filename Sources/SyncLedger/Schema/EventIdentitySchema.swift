/// A migration: several events may have one id. It has shipped when you read this: see ``Schema``.
enum EventIdentitySchema {
    static let name = "events under one id"
    static let all = [identity, renames, unread]

    // event_id stays unique: the id as it is given, and of a second event with that id with U+001F and a number behind it,
    // which no id holds. mark tells the photo of an event apart before it is stored: the MD5 of one in its file, a `/` and
    // the name of one beside it; NULL where that is not known.
    private static let identity = """
        ALTER TABLE events ADD COLUMN given_id TEXT
            GENERATED ALWAYS AS (substr(event_id, 1, instr(event_id || char(31), char(31)) - 1)) VIRTUAL;
        ALTER TABLE events ADD COLUMN mark BLOB;
        CREATE INDEX events_by_given_id ON events (given_id);
        CREATE INDEX retention_records_by_key ON retention_records (key);
        """

    // Before, files of some shapes were no files of events, and photos in the data of events were not seen.
    private static let unread = """
        UPDATE photos SET state = 'pending', generation = generation + 1, attempts = 0, next_try_at = 0, error = NULL
        WHERE state IN ('uploaded', 'skipped', 'failed') AND (CAST(name AS TEXT) LIKE '%.json'
            OR CAST(name AS TEXT) LIKE '%.jsonl' OR CAST(name AS TEXT) LIKE '%.ndjson')
        AND folder_id IN (SELECT id FROM folders WHERE kind = 'gallery');
        """

    // The name of a file may be the id of its event.
    private static let renames = """
        CREATE TRIGGER event_file_renamed AFTER UPDATE OF name ON photos
        WHEN NEW.name <> OLD.name AND NEW.state <> 'missing' BEGIN
            UPDATE photos SET state = CASE state WHEN 'uploading' THEN 'uploading' ELSE 'pending' END,
                generation = generation + 1, attempts = 0, next_try_at = 0, error = NULL
            WHERE id = NEW.id AND EXISTS (SELECT 1 FROM event_files WHERE photo_id = NEW.id);
        END;
        """
}
