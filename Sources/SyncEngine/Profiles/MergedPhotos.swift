package import SyncCore
import SyncDigest
package import SyncLedger
import SyncSystem

/// Finds archived photos that are not under the key that this ledger has for them, because a machine of the user has made
/// their profile another one's.
package struct MergedPhotos: Sendable {
    private let store: any ReadableStore
    private let ledger: LedgerQueue
    private let keys: KeyLayout
    private let others: OtherMerges

    package init(store: any ReadableStore, ledger: LedgerQueue, keys: KeyLayout, others: OtherMerges) {
        self.store = store
        self.ledger = ledger
        self.keys = keys
        self.others = others
    }

    /// A look at photos that are missing, one after the other or at once: what was merged is read with the first of them.
    package func look() -> MergedPhotosLook {
        MergedPhotosLook(store: store, ledger: ledger, keys: keys) { [ledger, others] in
            var next = try await ledger { try $0.profileNotes().merges }.mapValues { [$0] }
            for merge in try await others.readable() { next[merge.profile.inBytes, default: []].append(merge.into) }
            return next
        }
    }
}

/// What ``MergedPhotos/look()`` gives.
package final class MergedPhotosLook: Sendable {
    private let store: any ReadableStore
    private let ledger: LedgerQueue
    private let keys: KeyLayout
    private let read: @Sendable () async throws -> [ByteString: [String]]
    private let merges = Mutex<[ByteString: [String]]?>(nil)
    private let reading = Slots(1)

    fileprivate init(
        store: any ReadableStore, ledger: LedgerQueue, keys: KeyLayout,
        _ read: @escaping @Sendable () async throws -> [ByteString: [String]]
    ) {
        self.store = store
        self.ledger = ledger
        self.keys = keys
        self.read = read
    }

    /// Whose what was of a profile may be by now, the nearest first.
    /// - Parameter profile: as it stands in keys.
    /// - Throws: ``StoreError``, ``LedgerError``, `CancellationError`.
    func successors(of profile: String) async throws -> [String] {
        let next = try await known()
        let first = CatalogProfile.keyName(profile) ?? profile
        var (found, seen) = ([String](), Set([first.inBytes]))
        var open = [first]
        while !open.isEmpty {
            open = open.flatMap { next[$0.inBytes] ?? [] }.filter { seen.insert($0.inBytes).inserted }
            found += open
        }
        return found
    }

    private func known() async throws -> [ByteString: [String]] {
        try await reading.withSlot {
            if let merges = merges.withLock({ $0 }) { return merges }
            let found = try await read()
            merges.withLock { $0 = found }
            return found
        }
    }

    /// A photo that the store does not have under its key, where it is now. It has to have the same bytes.
    /// - Returns: `nil` where it is not found.
    /// - Throws: ``StoreError``, ``LedgerError``, `CancellationError`.
    func find(_ lost: ObjectRecord) async throws -> (object: ObjectRecord, profile: String)? {
        guard let place = ArchivedPhotoPlace(lost.key, of: keys), let sha256 = lost.sha256 else { return nil }
        for profile in try await successors(of: place.profile) {
            // As ``ArchivedPhotoMover`` names it.
            let names = [nil, lost.md5, lost.storedMD5].map { md5 in
                try? keys.archivedPhoto(profile: profile, month: place.month, event: place.eventID, besides: md5)
            }
            for key in names.compactMap(\.self) {
                guard let info = try await store.head(key), info.size == lost.size,
                    try await holds(info, sha256)
                else { continue }
                var object = ObjectRecord(info)
                object.sha256 = sha256
                object.md5 = lost.md5 ?? object.md5
                return (object, profile)
            }
        }
        return nil
    }

    /// The same, and the ledger has it there from then on, with what was signed off of it.
    /// - Returns: as it is known now; `nil` where it is not found.
    func follow(_ lost: ObjectRecord) async throws -> ObjectRecord? {
        guard let (object, profile) = try await find(lost) else { return nil }
        try await ledger.finish { try $0.moveArchivedPhoto(lost.key, to: object, profile: profile) }
        return object
    }

    private func holds(_ info: ObjectInfo, _ sha256: SHA256Digest) async throws -> Bool {
        switch try await ObjectReadback(store).claim(of: info) {
        case .proven(let proven): proven == sha256
        // It is archived: whoever stored it there had proved it.
        case .unprovable: info.claimedSHA256 == sha256
        case .contradicted: false
        case .none: info.sha256 == sha256
        }
    }
}
