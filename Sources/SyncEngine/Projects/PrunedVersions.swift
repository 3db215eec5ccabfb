package import SyncCore
package import SyncLedger

/// Earlier images of projects, lists and metadata that this ledger knows, and that another machine of the user has removed
/// from the store by the same rule as ``ProjectVersions``: that is no loss.
package struct PrunedVersions: Sendable {
    private let store: any ReadableStore
    private let ledger: LedgerQueue
    private let kept: Int

    /// - Parameter kept: how many earlier images of a project stay reachable.
    package init(store: any ReadableStore, ledger: LedgerQueue, kept: Int) {
        self.store = store
        self.ledger = ledger
        self.kept = kept
    }

    /// Forgets an object that the store no longer has, where it is such a version and no file is stored as it.
    /// - Returns: whether it is forgotten.
    /// - Throws: ``StoreError``, ``LedgerError``, `CancellationError`.
    func forget(_ gone: ObjectRecord) async throws -> Bool {
        guard gone.key.isProjectVersion else { return false }
        let stored = try await store.all(below: gone.key.folder).objects
        guard ProjectVersions.mayHavePruned(gone, beside: stored, kept: kept) else { return false }
        return try await ledger.finish { try $0.forgetPrunedVersion(gone) }
    }
}
