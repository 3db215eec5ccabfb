import FoundationEssentials
import SyncCore
import SyncLedger
import SyncSystem
import SystemPackage

/// Takes the lock of the catalogue, and waits some seconds for it; `nil` where nobody else writes.
/// It throws ``AgentLock/Held``, and `Errno` when the lock's file cannot be made.
package typealias CatalogHold = @Sendable () async throws -> AgentLock?

/// How this machine's catalogue stands cannot be told now: another process has its lock.
struct UnsettledCatalog: Error, CustomStringConvertible {
    let reason: String

    var description: String { "this machine's catalogue cannot be looked at now: \(reason)" }

    /// - Throws: ``UnsettledCatalog`` where somebody else has the lock, or nobody can take it; `CancellationError`.
    static func takeLock(_ hold: CatalogHold) async throws -> AgentLock? {
        do {
            return try await hold()
        } catch let error as AgentLock.Held {
            throw UnsettledCatalog(reason: error.description)
        } catch let error as Errno {
            throw UnsettledCatalog(
                reason: "cannot lock catalog.lock: \(FileFault(error, or: "check the state folder").message)")
        }
    }
}

/// A write of the catalogue of which nobody knows whether the store has it: the process ended in between. Without a look, the
/// ledger would be taken for an old one that was put back.
struct InterruptedCatalogWrite: Sendable {
    let store: any ReadableStore
    let ledger: LedgerQueue
    let keys: KeyLayout
    /// What is in the hands of a writer was not interrupted.
    let hold: CatalogHold

    /// Notes it as written where the store has it. One request, and none where nothing was interrupted. What the store does not
    /// have stays noted: it may be on its way, and the next write leaves its number to it.
    /// - Throws: ``UnsettledCatalog``, ``StoreError``, ``LedgerError``, `CancellationError`.
    func finish(at time: Date) async throws {
        if try await ledger({ try $0.catalogStatus().begun }) == nil { return }
        let lock = try await UnsettledCatalog.takeLock(hold)
        defer { withExtendedLifetime(lock) {} }
        // Whoever had it may have come to its end.
        let status = try await ledger { try $0.catalogStatus() }
        guard let begun = status.begun, let segment = status.begunSegment else { return }
        guard let found = try await store.head(segment.key(keys)) else { return }
        try await ledger { ledger in
            guard begun.segment.to == status.next, found.toldSHA256.map({ "\($0)" }) == begun.sha256 else {
                return try ledger.dropCatalogWrite(begun)
            }
            try ledger.commitCatalogWrite(begun, etag: found.etag, at: time)
        }
    }
}

extension CatalogStatus {
    /// The write that was begun, by its key.
    var begunSegment: CatalogSegment? {
        begun.map { CatalogSegment(machine: machine, from: $0.segment.from, to: $0.segment.to) }
    }
}
