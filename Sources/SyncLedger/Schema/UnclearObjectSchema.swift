/// A migration: how many objects the store could not tell of. It has shipped when you read this: see ``Schema``.
enum UnclearObjectSchema {
    static let name = "objects that the store could not tell of"
    static let all = [
        // When all were compared with its listing last.
        "ALTER TABLE agent ADD COLUMN unclear_objects INTEGER NOT NULL DEFAULT 0 CHECK (unclear_objects >= 0)"
    ]
}
