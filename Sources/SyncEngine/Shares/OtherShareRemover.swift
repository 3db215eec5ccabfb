import FoundationEssentials
package import SyncCore
package import SyncLedger

/// Takes shares of other machines back. The ledger notes it first, then the store tells all machines that the share is over,
/// and only then anything of it is removed: manifest and page, then everything else, until a listing is empty. The machine that
/// has it publishes it no more (``ShareNotes``), whenever it comes to it.
package struct OtherShareRemover: Sendable {
    private let store: any ObjectStore
    private let ledger: LedgerQueue
    private let notes: ShareNotes
    private let guests: GuestIntake?
    private let time: TimeSource

    /// - Parameter guests: for what guests have sent to them: it waits on this machine then.
    package init(
        store: any ObjectStore, ledger: LedgerQueue, notes: ShareNotes, guests: GuestIntake? = nil, time: TimeSource
    ) {
        self.guests = guests
        self.store = store
        self.ledger = ledger
        self.notes = notes
        self.time = time
    }

    /// Takes a share back.
    /// - Returns: whether anything of it was in this store.
    /// - Throws: ``StoreError`` when something of it is still in the store: the agent, or the next `sync`, goes on with it;
    ///   ``LedgerError``, `CancellationError`.
    package func run(_ share: OtherShare) async throws -> Bool {
        try await run(share.id, location: share.location, of: share.machineName, expiresAt: share.expiresAt)
    }

    /// The same of one of which no catalogue tells.
    package func run(_ id: ShareID, _ share: OtherShares.Stray) async throws -> Bool {
        try await run(id, location: share.location ?? "a share", of: "unknown", expiresAt: share.expiresAt)
    }

    private func run(_ id: ShareID, location: String, of machine: String, expiresAt: Date) async throws -> Bool {
        let now = time.now()
        try await ledger {
            try $0.beginShareRemoval(id, location: location, machine: machine, expiresAt: expiresAt, at: now)
        }
        // Where that cannot be told, the rest cannot be done either.
        let isThere = (try? await store.hasObjects(below: ShareKeys(id).folder)) ?? true
        try await goOn(with: id)
        return isThere
    }

    /// Goes on with one that was noted.
    /// - Throws: as ``run(_:)``.
    func goOn(with id: ShareID) async throws {
        guard let removal = try await ledger({ try $0.shareRemoval(id) }) else { return }
        do {
            if removal.toldAt == nil { try await tell(removal) }
            for key in [ShareKeys(id).manifest, ShareKeys(id).page] { try await store.delete(key) }
            try await sweep(id)
        } catch  where !(error is CancellationError || error is LedgerError) {
            let now = time.now()
            try await ledger.finish { try $0.noteShareRemoval(id, problem: "\(error)", at: now) }
            throw error
        }
        let now = time.now()
        try await ledger.finish { try $0.noteShareRemoval(id, problem: nil, at: now) }
    }

    /// Looks once more for objects of a share: the machine that has it may have had a put under way.
    /// - Throws: ``StoreError`` when something is still there; `CancellationError`.
    func sweep(_ id: ShareID) async throws { try await ShareStorage(store: store).removeAll(ShareKeys(id), guests) }

    private func tell(_ removal: ShareRemoval) async throws {
        let (id, now) = (removal.id, time.now())
        try await notes.tellEnd(of: id, expiresAt: removal.expiresAt)
        try await ledger.finish { try $0.noteShareRemovalTold(id, at: now) }
    }
}
