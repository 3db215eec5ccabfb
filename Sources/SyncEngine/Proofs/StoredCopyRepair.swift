import FoundationEssentials
import SyncCore
import SyncDigest
import SyncLedger

/// Stores again what is gone or damaged, and has no file on this machine any more: archived photos of events, earlier
/// images of projects, lost photos, earlier contents and, in the pool, photos of events that a cleanup has cut, from
/// whatever whole object has the same content (the photo's in the pool under its MD5, or another one); copies of photos
/// from their originals.
package struct StoredCopyRepair: Sendable {
    /// Bytes. What is larger is not brought through memory.
    static let mostBytes = 512 << 20
    private static let pageSize = 100
    /// So many objects of the same content are tried.
    private static let mostTwins = 3

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
        let moved = moves?.lookup()
        let pruned = self.pruned?.lookup()
        let pages = LedgerPages(ledger: ledger, place: \ObjectRecord.key) {
            try $0.brokenWithoutFile(after: $1, limit: Self.pageSize)
        }
        for try await page in pages {
            for object in page {
                do {
                    if object.problem == .missing {
                        if try await moved?.follow(object) != nil { continue }
                        if let pruned, try await pruned.forget(object) { continue }
                    }
                    if try await repair(object) { count += 1 }
                } catch let error as StoreError where error.mayConcernOneObject {
                    // What has its content cannot be read now, or its place is archived: it stays lost.
                }
            }
            if page.count < Self.pageSize { break }
        }
        return count
    }

    private func repair(_ broken: ObjectRecord) async throws -> Bool {
        let sources = try await self.sources(of: broken)
        guard !sources.isEmpty, try await condition(toReplace: broken) != nil else { return false }
        var failure: StoreError?
        for source in sources {
            do {
                if try await put(source, inPlaceOf: broken) { return true }
            } catch let error as StoreError where error.mayConcernOneObject {
                // The place itself: another source changes nothing.
                if error.key == broken.key.rawValue { throw error }
                failure = error
            }
        }
        if let failure { throw failure }
        return false
    }

    /// Under the name of a file another machine may have stored its own by now: that one stays.
    /// - Returns: `nil` where nothing may be put.
    private func condition(toReplace broken: ObjectRecord) async throws -> PutCondition? {
        guard broken.key.isNamedByFile, !broken.key.isProjectVersion else { return .overwrite }
        guard let stored = try await store.readableHead(broken.key) else { return .ifAbsent }
        return stored.photoMD5 == broken.md5 ? .overwrite : nil
    }

    /// Objects of its content that can be read, as far as is known: its photo's in the pool first.
    private func sources(of broken: ObjectRecord) async throws -> [ObjectRecord] {
        let pool = broken.md5.flatMap { try? keys.photo(PhotoID($0)) }
        let found = try await ledger { [keys] ledger in
            var objects = try ledger.twins(of: broken, orBelow: keys.projects, limit: Self.mostTwins)
            if let pool, let copy = try ledger.object(pool), copy.md5 == broken.md5 {
                objects = [copy] + objects.filter { $0.key != pool }
            }
            return objects
        }
        let now = time.now()
        return found.filter { $0.key != broken.key && $0.canBeRead(at: now) && $0.size <= Self.mostBytes }
    }

    /// - Returns: `false` where the source does not have its bytes, the place is another one's, or the store does not
    ///   hold what it took.
    private func put(_ source: ObjectRecord, inPlaceOf broken: ObjectRecord) async throws -> Bool {
        let bytes = try await ObjectReader(store: store, limit: Self.mostBytes, time: time).read(source.key)
        let digest = ContentDigest(of: bytes)
        guard digest.sha256 == source.sha256 ?? digest.sha256 else { return false }
        // Of the same bytes it may be told of which file they are the copy, where that was not known.
        let md5 = broken.md5 ?? source.md5
        var metadata = try await self.metadata(of: broken)
        metadata[MetadataName.sha256] = "\(digest.sha256)"
        metadata[MetadataName.storedMD5] = "\(digest.md5)"
        metadata[MetadataName.md5] = md5.map { "\($0)" }
        metadata[MetadataName.width] = source.width.map(String.init)
        metadata[MetadataName.height] = source.height.map(String.init)
        metadata[MetadataName.duration] = source.duration?.secondsText
        // To read the source may have taken long.
        guard let condition = try await self.condition(toReplace: broken) else { return false }
        let attributes = ObjectAttributes(contentType: source.contentType, metadata: metadata)
        guard
            case .holds(let etag, let storageClass) = try await ProvenPut(store)(
                ObjectBody(bytes: bytes, digest: digest), at: broken.key, attributes, condition)
        else { return false }
        let record = ObjectRecord(
            key: broken.key, size: Int64(bytes.count), md5: md5, sha256: digest.sha256, contentType: source.contentType,
            storageClass: storageClass, width: source.width, height: source.height, duration: source.duration,
            takenAt: source.takenAt, storedAt: time.now(), storedMD5: digest.md5, etag: etag)
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
