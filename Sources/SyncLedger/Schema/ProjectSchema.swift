/// A migration: projects and their versions. It has shipped when you read this: see ``Schema``.
enum ProjectSchema {
    static let migration = Migration("projects", lists, requests, versions, deletions)

    // What `projects.json` of a folder said when it could be read last. Folders are known by their paths here: a list may
    // be read before the folder was ever scanned.
    private static let lists = """
        CREATE TABLE project_lists (
            folder BLOB PRIMARY KEY,
            device INTEGER NOT NULL,                           -- of the file that was read: as for photos
            inode INTEGER NOT NULL,
            size INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            read_at INTEGER,                                   -- NULL: it could never be read
            problem TEXT                                       -- what is wrong with the file now
        ) STRICT;

        CREATE TABLE projects (
            folder BLOB NOT NULL REFERENCES project_lists (folder),
            id TEXT NOT NULL,
            template_id TEXT NOT NULL,
            template_name TEXT NOT NULL,
            thumbnail_url TEXT,
            created_at INTEGER NOT NULL,
            status TEXT NOT NULL CHECK (status IN ('Processing', 'Completed', 'Failed')),
            request_id TEXT,
            position INTEGER NOT NULL,                         -- in the file
            duplicate_of TEXT,
            given_up_at INTEGER,                               -- when it was told that it is no longer waited for
            PRIMARY KEY (folder, id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX projects_processing ON projects (folder, created_at) WHERE status = 'Processing';
        """

    private static let requests = """
        CREATE TABLE project_requests (
            id INTEGER PRIMARY KEY AUTOINCREMENT,              -- the oldest has the lowest
            request_id TEXT NOT NULL UNIQUE,
            project_id TEXT NOT NULL
        ) STRICT;
        """

    private static let versions = """
        CREATE TABLE project_versions (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            project_id TEXT NOT NULL,
            key TEXT NOT NULL UNIQUE
        ) STRICT;
        CREATE INDEX project_versions_by_project ON project_versions (project_id, key);
        """

    private static let deletions = """
        CREATE TABLE project_deletions (
            folder BLOB NOT NULL,
            project_id TEXT NOT NULL,
            PRIMARY KEY (folder, project_id)
        ) STRICT, WITHOUT ROWID;
        """
}
