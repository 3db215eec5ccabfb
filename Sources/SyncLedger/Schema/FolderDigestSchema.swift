/// A migration: digests by which directories are as the ledger knows them. It has shipped when you read this: see ``Schema``.
enum FolderDigestSchema {
    static let name = "digests of directories"

    // What says that a directory is as it is known goes with the first change of what is known.
    static let all = [
        "ALTER TABLE directories ADD COLUMN digest BLOB",  // NULL: it has to be compared
        "ALTER TABLE directories ADD COLUMN digest_files INTEGER",  // of the directory with that digest
        """
        CREATE TRIGGER directory_gets_row AFTER INSERT ON photos BEGIN
            UPDATE directories SET digest = NULL WHERE id = NEW.directory_id AND digest IS NOT NULL;
        END
        """,
        """
        CREATE TRIGGER directory_loses_row AFTER DELETE ON photos BEGIN
            UPDATE directories SET digest = NULL WHERE id = OLD.directory_id AND digest IS NOT NULL;
        END
        """,
        """
        CREATE TRIGGER directory_has_other_row
        AFTER UPDATE OF directory_id, name, device, inode, size, modified, changed, born, state, gone ON photos
        WHEN OLD.directory_id <> NEW.directory_id OR OLD.name <> NEW.name OR OLD.gone <> NEW.gone
            OR OLD.device <> NEW.device OR OLD.inode <> NEW.inode OR OLD.size <> NEW.size
            OR OLD.modified <> NEW.modified OR OLD.changed IS NOT NEW.changed OR OLD.born IS NOT NEW.born
            OR (OLD.state = 'missing' OR OLD.state = 'lost') <> (NEW.state = 'missing' OR NEW.state = 'lost')
        BEGIN
            UPDATE directories SET digest = NULL
            WHERE digest IS NOT NULL AND (id = OLD.directory_id OR id = NEW.directory_id);
        END
        """,
    ]
}
