import FoundationEssentials
import SyncCore
import SyncDigest
import SyncLedger

/// Stores again what is gone or damaged, and has no file on this machine any more: archived photos of events and
/// earlier images of projects from the pool, where the photo was stored, too, under its MD5; copies of photos from
/// their originals.
package struct StoredCopyRepair: Sendable {
    /// Bytes. What is larger is not brought through memory.
    static let mostBytes = 512 << 20
    private static let pageSize = 100

    let store: any ObjectStore
    let ledger: LedgerQueue
    let keys: KeyLayout
    /// Finds archived photos that another machine has moved.
    var moves: MergedPhotos?
    /// Tells which earlier images of projects another machine has removed.
    var pruned: PrunedVersions?
    /// Makes copies of photos anew; `nil` where nobody does.
    var copies: CopyFromOriginal?
    /// What reading originals may cost.
    var verification = VerificationRule.none
    let time: TimeSource

    /// What cannot be repaired now stays as it is, and is told as lost.
    /// - Returns: how many are stored again.
    /// - Throws: ``StoreError`` when the store as a whole cannot be used; ``LedgerError``, `CancellationError`.
    @discardableResult
    package func run() async throws -> Int {
        var count = 0
        let look = moves?.look()
        let pages = LedgerPages(ledger: ledger, place: \ObjectRecord.key) {
            try $0.lostBesidePhotos(after: $1, limit: Self.pageSize)
        }
        for try await page in pages {
            for object in page {
                do {
                    if object.problem == .missing {
                        if try await look?.follow(object) != nil { continue }
                        if let pruned, try await pruned.forget(object) { continue }
                    }
                    if try await repair(object) { count += 1 }
                } catch let error as StoreError where error.mayConcernOneObject {
                    // Its pool copy cannot be read now, or its place is archived: it stays lost.
                }
            }
            if page.count < Self.pageSize { break }
        }
        return count
    }

    private func repair(_ broken: ObjectRecord) async throws -> Bool {
        guard let md5 = broken.md5, let pool = try? keys.photo(PhotoID(md5)) else { return false }
        let known = try await ledger { try $0.object(pool) }
        guard let known, known.problem == nil, known.md5 == md5, !known.storageClass.isArchive else { return false }
        let bytes = try await ObjectReader(store: store, limit: Self.mostBytes, time: time).read(pool)
        let digest = ContentDigest(of: bytes)
        guard digest.sha256 == known.sha256 ?? digest.sha256 else { return false }
        var metadata = try await metadata(of: broken)
        metadata[MetadataName.sha256] = "\(digest.sha256)"
        metadata[MetadataName.storedMD5] = "\(digest.md5)"
        metadata[MetadataName.md5] = "\(md5)"
        metadata[MetadataName.width] = known.width.map(String.init)
        metadata[MetadataName.height] = known.height.map(String.init)
        metadata[MetadataName.duration] = known.duration?.secondsText
        let attributes = ObjectAttributes(contentType: known.contentType, metadata: metadata)
        guard
            case .holds(let etag, let storageClass) = try await ProvenPut(store)(
                ObjectBody(bytes: bytes, digest: digest), at: broken.key, attributes, .overwrite)
        else { return false }
        let record = ObjectRecord(
            key: broken.key, size: Int64(bytes.count), md5: md5, sha256: digest.sha256, contentType: known.contentType,
            storageClass: storageClass, width: known.width, height: known.height, duration: known.duration,
            takenAt: known.takenAt, storedAt: time.now(), storedMD5: digest.md5, etag: etag)
        try await ledger.finish { try $0.noteStoredAgain(record) }
        return true
    }

    /// What the object said of itself, where it still does; else what the record of its event says.
    private func metadata(of broken: ObjectRecord) async throws -> [String: String] {
        if let head = try await store.readableHead(broken.key), !head.metadata.isEmpty { return head.metadata }
        guard let record = try await ledger({ try $0.retentionRecord(of: broken.key) }) else { return [:] }
        return [
            MetadataName.user: record.userID, MetadataName.profile: record.profile,
            MetadataName.eventID: record.eventID,
            MetadataName.eventType: record.type.rawValue,
            MetadataName.originalCreatedAt: record.createdAt.formatted(.iso8601),
            MetadataName.archivedAt: record.signedOffAt.formatted(.iso8601),
        ]
    }
}
