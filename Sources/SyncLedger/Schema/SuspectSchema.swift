/// A migration: photos that were in hand when the agent ended uncleanly. It has shipped when you read this: see ``Schema``.
enum SuspectSchema {
    static let name = "photos in hand at unclean ends"

    // `decoding` while a library has the photo: an agent that ends then ends with it.
    static let all = [
        """
        CREATE TABLE suspects (
            photo_id INTEGER PRIMARY KEY REFERENCES photos (id) ON DELETE CASCADE,
            generation INTEGER NOT NULL,
            decoding INTEGER NOT NULL DEFAULT 0 CHECK (decoding IN (0, 1))
        ) STRICT;
        """
    ]
}
