/// A migration: what a segment of the catalogue is known by in the store. It has shipped when you read this: see ``Schema``.
enum CatalogProofSchema {
    static let name = "what parts of the catalogue are known by"
    static let all = [
        // Of the bytes, in hexadecimal digits; NULL: written by an earlier version, and not read since.
        "ALTER TABLE catalog_segments ADD COLUMN sha256 TEXT",
        "ALTER TABLE catalog_segments ADD COLUMN etag TEXT",  // as the store told it last
        "ALTER TABLE catalog_segments ADD COLUMN problem TEXT",  // NULL: the store has it, as far as is known
    ]
}
