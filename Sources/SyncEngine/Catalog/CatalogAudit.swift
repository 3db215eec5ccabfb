import SyncCore
import SyncLedger

/// Holds what the ledger has written of the catalogue against a listing that is made for other reasons: what the store has
/// lost of it is noted, so that the next write makes it anew, though nothing else is new.
struct CatalogAudit {
    struct Finding {
        /// What is wrong, in plain words, as it is noted; `nil` where the store has all of it, as far as is known.
        var problem: String?
        /// What cannot be looked at: neither there nor gone.
        var unclear: [ObjectProblem] = []
    }

    private static let loss = "a part of it is gone from the store; the next pass (sync-agent sync) writes it anew"

    private let store: any ReadableStore
    private let ledger: LedgerQueue
    private let keys: KeyLayout
    private let hold: CatalogHold
    private let time: TimeSource
    private let prefix: String
    /// As it was before the listing began: what is written meanwhile may be missing from that.
    private let known: [CatalogSegment]
    private var found: [CatalogSegment] = []

    /// - Throws: ``LedgerError``.
    init(
        store: any ReadableStore, ledger: LedgerQueue, keys: KeyLayout, hold: @escaping CatalogHold, time: TimeSource
    ) async throws {
        self.store = store
        self.ledger = ledger
        self.keys = keys
        self.hold = hold
        self.time = time
        let standing = try await ledger { try $0.catalogStanding() }
        prefix = keys.catalog + standing.machine + "/"
        known = standing.ownSegments
    }

    /// Takes a page of a listing of all that is the user's. What cannot be looked at is there.
    mutating func see(_ page: ObjectPage) {
        for key in page.objects.map(\.key) + page.problems.map(\.key) where key.rawValue.hasPrefix(prefix) {
            if let segment = CatalogSegment(key, keys) { found.append(segment) }
        }
    }

    /// After the last page. Missing is what both the listing and a request say.
    /// - Throws: ``StoreError`` when the store as a whole cannot be used; ``LedgerError``, `CancellationError`.
    func finish() async throws -> Finding {
        var finding = Finding()
        if known.isEmpty, found.isEmpty { return finding }
        do {
            // After the listing: what was interrupted and is in it is noted by now.
            try await InterruptedCatalogWrite(store: store, ledger: ledger, keys: keys, hold: hold)
                .finish(at: time.now())
        } catch is UnsettledCatalog {
            // Whoever writes it holds it against the store before.
            return finding
        } catch let error as StoreError where error.mayConcernOneObject {
            if let begun = try await ledger({ try $0.catalogStanding().begunSegment }) {
                finding.unclear.append(ObjectProblem(key: try begun.key(keys), error: error))
            }
            return finding
        }
        let standing = try await ledger { try $0.catalogStanding() }
        if found.contains(where: { standing.isOlder(than: $0) }) {
            let problem = OlderLedger().description
            try await ledger { try $0.noteCatalogProblem(problem) }
            finding.problem = problem
            return finding
        }
        for segment in known where !found.contains(where: { $0.covers(segment) }) {
            let key = try segment.key(keys)
            do {
                guard try await isGone(key) else { continue }
            } catch let error as StoreError where error.mayConcernOneObject {
                finding.unclear.append(ObjectProblem(key: key, error: error))
                continue
            }
            // One that another stands for by now may be gone.
            if try await ledger({ try $0.noteCatalogProblem(Self.loss, ifKnown: segment) }) {
                finding.problem = Self.loss
                return finding
            }
        }
        return finding
    }

    private func isGone(_ key: ObjectKey) async throws -> Bool {
        do {
            return try await store.head(key) == nil
        } catch let error as StoreError where error.code == .badDigest {
            return false
        }
    }
}

extension CatalogStanding {
    /// The segments that are in the store, as far as is known here, by their keys.
    var ownSegments: [CatalogSegment] {
        segments.map { CatalogSegment(machine: machine, from: $0.from, to: $0.to) }
    }
}
