/// A migration: restores know the folder that they are saved in by a file of their own there, and no longer by its device and
/// inode. It has shipped when you read this: see ``Schema``.
enum RestoreMarkSchema {
    static let name = "marks of folders that restores are saved in"
    static let all = [
        "ALTER TABLE restore_jobs DROP COLUMN output_device",
        "ALTER TABLE restore_jobs DROP COLUMN output_inode",
        // Of the file's name. NULL: the job is over, and its file was taken away.
        "ALTER TABLE restore_jobs ADD COLUMN mark TEXT",
        "UPDATE restore_jobs SET mark = lower(hex(randomblob(8)))",
        // The folder that the file is in. NULL: it was not put anywhere yet.
        "ALTER TABLE restore_jobs ADD COLUMN marked_in BLOB",
        "CREATE INDEX restore_jobs_marked ON restore_jobs (id) WHERE marked_in IS NOT NULL",
    ]
}
