package import SyncCore
package import SyncLedger

extension StoreCopy {
    /// What came of the ends of shares that nobody sees to any more.
    package struct Removal: Sendable {
        package struct Failure: Sendable {
            package let share: ShareID
            package let error: any Error

            package init(share: ShareID, error: any Error) {
                self.share = share
                self.error = error
            }

            /// Whether another process is at the share: then the same command does it another time.
            package var isInOtherHands: Bool {
                if case .inOtherHands? = error as? ShareError { true } else { false }
            }
        }

        /// What the store has not removed, and why. Nothing of it is lost with the store.
        package var left = ProblemList<ObjectProblem>()
        /// Shares of which what guests have sent is not kept here, and would be lost.
        package var failures: [Failure] = []

        package init() {}
    }
}

extension ShareStorage {
    /// Ends shares to which nobody sees from now on. One that does not end holds up none of the others.
    /// - Parameter guests: of the same store.
    /// - Throws: ``LedgerError``, `CancellationError`.
    func end(_ shares: [ShareID], _ guests: GuestIntake) async throws -> StoreCopy.Removal {
        var removal = StoreCopy.Removal()
        for id in shares {
            let keys = ShareKeys(id)
            do {
                do {
                    try await end(keys, guests)
                } catch let error as StoreError {
                    // The store may have failed before, or at, what guests have sent.
                    try await guests.requireTaken(id)
                    removal.left.note(ObjectProblem(key: keys.manifest, error: error))
                }
            } catch let error where !error.isOfLedgerOrStop {
                removal.failures.append(StoreCopy.Removal.Failure(share: id, error: error))
            }
        }
        return removal
    }
}

/// Of a store to which this machine moves: shares that are over. A move that was ended before its end may have copied
/// one that was taken back since; nobody would look for it there any more.
package struct OverShares: Sendable {
    private let store: any ObjectStore
    private let ledger: LedgerQueue
    private let guests: GuestIntake

    /// - Parameter guests: of the same store: what they have sent may be nowhere else that this machine looks at.
    package init(in store: any ObjectStore, ledger: LedgerQueue, guests: GuestIntake) {
        self.store = store
        self.ledger = ledger
        self.guests = guests
    }

    /// One listing of all shares of the store, and none where this machine has shared nothing that is over. One that
    /// does not end holds up none of the others: nobody can see them any more, whatever guests have sent to it.
    /// - Throws: ``StoreError`` when something of them is still there; what ``GuestIntake/take(_:_:)`` throws where
    ///   what guests have sent cannot be kept; ``LedgerError``, `CancellationError`.
    package func remove() async throws {
        let shares = try await ledger { try $0.shares(limit: .max) }.filter { !$0.state.isOpen }
        if shares.isEmpty { return }
        let over = Dictionary(uniqueKeysWithValues: shares.map { ("\($0.id)", $0.id) })
        var found: Set<ShareID> = []
        for try await objects in store.pages(prefix: ShareKeys.prefix) {
            for object in objects {
                if let name = object.key.segments.dropFirst().first, let id = over[String(name)] { found.insert(id) }
            }
        }
        let removal = try await ShareStorage(store: store).end(shares.map(\.id).filter(found.contains), guests)
        if let failure = removal.failures.first { throw failure.error }
        if let problem = removal.left.first.first { throw problem.error }
    }
}
