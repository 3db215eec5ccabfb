/// A migration: what was stored of earlier contents of photos, and what lies in watched folders and is never stored. It has
/// shipped when you read this: see ``Schema``.
enum EarlierVersionSchema {
    static let name = "earlier versions of photos, entries that are left out"
    static let all = [versions, notes, entries]

    // A row as long as the object is known. A content that comes back is no earlier one any more.
    private static let versions = """
        CREATE TABLE photo_versions (
            photo_id INTEGER NOT NULL REFERENCES photos (id) ON DELETE CASCADE,
            object_id INTEGER NOT NULL REFERENCES objects (id) ON DELETE CASCADE,
            stored_at INTEGER NOT NULL,                        -- when it became what is stored of the photo
            replaced_at INTEGER NOT NULL,
            PRIMARY KEY (photo_id, object_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX photo_versions_by_object ON photo_versions (object_id);
        """

    private static let notes = """
        CREATE TRIGGER photo_version_replaced AFTER UPDATE OF object_id ON photos
        WHEN OLD.object_id IS NOT NULL AND NEW.object_id IS NOT NULL AND NEW.object_id <> OLD.object_id BEGIN
            INSERT INTO photo_versions
            VALUES (NEW.id, OLD.object_id, COALESCE(OLD.uploaded_at, 0), COALESCE(NEW.uploaded_at, 0))
            ON CONFLICT DO UPDATE SET stored_at = excluded.stored_at, replaced_at = excluded.replaced_at;
            DELETE FROM photo_versions WHERE photo_id = NEW.id AND object_id = NEW.object_id;
        END;
        """

    private static let entries = """
        CREATE TABLE left_out_entries (
            folder_id INTEGER NOT NULL REFERENCES folders (id),
            path BLOB NOT NULL,                                -- below the folder
            reason TEXT NOT NULL,
            PRIMARY KEY (folder_id, path)
        ) STRICT, WITHOUT ROWID;
        """
}
