import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger

extension Workspace {
    private static let catalogLooks = 50

    /// Takes the lock of the catalogue, whoever else of this machine writes it.
    var catalogHold: CatalogHold {
        { [installation, time] in
            // Another process writes a few changes, or a whole library: the first is waited for.
            for _ in 0..<Self.catalogLooks {
                do {
                    return try installation.takeCatalogLock()
                } catch is AgentLock.Held {
                    try await time.sleep(.milliseconds(200))
                }
            }
            return try installation.takeCatalogLock()
        }
    }

    /// What keeps this machine's catalogue.
    /// - Parameter store: with retries.
    func catalogWriter(_ store: any ObjectStore) async throws -> CatalogWriter {
        CatalogWriter(
            store: store, ledger: try await ledger, keys: try KeyLayout(user: settings.user),
            name: installation.machineName, spool: installation.catalogSpool,
            hold: catalogHold, pool: threads.disk, time: time, logger: logger)
    }

    /// Brings the store's catalogue up to what a command has just changed, of shares above all: other machines are to know it,
    /// and should this disk be gone tomorrow, another one has to. What the store has against it is in the log; the next pass
    /// makes up for it.
    /// - Throws: ``LedgerError``, `CancellationError`.
    func updateCatalog(_ store: any ObjectStore) async throws {
        guard settings.catalog == .on else { return }
        // A rebuild that is under way does not have all names yet.
        let isRebuilding = try await ledger.callAsFunction { try $0.catalogStanding().rebuildOf != nil }
        if isRebuilding, try installation.agentRuns() { return }
        try await catalogWriter(store).run()
    }

    /// What other machines have merged, and how this one merges beside them.
    /// - Parameter store: with retries.
    func mergeAgreement(_ store: any ObjectStore) async throws -> MergeAgreement {
        let (others, isKept) = (try await otherMerges(store), settings.catalog == .on)
        return MergeAgreement(
            others: { try await others.all(tells: isKept) }, tell: { try await self.tellOthers(store) })
    }

    /// - Throws: ``CommandFailure`` where the store does not have the catalogue as the ledger is now.
    private func tellOthers(_ store: any ObjectStore) async throws {
        guard settings.catalog == .on else { return }
        if try await ledger.callAsFunction({ try $0.catalogStanding().rebuildOf != nil }) {
            throw CommandFailure(
                .failed, "the ledger is not rebuilt to its end: run sync-agent rebuild, and merge then")
        }
        switch try await catalogWriter(store).run() {
        case .unchanged, .written: return
        case .failed(let reason), .refused(let reason):
            throw CommandFailure(
                .failed,
                "other machines have to know of a merge before it begins, and cannot be told now: \(reason). Run it "
                    + "again when that is mended")
        }
    }

    private func otherMerges(_ store: any ReadableStore) async throws -> OtherMerges {
        OtherMerges(
            store: store, ledger: try await ledger, keys: try KeyLayout(user: settings.user),
            spool: installation.mergeSpool, pool: threads.disk, time: time)
    }

    /// Finds archived photos that another machine has given to another profile.
    func mergedPhotos(_ store: any ReadableStore) async throws -> MergedPhotos {
        MergedPhotos(
            store: store, ledger: try await ledger, keys: try KeyLayout(user: settings.user),
            others: try await otherMerges(store))
    }
}
