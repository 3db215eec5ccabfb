import FoundationEssentials
import Logging
import SyncCore
import SyncLedger

/// What the agent does for shares of which two machines know: those that were taken back elsewhere end here, too, those that
/// another machine has taken over are left to it, and those of other machines that were taken back here are removed to the end.
struct SharesElsewhere: Sendable {
    /// What one round leaves for the next.
    struct Memory {
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
    func work(_ memory: inout Memory) async throws {
        try await notice(&memory)
        try await goOn(&memory)
    }

    private func notice(_ memory: inout Memory) async throws {
        let now = time.now()
        if let last = memory.noticedAt, abs(now.timeIntervalSince(last)) < Self.noticeEvery { return }
        guard try await ledger({ try $0.unendedShares() }).contains(where: \.state.isOpen) else { return }
        do {
            for noticed in try await notes.notice() { logger.notice("\(noticed)") }
        } catch let error as StoreError where error.mayConcernOneObject {
            tell("whether shares were revoked or taken over on other machines cannot be told: \(error)", &memory)
        }
        memory.noticedAt = now
    }

    private func goOn(_ memory: inout Memory) async throws {
        let now = time.now()
        let oldest = now.addingTimeInterval(-Self.sweepAfter.upperBound)
        for removal in try await ledger({ try $0.shareRemovals(goneAfter: oldest) }) {
            let id = removal.id
            let attempt: Removal = removal.goneAt == nil ? .first : .sweep
            if memory.rests.holds(id, attempt, at: now) { continue }
            do {
                if let gone = removal.goneAt {
                    guard now.timeIntervalSince(gone) >= Self.sweepAfter.lowerBound, !memory.swept.contains(id) else {
                        continue
                    }
                    try await others.sweep(id)
                    memory.swept.insert(id)
                } else {
                    try await others.goOn(with: id)
                    logger.notice(
                        """
                        share \(id) of \(removal.location.escapingControls), which the machine \
                        \(removal.machine.escapingControls) has made, was revoked
                        """)
                }
                memory.rests.end(id)
            } catch let error as StoreError where error.mayConcernOneObject {
                memory.rests.add(id, attempt, at: now, for: Self.patience)
                tell("share \(id) is revoked, and something of it is still in the store: \(error)", &memory)
            }
        }
    }

    private func tell(_ text: String, _ memory: inout Memory) {
        if memory.told.insert(text).inserted { logger.warning("\(text)") }
    }
}
