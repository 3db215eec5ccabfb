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
                summary.filtered += try db.total(LedgerQuery.filteredCount, [folder])
                let count = try db.total(LedgerQuery.leftOutCount, [folder])
                // The statement that names them takes SQLite far longer to prepare than the one that counts them.
                guard count > 0 else { continue }
                summary.count += count
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
}

extension LedgerQuery {
    package static let leftOutCount = """
        SELECT COUNT(*) FROM photos INDEXED BY photos_left_out
        WHERE folder_id = ? AND state = 'skipped' AND left_out IS NOT NULL
        """
    package static let filteredCount = """
        SELECT COUNT(*) FROM photos INDEXED BY photos_filtered
        WHERE folder_id = ? AND state = 'skipped' AND is_filtered = 1
        """
    package static let leftOut = """
        \(PhotoStatus.selection) WHERE photos.id IN (
            SELECT id FROM photos INDEXED BY photos_left_out
            WHERE folder_id = ? AND state = 'skipped' AND left_out IS NOT NULL ORDER BY queued_at LIMIT ?
        )
        """
    /// Photo, folder, and how many elements are no events.
    package static let malformedEventFiles = """
        SELECT photos.id, photos.folder_id, event_notes.malformed
        FROM event_notes INDEXED BY event_notes_malformed CROSS JOIN photos ON photos.id = event_notes.photo_id
        WHERE event_notes.malformed > 0 AND photos.state IN ('uploaded', 'skipped')
        """
}
