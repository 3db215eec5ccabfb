import FoundationEssentials
package import SyncCore
package import SyncLedger

/// Asks the store which shares were taken back on another machine of the user, and sees that they end here, too: whatever a
/// ledger believes, what a person has taken back is never published again.
package struct ShareEnds: Sendable {
    /// A share that was open here, and that somebody has taken back elsewhere.
    package struct Noticed: Hashable, Sendable {
        package let share: ShareRecord
        /// What people call the machine on which it was.
        package let machine: String
    }

    private static let unknownMachine = "another one"

    private let store: any ReadableStore
    private let ledger: LedgerQueue
    private let keys: KeyLayout

    package init(store: any ReadableStore, ledger: LedgerQueue, keys: KeyLayout) {
        self.store = store
        self.ledger = ledger
        self.keys = keys
    }

    /// Ends a share that was taken back elsewhere. What is in the store of it is removed by whoever ends shares.
    /// - Returns: whether it was.
    /// - Throws: ``StoreError`` when that cannot be told; ``LedgerError``, `CancellationError`.
    func honour(_ id: ShareID) async throws -> Bool {
        guard try await store.head(keys.shareEnd(id)) != nil, let machine = try await machine(thatEnded: id) else {
            return false
        }
        try await ledger.finish { _ = try $0.endShare(id, .revoked, by: machine) }
        return true
    }

    /// Ends all that are open here and were taken back elsewhere. Nothing is asked for where nothing is open.
    /// - Throws: ``StoreError`` when that cannot be told; ``LedgerError``, `CancellationError`.
    @discardableResult
    package func notice() async throws -> [Noticed] {
        let open = try await ledger { try $0.unendedShares() }.filter(\.state.isOpen)
        if open.isEmpty { return [] }
        let ended = try await all()
        var noticed: [Noticed] = []
        for share in open where ended.contains(share.id) {
            guard let machine = try await machine(thatEnded: share.id),
                try await ledger({ try $0.endShare(share.id, .revoked, by: machine) })
            else { continue }
            noticed.append(Noticed(share: share, machine: machine))
        }
        return noticed
    }

    /// Of which shares of the user the store says that they were taken back.
    /// - Throws: ``StoreError``, `CancellationError`.
    func all() async throws -> Set<ShareID> {
        var found: Set<ShareID> = []
        for try await page in store.listing(prefix: keys.shareEnds) {
            found.formUnion((page.objects.map(\.key) + page.problems.map(\.key)).compactMap(keys.shareID(ofEnd:)))
        }
        return found
    }

    /// What the store tells of the end of a share; `nil` when it does not tell any.
    /// - Throws: ``StoreError``, ``EndedShare/Damage``, `CancellationError`.
    func end(of id: ShareID) async throws -> EndedShare? {
        do {
            return try EndedShare(
                parsing: try await store.bytes(of: keys.shareEnd(id), limit: EndedShare.maximumSize), of: id)
        } catch let error as StoreError where error.code == .notFound {
            return nil
        }
    }

    /// That there is something counts, also where it cannot be read: rather a share too few is seen than one too many.
    private func machine(thatEnded id: ShareID) async throws -> String? {
        do {
            return try await end(of: id)?.name
        } catch is EndedShare.Damage {
            return Self.unknownMachine
        } catch let error as StoreError where [.badDigest, .archived, .tooLarge].contains(error.code) {
            return Self.unknownMachine
        }
    }
}
