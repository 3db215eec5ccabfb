import Logging
import SyncCore
import SyncLedger

/// The store tells of writes of this machine's catalogue that its ledger has not made, by their segments or by the machine's
/// note: the ledger is an old one that was put back. Written from it, the catalogue would lose what only they tell, and the
/// note would say that nothing is missing; `rebuild` reads what there is of them into it.
package struct OlderLedger: Error, CustomStringConvertible {
    package var description: String {
        "the ledger is older than its own catalogue (a backup was put back?): run sync-agent rebuild"
    }

    /// An agent meets it each minute, and tells it once.
    /// - Parameter what: is not written.
    func note(in ledger: LedgerQueue, leaving what: String, _ logger: Logger) async throws {
        let reason = description
        let known = try await ledger { try $0.catalogStatus().problem }
        logger.log(level: known == reason ? .debug : .warning, "\(what) is left as it is: \(reason)")
        if known != reason { try await ledger { try $0.noteCatalogProblem(reason) } }
    }
}

/// What this machine has told the others may not be read, and its ledger may be an older one: the store has another
/// thing of its catalogue than the ledger knows. A note in its place might say that nothing is missing.
struct HiddenNote: Error, CustomStringConvertible {
    let reason: StoreError

    var description: String {
        "what it says now cannot be read, and its catalogue is not in the store as the ledger knows it: \(reason); "
            + "let this machine read that object, or delete it from the store"
    }

    /// An agent meets it each minute, and tells it once. The next write of the catalogue ends it; where none is kept, whoever
    /// does what it says.
    func note(in ledger: LedgerQueue, _ logger: Logger) async throws {
        let isTold = try await ledger { try $0.catalogStatus().problem != nil }
        let text = "what this machine tells the others is left as it is: \(self)"
        logger.log(level: isTold ? .debug : .warning, "\(text)")
        if !isTold { try await ledger { try $0.noteCatalogProblem(text) } }
    }
}

extension CatalogStatus {
    /// Whether a write of this machine is one of a later ledger than this one.
    func isOlder(than write: Int) -> Bool { write >= next }

    /// The same of a segment. What this ledger has begun it is to be asked for before: ``InterruptedCatalogWrite``.
    func isOlder(than segment: CatalogSegment) -> Bool { segment.machine == machine && isOlder(than: segment.to) }
}

extension LedgerQueue {
    /// A ledger that was put back knows its own catalogue from now on, and may write it again, under higher numbers.
    /// - Parameter write: the last one that the store has, or that the machine's note tells of.
    func noteOwnCatalogRead(upTo write: Int) async throws {
        try await callAsFunction { ledger in
            guard try ledger.catalogStatus().isOlder(than: write) else { return }
            try ledger.restartCatalog(from: write + 1)
            // The store has a later one, which is no damage.
            if let note = try ledger.writtenMachineNote() { _ = try ledger.forgetMachineNote(note.digest) }
        }
    }
}
