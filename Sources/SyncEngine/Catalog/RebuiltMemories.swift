import FoundationEssentials
import SyncCore
import SyncLedger

/// The archive of memories in a ledger that was made anew: what the store tells of each archived photo, one HEAD for each
/// that has no record yet.
struct RebuiltMemories: Sendable {
    private static let headsInFlight = 8
    private static let pageSize = 1_000

    let store: any ReadableStore
    let ledger: LedgerQueue
    let keys: KeyLayout

    /// A photo that cannot be looked at stops nothing: the next rebuild asks for it again.
    /// - Throws: ``StoreError`` about the whole store, ``LedgerError``, `CancellationError`.
    func run() async throws {
        let pages = LedgerPages(ledger: ledger, place: \ObjectRecord.key) { [keys] in
            try $0.unrecordedObjects(below: keys.galleryArchive, after: $1, limit: Self.pageSize)
        }
        for try await page in pages {
            let found = try await page.concurrently(Self.headsInFlight) { [store, keys] object in
                do {
                    return try await store.head(object.key).flatMap { Self.memory($0, keys) }
                } catch let error as StoreError where !error.concernsWholeStore {
                    return nil
                }
            }
            let memories = found.compactMap(\.self)
            try await ledger { try $0.noteArchived(memories) }
        }
    }

    /// `nil` for one whose writer told neither its type nor its digest: that was no cleanup of ours.
    private static func memory(
        _ info: ObjectInfo, _ keys: KeyLayout
    ) -> (record: RetentionRecord, object: ObjectRecord)? {
        guard let place = ArchivedPhotoPlace(info.key, of: keys) else { return nil }
        let photo = ArchivedGalleryPhoto(info, at: place)
        guard let type = photo.type, let sha256 = photo.sha256 ?? info.sha256 else { return nil }
        return (
            RetentionRecord(
                eventID: photo.eventID, userID: keys.user, profile: place.profile, type: type,
                createdAt: photo.createdAt, signedOffAt: photo.archivedAt ?? info.modified ?? photo.createdAt,
                photo: .init(key: info.key, sha256: sha256)), ObjectRecord(info)
        )
    }
}
