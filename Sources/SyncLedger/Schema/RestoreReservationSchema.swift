/// A migration: restores that are about to be made. It has shipped when you read this: see ``Schema``.
enum RestoreReservationSchema {
    static let name = "numbers of restores that are about to be made"
    static let all = [
        """
        CREATE TABLE restore_reservations (
            id INTEGER PRIMARY KEY,                            -- that of the job, which no other gets
            mark TEXT NOT NULL,                                -- of the name of its file
            folder BLOB NOT NULL,                              -- where the file is put
            makes_folder INTEGER NOT NULL CHECK (makes_folder IN (0, 1)),
            owner TEXT NOT NULL,                               -- the process that makes the job
            made_at INTEGER NOT NULL
        ) STRICT;
        """
    ]
}
