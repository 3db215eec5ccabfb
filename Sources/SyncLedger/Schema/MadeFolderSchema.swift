/// A migration: folders that were made for the photos of restores. It has shipped when you read this: see ``Schema``.
enum MadeFolderSchema {
    static let name = "folders that restores have made"
    static let all = [
        // How many: the one that photos are saved in, and those above it that were not there before.
        "ALTER TABLE restore_reservations ADD COLUMN made_folders INTEGER NOT NULL DEFAULT 0 CHECK (made_folders >= 0)",
        "ALTER TABLE restore_jobs ADD COLUMN made_folders INTEGER NOT NULL DEFAULT 0 CHECK (made_folders >= 0)",
        "UPDATE restore_reservations SET made_folders = makes_folder",
    ]
}
