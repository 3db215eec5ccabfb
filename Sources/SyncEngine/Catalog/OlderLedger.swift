import SyncCore
import SyncLedger

/// The store has segments of this machine's catalogue that its ledger has not written: the ledger is an old one that was put
/// back. Written from it, the catalogue would lose what only they tell; `rebuild` reads them into it.
struct OlderLedger: Error, CustomStringConvertible {
    var description: String {
        "the ledger is older than its own catalogue (a backup was put back?): run sync-agent rebuild"
    }
}

extension CatalogStanding {
    /// Whether a segment of this machine was written by a later ledger than this one. What this one has begun it is to be asked
    /// for before: ``InterruptedCatalogWrite``.
    func isOlder(than segment: CatalogSegment) -> Bool { segment.machine == machine && segment.to >= next }
}
