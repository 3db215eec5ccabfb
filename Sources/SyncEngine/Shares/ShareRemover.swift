package import SyncCore
package import SyncLedger

/// Takes shares back: first manifest and page, so that nobody finds the rest, then everything else, and a listing proves
/// that nothing is left. Until then the share counts as ending, and is tried again.
package struct ShareRemover: Sendable {
    private let store: any ObjectStore
    private let ledger: LedgerQueue
    private let lease: ShareLease

    package init(store: any ObjectStore, ledger: LedgerQueue, lease: ShareLease) {
        self.store = store
        self.ledger = ledger
        self.lease = lease
    }

    /// Ends an open share, or goes on with one that ends.
    /// - Throws: ``StoreError`` when something of it is still in the store; ``ShareError/inOtherHands(_:)``: it ends as soon
    ///   as that process notices; ``LedgerError``, `CancellationError`.
    package func run(_ id: ShareID, _ end: ShareEnd) async throws {
        _ = try await ledger { try $0.endShare(id, end) }
        try await lease.holding(id) { share in
            guard share.state.isEnding else { return }
            do {
                try await remove(share.keys)
            } catch let error as StoreError {
                try await lease.noteUnended(error, of: id)
                throw error
            }
            guard try await lease.noteEnded(id) else { throw ShareError.inOtherHands(id) }
        }
    }

    /// Looks once more for objects of a share that is over: a put that was under way when it ended, of a process that was
    /// stopped, may have come to its end since.
    /// - Throws: ``StoreError`` when something is still there; `CancellationError`.
    func sweep(_ id: ShareID) async throws { try await ShareStorage(store: store).removeAll(ShareKeys(id)) }

    private func remove(_ keys: ShareKeys) async throws {
        for key in [keys.manifest, keys.page] { try await store.delete(key) }
        try await ShareStorage(store: store).removeAll(keys)
    }
}
