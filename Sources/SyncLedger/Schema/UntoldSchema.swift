/// A migration: files that came into a folder without a hint. It has shipped when you read this: see ``Schema``.
enum UntoldSchema {
    static let name = "files that came untold"
    static let all = [
        "ALTER TABLE folders ADD COLUMN untold BLOB",  // below the folder; NULL where each was told
        "ALTER TABLE folders ADD COLUMN untold_at INTEGER",  // nanoseconds since 1970
    ]
}
