import FoundationEssentials
import Logging
package import SyncCore
package import SyncLedger

/// What the agent does for shares of which two machines know: those that were taken back elsewhere end here, too, those that
/// another machine has taken over are left to it, and those of other machines that were taken back here are removed to the end.
struct ShareReconciler: Sendable {
    /// What one round leaves for the next.
    struct Rounds {
        /// Whether one of another machine is to be removed, or looked at once more.
        fileprivate(set) var isAnyLeft = true
        fileprivate var noticedAt: Date?
        /// What could not be removed.
        fileprivate var rests = Rests<ShareID, Removal>()
        fileprivate var told: Set<String> = []
        fileprivate var swept: Set<ShareID> = []
    }

    fileprivate enum Removal: Hashable, Sendable { case first, sweep }

    /// Seconds between two looks at what became of shares elsewhere: one listing each.
    private static let noticeEvery: TimeInterval = 3_600
    /// Seconds after which what could not be removed is tried again: the first time, and at the latest.
    private static let patience: ClosedRange<TimeInterval> = 60...300
    /// Seconds after its end in which a share is listed once more.
    private static let sweepAfter: ClosedRange<TimeInterval> = 300...7_200

    let notes: ShareNotes
    let others: OtherShareRemover
    let ledger: LedgerQueue
    let time: TimeSource
    let logger: Logger

    /// - Throws: ``StoreError`` when the store as a whole is away; ``LedgerError``, `CancellationError`.
    func work(_ rounds: inout Rounds) async throws {
        try await notice(&rounds)
        try await goOn(&rounds)
    }

    private func notice(_ rounds: inout Rounds) async throws {
        let now = time.now()
        if let last = rounds.noticedAt, abs(now.timeIntervalSince(last)) < Self.noticeEvery { return }
        guard try await ledger({ try $0.unendedShares() }).contains(where: \.state.isOpen) else { return }
        do {
            for noticed in try await notes.followAndClaimAll() { logger.notice("\(noticed)") }
        } catch let error where error.mayConcernOneItem {
            warnOnce("whether shares were revoked or taken over on other machines cannot be told: \(error)", &rounds)
        }
        rounds.noticedAt = now
    }

    private func goOn(_ rounds: inout Rounds) async throws {
        let now = time.now()
        let oldest = now.addingTimeInterval(-Self.sweepAfter.upperBound)
        let removals = try await ledger { try $0.shareRemovals(goneAfter: oldest) }
        defer { rounds.isAnyLeft = removals.contains { $0.goneAt == nil || !rounds.swept.contains($0.id) } }
        for removal in removals {
            let id = removal.id
            let attempt: Removal = removal.goneAt == nil ? .first : .sweep
            if rounds.rests.holds(id, attempt, at: now) { continue }
            do {
                if let gone = removal.goneAt {
                    guard now.timeIntervalSince(gone) >= Self.sweepAfter.lowerBound, !rounds.swept.contains(id) else {
                        continue
                    }
                    try await others.sweep(id)
                    rounds.swept.insert(id)
                } else {
                    try await others.goOn(with: id)
                    logger.notice(
                        """
                        share \(id) of \(removal.location.escapingControls), which the machine \
                        \(removal.machine.escapingControls) has made, was revoked
                        """)
                }
                rounds.rests.end(id)
            } catch ShareError.inOtherHands {
                // Another process removes it.
                continue
            } catch let error where error.mayConcernOneEnd {
                rounds.rests.add(id, attempt, at: now, for: Self.patience)
                warnOnce("share \(id) is revoked, and something of it is still in the store: \(error)", &rounds)
            }
        }
    }

    private func warnOnce(_ text: String, _ rounds: inout Rounds) {
        if rounds.told.insert(text).inserted { logger.warning("\(text)") }
    }
}

/// Takes shares of other machines back. The ledger notes it first, then the store tells all machines that the share is over,
/// and only then anything of it is removed: manifest and page, then everything else, until a listing is empty. From a
/// store that is full it is removed first. The machine that has it publishes it no more (``ShareNotes``), whenever it
/// comes to it.
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
    ///   what ``GuestIntake/take(_:_:)`` throws, ``ShareError/inOtherHands(_:)`` while another process removes it, too;
    ///   ``LedgerError``, `CancellationError`.
    package func run(_ share: OtherShare) async throws -> Bool {
        try await run(share.id, location: share.location, of: share.machineName, expiresAt: share.expiresAt)
    }

    /// The same of one of which no catalogue tells.
    package func run(_ id: ShareID, _ share: OtherShares.Stray) async throws -> Bool {
        try await run(id, location: share.location ?? "a share", of: "unknown", expiresAt: share.expiresAt)
    }

    private func run(_ id: ShareID, location: String, of machine: String, expiresAt: Date) async throws -> Bool {
        try await ledger {
            try $0.beginShareRemoval(id, location: location, machine: machine, expiresAt: expiresAt, at: time.now())
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
            // What does not know that it is over may be published again: what passes by itself is waited for.
            try await ShareStorage(store: store).end(ShareKeys(id), guests, untoldAfter: { !$0.isTransient }) {
                if removal.toldAt == nil { try await publish(removal) }
            }
        } catch ShareError.inOtherHands(let id) {
            throw ShareError.inOtherHands(id)
        } catch let error where !error.isOfLedgerOrStop {
            try await ledger.finish { try $0.noteShareRemoval(id, problem: "\(error)", at: time.now()) }
            throw error
        }
        try await notes.noteTold { [time] in try $0.noteShareRemoval(id, problem: nil, at: time.now()) }
    }

    /// Looks once more for objects of a share: the machine that has it may have had a put under way.
    /// - Throws: as ``run(_:)``.
    func sweep(_ id: ShareID) async throws {
        try await ShareStorage(store: store).removeAll(ShareKeys(id), guests)
        try await guests?.takeUp(id)
    }

    private func publish(_ removal: ShareRemoval) async throws {
        let (id, now) = (removal.id, time.now())
        try await notes.publishEnd(of: id, expiresAt: removal.expiresAt)
        try await notes.noteTold { try $0.noteShareRemovalTold(id, at: now) }
    }
}
