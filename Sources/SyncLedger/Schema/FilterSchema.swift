/// A migration: filters of folders, and what they leave out. It has shipped when you read this: see ``Schema``.
enum FilterSchema {
    static let name = "filters of folders"
    static let all = [
        // The rules, one a line.
        "ALTER TABLE folders ADD COLUMN filter TEXT NOT NULL DEFAULT ''",
        // Says something of what is skipped.
        "ALTER TABLE photos ADD COLUMN is_filtered INTEGER NOT NULL DEFAULT 0 CHECK (is_filtered IN (0, 1))",
        "CREATE INDEX photos_filtered ON photos (folder_id) WHERE state = 'skipped' AND is_filtered = 1",
    ]
}
