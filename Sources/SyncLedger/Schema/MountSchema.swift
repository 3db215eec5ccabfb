/// A migration: what is mounted below watched folders. It has shipped when you read this: see ``Schema``.
enum MountSchema {
    static let all = [
        """
        CREATE TABLE folder_mounts (
            folder_id INTEGER NOT NULL REFERENCES folders (id),
            path BLOB NOT NULL,                                -- below the folder, as in directories
            is_mounted INTEGER NOT NULL CHECK (is_mounted IN (0, 1)),
            since INTEGER NOT NULL,                            -- when that was seen first
            PRIMARY KEY (folder_id, path)
        ) STRICT, WITHOUT ROWID;
        """
    ]
}
