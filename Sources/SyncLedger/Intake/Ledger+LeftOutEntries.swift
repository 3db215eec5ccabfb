import FoundationEssentials
import GRDB
import SyncCore
package import SystemPackage

extension Ledger {
    /// Notes what a scan of a whole folder has found that is never stored, in place of what was found before.
    /// - Parameter entries: their paths are below the folder.
    package func noteLeftOutEntries(_ entries: [LeftOutSummary.Item], of folder: FolderID) throws(LedgerError) {
        let isKnown = try read("list entries that are left out") { db in
            try db.leftOutEntries(of: folder.rawValue, limit: entries.count + 1, isAbsolute: false) == entries
        }
        // Most scans find what the last one has found.
        if isKnown { return }
        try write("note entries that are left out") { db in
            try db.run("DELETE FROM left_out_entries WHERE folder_id = ?", [folder.rawValue])
            for entry in entries {
                try db.run(
                    "INSERT OR REPLACE INTO left_out_entries VALUES (?, ?, ?)",
                    [folder.rawValue, entry.path.directoryBlob, entry.reason])
            }
        }
    }

    /// How many entries are looked at again between two scans of a whole folder.
    private static let reviewed = 1_000

    /// Forgets entries that are gone by now: a program has given what it worked on its name.
    /// - Parameter isThere: whether there is still something at a path.
    package func reviewLeftOutEntries(of folder: FolderID, isThere: (FilePath) -> Bool) throws(LedgerError) {
        let (root, entries) = try read("list entries that are left out") { db in
            (
                try db.folder(folder).path,
                try db.leftOutEntries(of: folder.rawValue, limit: Self.reviewed, isAbsolute: false)
            )
        }
        let gone = entries.map(\.path).filter { !isThere(root.pushing($0)) }
        if gone.isEmpty { return }
        try write(
            "forget entries that are gone", "DELETE FROM left_out_entries WHERE folder_id = ? AND path = ?",
            each: gone.map { [folder.rawValue, $0.directoryBlob] })
    }
}

extension Database {
    func leftOutEntries(
        of folder: Int64, limit: Int, isAbsolute: Bool = true
    ) throws -> [LeftOutSummary.Item] {
        let root = isAbsolute ? try self.folder(FolderID(rawValue: folder)).path : FilePath()
        let rows = try rawRows(
            "SELECT path, reason FROM left_out_entries WHERE folder_id = ? ORDER BY path LIMIT ?", [folder, limit])
        return rows.map { LeftOutSummary.Item(path: root.pushing(FilePath(directoryBlob: $0[0])), reason: $0[1]) }
    }
}
