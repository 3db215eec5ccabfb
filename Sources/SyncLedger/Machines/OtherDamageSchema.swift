/// A migration: damaged objects of machines that are silent. It has shipped when you read this: see ``Schema``.
enum OtherDamageSchema {
    static let name = "damaged objects of silent machines"

    static let all = [
        """
        CREATE TABLE other_damage (
            key TEXT PRIMARY KEY,
            machine TEXT,                                      -- what people call it; NULL: no catalogue names the object
            path BLOB,                                         -- there
            problem TEXT NOT NULL,
            found_at INTEGER NOT NULL,
            seen_at INTEGER NOT NULL                           -- when it was looked at last
        ) STRICT, WITHOUT ROWID;
        """
    ]
}
