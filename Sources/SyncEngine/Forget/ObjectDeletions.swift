package import SyncCore
package import SyncLedger

/// Deletes what is on the ledger's list of deletions, and proves that it is gone. It may be stopped at any moment and run
/// again, by whichever process: what is still on the list is asked for again, and so is whether anybody needs it by now.
package struct ObjectDeletions: Sendable {
    package struct Summary: Sendable {
        package var deleted: [ObjectDeletion] = []
        /// Stored anew, or needed by another machine, since it was decided.
        package var kept: [(key: ObjectKey, reference: StoredReference?)] = []
        /// What the store did not delete, and why. It is tried again.
        package var failures: [(key: ObjectKey, reason: String)] = []
    }

    /// As many as one request may delete is a thousand; half of it is proved before the next.
    private static let pageSize = 500
    private static let headsInFlight = 8

    private let store: any ObjectStore
    private let ledger: LedgerQueue
    private let others: OtherReferences
    private let hold: @Sendable () throws -> AgentLock?
    private let time: TimeSource

    /// - Parameters:
    ///   - store: with retries.
    ///   - hold: takes the lock of deletions. A second process would delete what was stored anew after the first was done.
    package init(
        store: any ObjectStore, ledger: LedgerQueue, others: OtherReferences,
        hold: @escaping @Sendable () throws -> AgentLock? = { nil }, time: TimeSource
    ) {
        self.hold = hold
        self.store = store
        self.ledger = ledger
        self.others = others
        self.time = time
    }

    /// - Throws: ``StoreError`` when the store as a whole cannot be used; ``AgentLock/Held`` while another process is at it;
    ///   ``LedgerError``, `CancellationError`.
    @discardableResult
    package func run(onProgress: (Int, Int) -> Void = { _, _ in }) async throws -> Summary {
        var result = Summary()
        if try await ledger({ try $0.openDeletions() }).isEmpty { return result }
        let lock = try hold()
        defer { withExtendedLifetime(lock) {} }
        // As it is now that nobody else is at it.
        let open = try await ledger { try $0.openDeletions() }
        let found = try await others.references(to: open.map(\.key))
        let needed = open.map(\.key).filter { found.known($0) != nil }
        if !needed.isEmpty { try await ledger { try $0.withdrawDeletions(needed, isOver: true) } }
        result.kept = needed.map { ($0, found.known($0)) }
        let free = open.filter { found.known($0.key) == nil }
        if let doubt = found.doubt {
            result.failures = free.map { ($0.key, "\(doubt)") }
            return result
        }
        let denied = DeniedObjects()
        var done = 0
        for page in free.grouped(atMost: Self.pageSize) {
            try await delete(page, denied, &result)
            done += page.count
            onProgress(done, free.count)
        }
        return result
    }

    private func delete(_ page: [ObjectDeletion], _ denied: DeniedObjects, _ result: inout Summary) async throws {
        let keys = page.map(\.key)
        let begun = time.now()
        let due = try await ledger { try $0.beginDeletions(keys, at: begun) }
        let left = Set(due)
        result.kept += keys.filter { !left.contains($0) }.map { ($0, nil) }
        if due.isEmpty { return }
        let failures: [ObjectKey: StoreError]
        do {
            failures = try await store.delete(due)
        } catch let error as StoreError where !error.isTransient {
            // It has said no, and will not come back to it: photos that come meanwhile need not wait.
            try await ledger.finish { try $0.withdrawDeletions(due, isOver: false) }
            throw error
        }
        // A store that has deleted it may have lost the answer: what is there decides.
        let answers = try await due.concurrently(Self.headsInFlight) { [store] key in
            try await denied.ask { try await store.head(key) == nil }
        }
        var (proved, doubts): ([ObjectKey], [ObjectKey: StoreError]) = ([], [:])
        for (key, answer) in zip(due, answers) {
            switch answer {
            case .success(let isGone): if isGone { proved.append(key) }
            case .failure(let error): doubts[key] = error
            }
        }
        let gone = proved
        let now = time.now()
        try await ledger.finish { try $0.endDeletions(gone, at: now) }
        let done = Set(gone)
        result.deleted += page.filter { done.contains($0.key) }
        // An answer of the store's own: nothing is under way any more.
        let refused = due.filter { !done.contains($0) && failures[$0].map { !$0.isTransient } ?? false }
        if !refused.isEmpty { try await ledger.finish { try $0.withdrawDeletions(refused, isOver: false) } }
        for key in due where !done.contains(key) {
            let doubt = doubts[key].map { "whether it is gone is not known: \($0)" } ?? "the store still has it"
            result.failures.append((key, failures[key]?.description ?? "\(doubt); sync-agent sync tries it again"))
        }
    }
}
