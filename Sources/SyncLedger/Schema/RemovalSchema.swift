/// A migration: files that this program is about to remove. It has shipped when you read this: see ``Schema``.
enum RemovalSchema {
    static let name = "files that are being removed"
    static let all = [
        // Files of events in which nothing is left. The generation is that of the file when it was so.
        """
        CREATE TABLE file_removals (
            photo_id INTEGER PRIMARY KEY REFERENCES photos (id) ON DELETE CASCADE,
            generation INTEGER NOT NULL
        ) STRICT
        """
    ]
}
