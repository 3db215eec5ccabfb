import FoundationEssentials
import SyncCore
import SyncLedger

/// A write of the catalogue of which nobody knows whether the store has it: the process ended in between. Without a look, the
/// ledger would be taken for an old one that was put back.
struct InterruptedCatalogWrite: Sendable {
    let store: any ReadableStore
    let ledger: LedgerQueue
    let keys: KeyLayout

    /// Notes it as written where the store has it. One request, and none where nothing was interrupted. What the store does not
    /// have stays noted: it may be on its way, and the next write leaves its number to it.
    /// - Throws: ``StoreError``, ``LedgerError``, `CancellationError`.
    func finish(at time: Date) async throws {
        let standing = try await ledger { try $0.catalogStanding() }
        guard let begun = standing.begun else { return }
        let segment = CatalogSegment(machine: standing.machine, from: begun.segment.from, to: begun.segment.to)
        guard let found = try await store.head(segment.key(keys)) else { return }
        try await ledger { ledger in
            guard begun.segment.to == standing.next, found.toldSHA256.map({ "\($0)" }) == begun.sha256 else {
                return try ledger.dropCatalogWrite(begun)
            }
            try ledger.commitCatalogWrite(begun, at: time)
        }
    }
}
