import FoundationEssentials
import GRDB
import SyncCore
package import SystemPackage

/// Where it was looked for entries that are left out, below a folder.
package enum LeftOutPlace: Sendable {
    /// A directory, which is empty for the whole folder, and all below it.
    case below(FilePath)
    case directory(FilePath)
}

extension Ledger {
    /// Notes what was found that is never stored, in place of what was found there before.
    /// - Parameters:
    ///   - entries: their paths are below the folder.
    ///   - unseen: places below the folder that could not be seen: what was found at and below them stays.
    package func noteLeftOutEntries(
        _ entries: [LeftOutSummary.Item], of folder: FolderID, in place: LeftOutPlace, except unseen: [FilePath] = []
    ) throws(LedgerError) {
        let known = try read("list entries that are left out") { db in
            try db.leftOutEntries(of: folder, in: place)
                .filter { entry in !unseen.contains { entry.path.starts(with: $0) } }
        }
        let (before, now) = (Set(known), Set(entries))
        // Most scans find what the last one has found.
        if before == now { return }
        let gone = Set(known.map(\.path)).subtracting(entries.map(\.path))
        try write("note entries that are left out") { db in
            for path in gone { try db.forgetLeftOutEntry(path, of: folder) }
            for entry in now.subtracting(before) {
                try db.run(
                    "INSERT OR REPLACE INTO left_out_entries VALUES (?, ?, ?)",
                    [folder.rawValue, entry.path.directoryBlob, entry.reason])
            }
        }
    }

    /// Something is gone, with all below it.
    /// - Parameter path: below the folder.
    package func forgetLeftOutEntries(at path: FilePath, of folder: FolderID) throws(LedgerError) {
        let gone = try read("list entries that are left out") { db in
            try db.leftOutEntries(of: folder, in: .below(path)).map(\.path)
        }
        if gone.isEmpty { return }
        try write("forget entries that are gone") { db in
            for path in gone { try db.forgetLeftOutEntry(path, of: folder) }
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
        try write("forget entries that are gone") { db in
            for path in gone { try db.forgetLeftOutEntry(path, of: folder) }
        }
    }
}

extension Database {
    fileprivate func forgetLeftOutEntry(_ path: FilePath, of folder: FolderID) throws {
        try run(
            "DELETE FROM left_out_entries WHERE folder_id = ? AND path = ?", [folder.rawValue, path.directoryBlob])
    }

    /// Paths are below the folder. The cost is that of what is left out at the place, and below it.
    fileprivate func leftOutEntries(of folder: FolderID, in place: LeftOutPlace) throws -> [LeftOutSummary.Item] {
        let rows: [Row]
        switch place {
        case .below(let directory):
            let range = SubtreeRange(below: directory)
            rows = try rawRows(
                """
                SELECT path, reason FROM left_out_entries
                WHERE folder_id = ? AND (path = ? OR path > ? AND path < ?)
                """, [folder.rawValue, directory.directoryBlob, range.from, range.to])
        case .directory(let directory):
            let range = SubtreeRange(below: directory)
            // Names hold no slash.
            rows = try rawRows(
                """
                SELECT path, reason FROM left_out_entries
                WHERE folder_id = ? AND path > ? AND path < ? AND instr(substr(path, ?), x'2F') = 0
                """, [folder.rawValue, range.from, range.to, range.from.count + 1])
        }
        return rows.map { LeftOutSummary.Item(path: FilePath(directoryBlob: $0[0]), reason: $0[1]) }
    }

    func leftOutEntries(
        of folder: Int64, limit: Int, isAbsolute: Bool = true
    ) throws -> [LeftOutSummary.Item] {
        let root = isAbsolute ? try self.folder(FolderID(rawValue: folder)).path : FilePath()
        let rows = try rawRows(
            "SELECT path, reason FROM left_out_entries WHERE folder_id = ? ORDER BY path LIMIT ?", [folder, limit])
        return rows.map { LeftOutSummary.Item(path: root.pushing(FilePath(directoryBlob: $0[0])), reason: $0[1]) }
    }
}
