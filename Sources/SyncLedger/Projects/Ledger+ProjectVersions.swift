import GRDB
package import SyncCore

extension Ledger {
    /// Notes an image of a project that is stored under a key of its own, beside the one that counts.
    package func noteProjectVersion(_ object: ObjectRecord, of project: String) throws(LedgerError) {
        try write("note a version of a project") { db in
            _ = try db.store(object)
            try db.run(
                "INSERT OR IGNORE INTO project_versions (project_id, key) VALUES (?, ?)",
                [project, object.key.rawValue])
            return
        }
    }

    /// The earlier images of a project that are stored, the latest first.
    package func projectVersions(of project: String) throws(LedgerError) -> [ObjectRecord] {
        try read("list the versions of a project") { try $0.rows(LedgerQuery.versionsOfProject, [project]) }
    }

    /// Those that are the stored copy of a file: removed, it would be stored nowhere.
    package func projectVersionsInUse(of project: String) throws(LedgerError) -> Set<ObjectKey> {
        try read("list the versions of a project that files have") { db in
            Set(try db.rows(LedgerQuery.versionsInUse, [project], as: ObjectRecord.self).map(\.key))
        }
    }

    /// How many earlier images each project has.
    package func projectVersionCounts() throws(LedgerError) -> [ByteString: Int] {
        try read("count the versions of projects") { db in
            let rows = try Row.fetchAll(
                db, sql: "SELECT project_id, COUNT(*) FROM project_versions GROUP BY project_id")
            return rows.reduce(into: [:]) { $0[($1[0] as String).inBytes] = $1[1] }
        }
    }

    /// Forgets objects of projects that the store no longer has, and their versions.
    package func forgetProjectObjects(_ keys: [ObjectKey]) throws(LedgerError) {
        try write("forget objects of projects") { db in
            for key in keys {
                try db.run("DELETE FROM project_versions WHERE key = ?", [key.rawValue])
                try db.forgetObject(key)
            }
        }
    }
}

extension Database {
    /// Photos of which it was the stored copy are stored no longer: they are forgotten where they are missing, and skipped
    /// where they are on the disk.
    fileprivate func forgetObject(_ key: ObjectKey) throws {
        guard let id = try number("SELECT id FROM objects WHERE key = ?", [key.rawValue]) else { return }
        try run("DELETE FROM photos WHERE object_id = ? AND state IN ('missing', 'lost')", [id])
        try run(
            """
            UPDATE photos SET object_id = NULL, object_generation = NULL, uploaded_at = NULL,
                state = IIF(state = 'uploaded', 'pending', state), next_try_at = 0
            WHERE object_id = ?
            """, [id])
        try run("DELETE FROM objects WHERE id = ?", [id])
    }
}
