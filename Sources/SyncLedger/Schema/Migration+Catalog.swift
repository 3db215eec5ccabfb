/// What has changed of the catalogue since its first version. It has shipped when you read this: see ``Schema``.
extension Migration {
    static let machineNotes = Migration(
        "what other machines are told",
        "ALTER TABLE agent ADD COLUMN machine_note TEXT",  // SHA-256
        "ALTER TABLE agent ADD COLUMN machine_note_at INTEGER")

    static let catalogWrites = Migration(
        "interrupted writes of the catalogue",
        // JSON: a segment on its way to the store; NULL: none.
        "ALTER TABLE agent ADD COLUMN catalog_begun TEXT")

    static let rebuilds = Migration(
        "rebuilds under way",
        // The id of the machine whose place is taken; '': of none; NULL: no rebuild is under way.
        "ALTER TABLE agent ADD COLUMN rebuild_of TEXT")

    static let catalogProofs = Migration(
        "what parts of the catalogue are known by",
        // Of the bytes, in hexadecimal digits; NULL: written by an earlier version, and not read since.
        "ALTER TABLE catalog_segments ADD COLUMN sha256 TEXT",
        "ALTER TABLE catalog_segments ADD COLUMN etag TEXT",  // as the store told it last
        "ALTER TABLE catalog_segments ADD COLUMN problem TEXT")  // NULL: the store has it, as far as is known
}
