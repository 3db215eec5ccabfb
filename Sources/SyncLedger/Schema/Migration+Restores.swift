/// What has changed of restores since their first version. It has shipped when you read this: see ``Schema``.
extension Migration {
    static let restoreClaims = Migration(
        "owners of restores that are being sent",
        "ALTER TABLE restore_items ADD COLUMN claimed_by TEXT",
        "CREATE INDEX restore_items_claimed ON restore_items (claimed_by) WHERE claimed_by IS NOT NULL")

    /// One object may be saved in several places.
    static let restorePlaces = Migration(
        "further places of restored photos",
        "ALTER TABLE restore_items ADD COLUMN further BLOB")

    static let restoreOutputs = Migration(
        "folders that restores are saved in",
        // Of the folder that had the name of the output when a photo was saved last. NULL: none was, or it is not
        // known.
        "ALTER TABLE restore_jobs ADD COLUMN output_device INTEGER",
        "ALTER TABLE restore_jobs ADD COLUMN output_inode INTEGER")

    /// Restores know the folder that they are saved in by a file of their own there, and no longer by its device and
    /// inode.
    static let restoreMarks = Migration(
        "marks of folders that restores are saved in",
        "ALTER TABLE restore_jobs DROP COLUMN output_device",
        "ALTER TABLE restore_jobs DROP COLUMN output_inode",
        // Of the file's name. NULL: the job is over, and its file was taken away.
        "ALTER TABLE restore_jobs ADD COLUMN mark TEXT",
        "UPDATE restore_jobs SET mark = lower(hex(randomblob(8)))",
        // The folder that the file is in. NULL: it was not put anywhere yet.
        "ALTER TABLE restore_jobs ADD COLUMN marked_in BLOB",
        "CREATE INDEX restore_jobs_marked ON restore_jobs (id) WHERE marked_in IS NOT NULL")

    static let restoreReservations = Migration(
        "numbers of restores that are about to be made",
        """
        CREATE TABLE restore_reservations (
            id INTEGER PRIMARY KEY,                            -- that of the job, which no other gets
            mark TEXT NOT NULL,                                -- of the name of its file
            folder BLOB NOT NULL,                              -- where the file is put
            makes_folder INTEGER NOT NULL CHECK (makes_folder IN (0, 1)),
            owner TEXT NOT NULL,                               -- the process that makes the job
            made_at INTEGER NOT NULL
        ) STRICT;
        """)

    static let madeFolders = Migration(
        "folders that restores have made",
        // How many: the one that photos are saved in, and those above it that were not there before.
        "ALTER TABLE restore_reservations ADD COLUMN made_folders INTEGER NOT NULL DEFAULT 0 CHECK (made_folders >= 0)",
        "ALTER TABLE restore_jobs ADD COLUMN made_folders INTEGER NOT NULL DEFAULT 0 CHECK (made_folders >= 0)",
        "UPDATE restore_reservations SET made_folders = makes_folder")

    static let givenUp = Migration(
        "restored photos that were given up",
        // Whether it was to be saved when the saving of its job was stopped, and was not since.
        "ALTER TABLE restore_items ADD COLUMN given_up INTEGER NOT NULL DEFAULT 0 CHECK (given_up IN (0, 1))",
        // The output that a job had then. NULL: nobody has stopped it.
        "ALTER TABLE restore_jobs ADD COLUMN stopped_in BLOB")

    static let restoreEnds = Migration(
        "ends of restored copies that are over",
        "CREATE INDEX restore_items_ended ON restore_items (expires_at) WHERE state = 'expired'")
}
