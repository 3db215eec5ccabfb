import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger

extension Workspace {
    /// What keeps this machine's catalogue. Only who has the agent's lock runs it.
    /// - Parameter store: with retries.
    func catalogWriter(_ store: any ObjectStore) async throws -> CatalogWriter {
        CatalogWriter(
            store: store, ledger: try await ledger, keys: try KeyLayout(user: settings.user),
            name: installation.machineName, spool: installation.catalogSpool, pool: threads.disk, time: time,
            logger: logger)
    }

    /// Brings the store's catalogue up to what a command has just changed, of shares above all: should this disk be gone
    /// tomorrow, another machine has to know them. An agent that is running does so itself, within a minute. What the store
    /// has against it is in the log; the next pass makes up for it.
    /// - Throws: ``LedgerError``, `CancellationError`.
    func updateCatalog(_ store: any ObjectStore) async throws {
        guard settings.catalog == .on, let lock = try await takeLockIfFree() else { return }
        defer { withExtendedLifetime(lock) {} }
        try await catalogWriter(store).run()
    }
}
