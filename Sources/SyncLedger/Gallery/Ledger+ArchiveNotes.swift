import FoundationEssentials
import GRDB
package import SyncCore

/// What archived photos told of themselves, so that the store need not be asked for each of them again. It is a help and no
/// record: who cannot read or write it asks the store.
extension Ledger {
    /// In the order of the columns that begin with `meta_`. No title is among them: it is text of an event.
    private static let metadata = [
        MetadataName.eventID, MetadataName.eventType, MetadataName.originalCreatedAt, MetadataName.archivedAt,
        MetadataName.sha256, MetadataName.width, MetadataName.height,
    ]

    /// Photos as `head` told of them, as far as they are known and are still what they were then.
    /// - Parameter listed: as a listing tells of them now, from which class, restore and size are taken.
    package func archiveNotes(of listed: [ObjectInfo]) throws(LedgerError) -> [ObjectInfo] {
        try read("look up archived photos") { db in
            let statement = try db.cachedStatement(
                sql: "SELECT * FROM archive_notes WHERE key = ? AND etag = ? AND modified = ?")
            return try listed.compactMap { info in
                guard let etag = info.etag, let modified = info.modified?.milliseconds,
                    let row = try Row.fetchOne(statement, arguments: [info.key.rawValue, etag, modified])
                else { return nil }
                var noted = info
                noted.contentType = row[3]
                for (index, name) in Self.metadata.enumerated() { noted.metadata[name] = row[4 + index] }
                return noted
            }
        }
    }

    /// Notes what `head` told of photos. One with a title is left out.
    /// - Parameter photos: beside each, what a listing just before told of the same version.
    package func noteArchivedPhotos(_ photos: [(listed: ObjectInfo, told: ObjectInfo)]) throws(LedgerError) {
        if photos.isEmpty { return }
        try write("note archived photos") { db in
            for (listed, told) in photos where told.metadata[MetadataName.taskTitle] == nil {
                guard let etag = listed.etag, let modified = listed.modified?.milliseconds else { continue }
                try db.run(
                    "INSERT OR REPLACE INTO archive_notes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    [told.key.rawValue, etag, modified, told.contentType]
                        + StatementArguments(Self.metadata.map { told.metadata[$0] }))
            }
        }
    }

    /// Drops what is known of photos that are gone, by one page of a listing.
    /// - Parameters:
    ///   - prefix: of the listing.
    ///   - last: the last key of the page before; `nil` for the first page.
    ///   - end: the last key of the page; `nil` for the last page.
    ///   - keys: of the page.
    package func dropArchiveNotes(
        below prefix: String, after last: ObjectKey?, through end: ObjectKey?, but keys: Set<ObjectKey>
    ) throws(LedgerError) {
        let range = KeyRange(prefix: prefix, after: last, through: end)
        let gone = try read("look up archived photos") { db in
            try db.texts("SELECT key FROM archive_notes WHERE \(KeyRange.condition)", [range.from, range.to])
                .filter { try !keys.contains(ObjectKey($0)) }
        }
        if gone.isEmpty { return }
        try write(
            "drop notes of archived photos", "DELETE FROM archive_notes WHERE key = ?", each: gone.map { [$0] })
    }
}
