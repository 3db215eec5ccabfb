/// A migration: which photos of a restore were given up. It has shipped when you read this: see ``Schema``.
enum GivenUpSchema {
    static let name = "restored photos that were given up"
    static let all = [
        // Whether it was to be saved when the saving of its job was stopped, and was not since.
        "ALTER TABLE restore_items ADD COLUMN given_up INTEGER NOT NULL DEFAULT 0 CHECK (given_up IN (0, 1))"
    ]
}
