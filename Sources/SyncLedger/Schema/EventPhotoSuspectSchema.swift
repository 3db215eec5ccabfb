/// A migration: of files of events, the one photo that was decoded when the agent ended. It has shipped when you read
/// this: see ``Schema``.
enum EventPhotoSuspectSchema {
    static let name = "photos of events in hand at unclean ends"

    // `photo`: which of the file's photos a library has. They go by their bytes: the file may grow, and an id may stand
    // twice in it.
    static let all = [
        "ALTER TABLE suspects ADD COLUMN photo BLOB",
        """
        CREATE TABLE event_photos_set_aside (
            photo_id INTEGER NOT NULL REFERENCES photos (id) ON DELETE CASCADE,
            md5 BLOB NOT NULL,
            PRIMARY KEY (photo_id, md5)
        ) STRICT, WITHOUT ROWID
        """,
    ]
}
