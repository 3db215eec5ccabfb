import SyncCore
import SyncLedger
import SyncSystem

/// Deletes segments of the catalogue that others stand for: who wrote those was stopped before it came to that, or could not.
struct CatalogLeftovers: Sendable {
    let store: any ObjectStore
    let ledger: LedgerQueue
    let keys: KeyLayout
    let hold: CatalogHold

    /// Those of this machine, and of machines whose place it has taken. The others see to theirs. While somebody else writes
    /// the catalogue nothing is deleted, and what cannot be deleted is met again.
    /// - Parameter found: as ``CatalogAudit`` found them.
    /// - Throws: ``StoreError`` when the store as a whole cannot be used; ``LedgerError``, `CancellationError`.
    func delete(_ found: [CatalogSegment]) async throws {
        if try await mayGo(found).isEmpty { return }
        let lock: AgentLock?
        do {
            lock = try await UnsettledCatalog.takeLock(hold)
        } catch is UnsettledCatalog {
            return
        }
        defer { withExtendedLifetime(lock) {} }
        // Whoever had it may have noted that what stands for them is gone.
        let names = try await mayGo(found).map { try $0.key(keys) }
        if !names.isEmpty { _ = try await store.delete(names) }
    }

    private func mayGo(_ found: [CatalogSegment]) async throws -> [CatalogSegment] {
        if found.isEmpty { return [] }
        let standing = try await ledger { try $0.catalogStanding() }
        return found.filter { standing.isDone(with: $0) }
    }
}

extension CatalogStanding {
    /// The segments that are in the store, as far as is known here, by their keys.
    var ownSegments: [CatalogSegment] {
        segments.map { CatalogSegment(machine: machine, from: $0.from, to: $0.to) }
    }

    /// What of this machine's segments others stand for.
    /// - Parameter found: what the store has of this machine.
    /// - Returns: `nil` where it does not have what is known of it, or that is not as it was written: then nothing is
    ///   proven to stand for anything.
    func leftovers(among found: [CatalogSegment]) -> [CatalogSegment]? {
        let chain = CatalogChain(found)
        guard segments.allSatisfy({ $0.problem == nil }), chain.segments == ownSegments else { return nil }
        return chain.superseded
    }

    /// Whether a segment that another one stands for may go: its number is never given again.
    fileprivate func isDone(with old: CatalogSegment) -> Bool {
        if old.machine != machine { return replaces[old.machine] != nil }
        return zip(ownSegments, segments).contains { $0 != old && $0.covers(old) && $1.problem == nil }
    }
}
