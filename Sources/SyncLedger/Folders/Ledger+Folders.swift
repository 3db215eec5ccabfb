package import FoundationEssentials
import GRDB
package import SyncCore

extension Ledger {
    /// Makes the active folders those that are configured, in their order. A folder that is no longer configured keeps
    /// all that is known of it, but is neither uploaded nor counted; when it is configured again, it goes on.
    ///
    /// A folder that turns from or into a projects folder has all its photos pending again: their keys are others. One
    /// that becomes a gallery, or gets another profile, has its JSON files read again: their events depend on both.
    /// - Returns: the active folders, in the order given.
    package func register(_ folders: [WatchedFolder]) throws(LedgerError) -> [FolderRecord] {
        try write("register folders") { db in
            let known = try db.rows("SELECT \(FolderRecord.columns) FROM folders", as: FolderRecord.self)
            let before = Dictionary(known.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
            try db.run("UPDATE folders SET active = 0")
            for (position, folder) in folders.enumerated() {
                try db.run(
                    """
                    INSERT INTO folders (path, kind, profile, active, position) VALUES (?, ?, ?, 1, ?)
                    ON CONFLICT (path) DO UPDATE
                    SET kind = excluded.kind, profile = excluded.profile, active = 1, position = excluded.position
                    """,
                    [folder.path.blob, folder.kind.rawValue, folder.profile, position])
                guard let old = before[folder.path] else { continue }
                if old.kind.isPooled != folder.kind.isPooled {
                    try PhotoTable(db).repend(below: folder.path)
                } else if old.kind != folder.kind || old.profile != folder.profile {
                    try PhotoTable(db).repend(below: folder.path, onlyJSON: true)
                }
            }
            return try db.activeFolders()
        }
    }

    /// Notes how a folder is watched at the moment, for `status`.
    package func noteWatching(
        _ folder: FolderID, mode: WatchReport.Mode, note: String?
    ) throws(LedgerError) {
        try write("note how a folder is watched") { db in
            try db.run(
                "UPDATE folders SET watching = ?, note = ? WHERE id = ?", [mode.rawValue, note, folder.rawValue])
            return
        }
    }

    /// Notes that a folder was scanned from its root on.
    /// - Parameter problem: what it could not see, with the remedy; `nil` when it saw everything.
    package func noteScan(_ folder: FolderID, problem: String?, at time: Date) throws(LedgerError) {
        try write("note a scan") { db in
            try db.run(
                "UPDATE folders SET problem = ?, scanned_at = ? WHERE id = ?",
                [problem, time.milliseconds, folder.rawValue])
            return
        }
    }

    /// The files of a folder that the ledger believes to be on the disk: all but the missing and the lost. No walk.
    package func knownFileCount(_ folder: FolderID) throws(LedgerError) -> Int {
        try read("count the files of a folder") { db in
            let count = try db.number(
                "SELECT SUM(files) FROM photo_tallies WHERE folder_id = ? AND state NOT IN ('missing', 'lost')",
                [folder.rawValue])
            return Int(count ?? 0)
        }
    }
}

extension Database {
    func activeFolders() throws -> [FolderRecord] {
        try rows("SELECT \(FolderRecord.columns) FROM folders WHERE active = 1 ORDER BY position")
    }

    /// - Throws: when there is no such folder, which is the caller's fault.
    func folder(_ id: FolderID) throws -> FolderRecord {
        let record = try row(
            "SELECT \(FolderRecord.columns) FROM folders WHERE id = ?", [id.rawValue], as: FolderRecord.self)
        guard let record else { throw UnknownFolder() }
        return record
    }
}

/// A folder id that ``Ledger/register(_:)`` never gave.
struct UnknownFolder: Error {}
