import GRDB
package import SystemPackage

/// What is left out of the store on purpose, counted, and the first of it by name.
package struct LeftOutSummary: Hashable, Sendable {
    package struct Item: Hashable, Sendable {
        /// Absolute.
        package var path: FilePath
        /// In plain words.
        package var reason: String

        package init(path: FilePath, reason: String) {
            self.path = path
            self.reason = reason
        }
    }

    /// Files, and elements of event files that are no events.
    package var count: Int
    /// At most as many as were asked for.
    package var items: [Item]
    /// Files that filters of their folders leave out, which are not in ``count``.
    package var filtered: Int

    package init(count: Int = 0, items: [Item] = [], filtered: Int = 0) {
        self.count = count
        self.items = items
        self.filtered = filtered
    }
}

extension Ledger {
    /// What of the active folders is left out on purpose: files by ``LeftOut``, and elements of event files of which
    /// nobody could say what they are. Its cost is that of what is left out, not of what there is.
    package func leftOut(naming limit: Int) throws(LedgerError) -> LeftOutSummary {
        try read("count what is left out") { db in
            let folders = try db.activeFolders().map(\.id.rawValue)
            var summary = LeftOutSummary()
            for folder in folders {
                summary.count += try db.total(LedgerQuery.leftOutCount, [folder])
                summary.filtered += try db.total(LedgerQuery.filteredCount, [folder])
                try db.rows(LedgerQuery.leftOut, [folder, limit - summary.items.count], as: PhotoStatus.self)
                    .forEach { summary.items.append(LeftOutSummary.Item(path: $0.path, reason: $0.error ?? "")) }
            }
            for file in try db.rawRows(LedgerQuery.malformedEventFiles) where folders.contains(file[1]) {
                summary.count += file[2] as Int
                guard summary.items.count < limit,
                    let photo = try db.row(LedgerQuery.photo, [file[0] as Int64], as: PhotoStatus.self)
                else { continue }
                summary.items.append(LeftOutSummary.Item(path: photo.path, reason: photo.note ?? ""))
            }
            for folder in folders {
                if summary.items.count < limit {
                    summary.items += try db.leftOutEntries(of: folder, limit: limit - summary.items.count)
                }
                summary.count += try db.total("SELECT COUNT(*) FROM left_out_entries WHERE folder_id = ?", [folder])
            }
            return summary
        }
    }

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
    fileprivate func leftOutEntries(
        of folder: Int64, limit: Int, isAbsolute: Bool = true
    ) throws -> [LeftOutSummary.Item] {
        let root = isAbsolute ? try self.folder(FolderID(rawValue: folder)).path : FilePath()
        let rows = try rawRows(
            "SELECT path, reason FROM left_out_entries WHERE folder_id = ? ORDER BY path LIMIT ?", [folder, limit])
        return rows.map { LeftOutSummary.Item(path: root.pushing(FilePath(directoryBlob: $0[0])), reason: $0[1]) }
    }
}
