import SyncCore
import SyncLedger

/// What is stored, in a ledger that is made anew.
struct RebuiltListing: Sendable {
    let store: any ReadableStore
    let ledger: LedgerQueue
    let keys: KeyLayout
    let time: TimeSource

    /// What a listing cannot look at is there all the same, and nobody's loss: it is asked for by itself.
    /// - Parameter onCount: told how many objects were listed.
    /// - Returns: what could not be looked at then either, in plain words.
    /// - Throws: ``StoreError``, ``LedgerError``, `CancellationError`.
    func run(_ onCount: (Int) -> Void) async throws -> [String] {
        var count = 0
        var problems: [String] = []
        for prefix in keys.ownPrefixes {
            var askedAt = time.now()
            for try await page in store.listing(prefix: prefix) {
                var objects = page.objects
                for problem in page.problems {
                    do {
                        if let info = try await store.head(problem.key) { objects.append(info) }
                    } catch let error as StoreError where !error.concernsWholeStore {
                        problems.append("\(error)")
                    }
                }
                let (listed, at, tellsRestores) = (objects, askedAt, store.capabilities.restoresInLists == true)
                try await ledger { [keys] in
                    try $0.noteListed(listed, keys: keys, tellsRestores: tellsRestores, at: at)
                }
                count += listed.count
                onCount(count)
                askedAt = time.now()
            }
        }
        return problems
    }
}
