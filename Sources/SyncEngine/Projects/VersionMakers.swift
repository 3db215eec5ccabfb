import SyncCore
import SyncLedger

/// Tells whose the versions of files are that the store has: by this ledger, by what the files of this machine are stored
/// as, and by what was written with an object.
struct VersionMakers: Sendable {
    private static let headsInFlight = 8

    let store: any ReadableStore
    let ledger: LedgerQueue

    /// - Parameters:
    ///   - keys: with those that the files have under their names, as far as they are known.
    ///   - asks: whether the store is asked about those of which this ledger has not noted it, one request for each: two
    ///     machines may have stored the same content.
    /// - Returns: of the versions among them.
    /// - Throws: ``StoreError``, ``LedgerError``, `CancellationError`.
    func makers(of keys: [ObjectKey], asks: Bool) async throws -> [ObjectKey: VersionMaker] {
        let (status, known, likely) = try await ledger { ledger in
            let own = Set(
                try keys.filter { try ledger.isOfOwnFile($0) || ledger.maker(ofVersion: $0) == .this })
            let objects = try own.compactMap { try ledger.object($0) }
            var known: [ObjectKey: VersionMaker] = [:]
            var likely: Set<ObjectKey> = []
            for key in keys where key.isProjectVersion {
                let maker: VersionMaker = try ledger.maker(ofVersion: key) ?? .unknown
                known[key] = maker
                let isLikely = own.contains(key) || objects.contains { $0.mayBeSetAside(as: key) }
                if isLikely { likely.insert(key) }
            }
            return (try ledger.catalogStatus(), known, likely)
        }
        var makers = known
        if asks {
            let unknown = known.filter { $0.value == .unknown }.keys.sorted()
            let told = try await unknown.concurrently(Self.headsInFlight) { key in
                try await store.readableHead(key).map { VersionMaker(of: $0, status) }
            }
            for (key, maker) in zip(unknown, told) { makers[key] = maker ?? .unknown }
        }
        // Of one that does not tell it, that is the best guess.
        for key in likely where makers[key] == .unknown { makers[key] = .this }
        return makers
    }
}

extension ObjectRecord {
    /// Whether a key may be that of the version to which it went when another machine stored its own under its key.
    fileprivate func mayBeSetAside(as version: ObjectKey) -> Bool {
        guard let md5, let file = key.versionedFile else { return false }
        return version.mayBeVersion(of: md5) && file.isVersion(version)
    }
}
