import SyncCore
import SyncDigest
import SyncLedger

/// Holds what a store lists of a share against what was put there.
struct ShareObjectCheck: Sendable {
    private static let readsInFlight = 3

    let store: any ObjectStore
    let ledger: LedgerQueue
    let share: ShareID

    /// - Parameters:
    ///   - photos: of which copies were put.
    ///   - listed: all that the store lists of the share.
    /// - Returns: those of its objects that are missing, or have other bytes. Only what the listing leaves open is read. What an
    ///   earlier version has put, or another machine, is known by its length, and where the store lists digests by those.
    /// - Throws: ``StoreError``, ``LedgerError``, `CancellationError`.
    func wrong(_ photos: [SharePhoto], _ listed: [ObjectKey: ObjectInfo]) async throws -> Set<ObjectKey> {
        let noted = try await ledger { [share] in try $0.shareObjects(share) }
        var wrong: Set<ObjectKey> = []
        var open: [ShareObject] = []
        for object in objects(photos, noted) {
            guard let info = listed[object.key] else {
                wrong.insert(object.key)
                continue
            }
            switch object.check(info) {
            case .same: continue
            case .other: wrong.insert(object.key)
            case .open(let known): open.append(known)
            }
        }
        wrong.formUnion(try await open.concurrently(Self.readsInFlight, readIsOther).compactMap(\.self))
        return wrong
    }

    private func objects(_ photos: [SharePhoto], _ noted: [ObjectKey: ShareObject]) -> [Expected] {
        let keys = ShareKeys(share)
        let copies = photos.map { photo in
            let key = keys.copy(photo.slot, film: photo.copy?.film)
            let note = noted[key].flatMap { $0.sha256 == photo.copy?.sha256 ? $0 : nil }
            return Expected(
                key: key, size: photo.copy?.size, sha256: photo.copy?.sha256, etag: note?.etag, isNoted: note != nil)
        }
        let pictured = photos.filter { $0.copy?.hasThumbnail == true }
        let others = pictured.map { keys.thumbnail($0.slot) } + [keys.page, keys.manifest]
        return copies
            + others.map { key in
                Expected(key: key, sha256: noted[key]?.sha256, etag: noted[key]?.etag, isNoted: noted[key] != nil)
            }
    }

    /// - Returns: its key, when it has other bytes.
    private func readIsOther(_ object: ShareObject) async throws -> ObjectKey? {
        switch try await ObjectReadback(store).read(object.key) {
        case .read(let info, let digest) where digest.sha256 == object.sha256:
            // The store calls it by another mark than it did: it was copied, or moved to another store.
            let note = ShareObject(key: object.key, sha256: object.sha256, etag: info.etag)
            try await ledger { [share] in try $0.noteShareObjects([note], of: share) }
            return nil
        case .read, .damaged, .missing: return object.key
        case .archived: return nil
        }
    }
}

/// What is known of an object of a share.
private struct Expected {
    enum Verdict {
        case same, other
        /// Its bytes have to be read.
        case open(ShareObject)
    }

    var key: ObjectKey
    var size: Int64?
    var sha256: SHA256Digest?
    var etag: String?
    /// Whether it was noted when it was put.
    var isNoted: Bool

    func check(_ info: ObjectInfo) -> Verdict {
        if let size, info.size != size { return .other }
        guard let sha256 else { return .same }
        if let told = info.sha256 { return told == sha256 ? .same : .other }
        if let mark = info.etag, mark == etag || !isNoted { return .same }
        return .open(ShareObject(key: key, sha256: sha256, etag: etag))
    }
}
