package import SyncCore
package import SyncLedger

/// Takes a share of another machine of the user over: the ledger has it first, and this machine's catalogue, so that nobody
/// loses sight of it; then the store tells all machines whose it is, and then it is published from here. The machine that
/// had it leaves it alone as soon as it looks (``ShareNotes``). Whoever is killed between these goes on with it: the agent,
/// the next `sync`, or another attempt.
package struct ShareTakeOver: Sendable {
    private let ledger: LedgerQueue
    private let notes: ShareNotes
    private let watched: [WatchedFolder]

    /// - Parameter watched: by which the folder of the share is found here.
    package init(ledger: LedgerQueue, notes: ShareNotes, watched: [WatchedFolder]) {
        self.ledger = ledger
        self.notes = notes
        self.watched = watched
    }

    /// - Parameter writeCatalog: brings this machine's catalogue up to date.
    /// - Returns: what of it could not be held against its manifest, in plain words.
    /// - Throws: ``ShareError/over(_:)``, ``ShareError/unseen(_:)``, ``ShareError/sharedHere(_:)``; ``StoreError``, ``LedgerError``, `CancellationError`.
    package func run(_ share: OtherShare, writeCatalog: () async throws -> Void) async throws -> String? {
        let id = share.id
        guard share.state.isOpen else { throw ShareError.over(id) }
        // Without one it counts as taken back by whoever could not tell so.
        if share.state == .live { try await notes.requireSeen(id) }
        let isTaken = try await ledger { ledger in
            let places = FolderPlaces.moves(of: share.folders, to: try ledger.register(watched))
            return try ledger.takeShareUp(share.line, movedTo: places)
        }
        guard isTaken else { throw ShareError.sharedHere(id) }
        try await writeCatalog()
        let (fate, problem) = try await notes.takeUp(id)
        if let fate { throw ShareError(fate, of: id) }
        guard try await ledger({ try $0.share(id) }) != nil else { throw ShareError.takenOver(id) }
        // The machine that had it may be writing its page at this moment.
        try await ledger { try $0.noteShareOverwritten(id) }
        return problem
    }
}
