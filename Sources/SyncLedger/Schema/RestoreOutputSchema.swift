/// A migration: which folder restored photos were saved in. It has shipped when you read this: see ``Schema``.
enum RestoreOutputSchema {
    static let name = "folders that restores are saved in"
    static let all = [
        // Of the folder that had the name of the output when a photo was saved last. NULL: none was, or it is not known.
        "ALTER TABLE restore_jobs ADD COLUMN output_device INTEGER",
        "ALTER TABLE restore_jobs ADD COLUMN output_inode INTEGER",
    ]
}
