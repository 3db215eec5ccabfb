import GRDB
import SyncCore

extension Ledger {
    /// Files of active galleries that may hold events, and that wait in the queue or are in hand: what they hold is not
    /// known yet. Nothing is claimed by this; such a claim serves ``noteEvents(_:photos:isWhole:of:)`` and no commit.
    package func unreadEventFiles() throws(LedgerError) -> [Claim] {
        try read("list unread files of events") { db in
            var ids: [Int64] = []
            for folder in try db.activeFolders() where folder.kind == .gallery {
                ids += try db.numbers(LedgerQuery.queuedEventFiles, [folder.id.rawValue])
                ids += try db.numbers(LedgerQuery.eventFilesInHand, [folder.id.rawValue])
            }
            return try ids.compactMap { id -> Claim? in
                guard let row = try db.row(LedgerQuery.rowOfPhoto, [id], as: PhotoRow.self), !row.isGone,
                    let place = try db.row(LedgerQuery.placeOfRow, [id], as: PhotoPlace.self)
                else { return nil }
                return Claim(
                    photoID: id, attemptID: 0, generation: row.generation, folder: place.folder,
                    relativePath: place.path, stamp: row.stamp, attempts: 0, isSuspect: try db.isSuspect(row))
            }
        }
    }

    /// Files of active galleries with elements that are no events, and those that cannot be read, as they were read last.
    /// Text in them is never due: nobody knows its time.
    package func unclearEventFiles() throws(LedgerError) -> [LeftOutSummary.Item] {
        try read("list unclear files of events") { db in
            let galleries = try db.activeFolders().filter { $0.kind == .gallery }.map(\.id.rawValue)
            let unread = try galleries.flatMap { try db.numbers(LedgerQuery.unreadableEventFiles, [$0]) }
            let malformed = try db.rows(LedgerQuery.allMalformedEventFiles, [], as: EventFileLeftOut.self)
                .filter { galleries.contains($0.folder) }.map(\.photo)
            return try (malformed + unread).compactMap { id in
                try db.row(LedgerQuery.photo, [id], as: PhotoStatus.self).map {
                    LeftOutSummary.Item(path: $0.path, reason: $0.note ?? $0.error ?? "")
                }
            }
        }
    }
}
