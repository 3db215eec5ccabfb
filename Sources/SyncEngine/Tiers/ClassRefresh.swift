package import SyncCore
import SyncLedger

/// Brings the ledger up to what the store reports of its objects: storage class, restore, size. One listing for each
/// thousand objects, and nothing of them stays in memory.
package struct ClassRefresh: Sendable {
    package struct Result: Hashable, Sendable {
        /// Objects of ours that the store told of.
        package var seen = 0
        /// Those of which it told something new.
        package var changed = 0
        /// Those that the ledger does not know: another machine's.
        package var unknown = 0
        /// Those that are listed, and of which the store could not tell more: neither there nor gone. The first thousand.
        package var problems: [ObjectProblem] = []
        /// How many there are of them.
        package var problemCount = 0
    }

    private static let problemsKept = 1_000

    private let store: any ObjectStore
    private let ledger: LedgerQueue
    private let prefixes: [String]
    private let time: TimeSource

    package init(store: any ObjectStore, ledger: LedgerQueue, keys: KeyLayout, time: TimeSource) {
        self.store = store
        self.ledger = ledger
        prefixes = keys.ownPrefixes
        self.time = time
    }

    /// - Parameter onPage: told how many objects were seen by now.
    /// - Throws: ``StoreError``, ``LedgerError``, `CancellationError`. What was merged by then stays.
    package func run(onPage: (Int) -> Void = { _ in }) async throws -> Result {
        var result = Result()
        for prefix in prefixes {
            var askedAt = time.now()
            for try await page in store.listing(prefix: prefix) {
                let objects = page.objects
                let tellsRestores = store.capabilities.restoresInLists == true
                let pageAskedAt = askedAt
                let (changed, unknown) = try await ledger {
                    try $0.mergeReport(objects, tellsRestores: tellsRestores, at: pageAskedAt)
                }
                result.seen += objects.count
                result.problems += page.problems.prefix(Self.problemsKept - result.problems.count)
                result.problemCount += page.problems.count
                result.changed += changed
                result.unknown += unknown
                onPage(result.seen)
                askedAt = time.now()
            }
        }
        let now = time.now()
        try await ledger { try $0.noteClassesRefreshed(at: now) }
        return result
    }
}
