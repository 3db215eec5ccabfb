package import FoundationEssentials
package import SyncCore
package import SyncLedger

/// A look at the ledger for what other processes have put into it: every few seconds, and only where its files are no
/// longer as they were. An agent that has nothing to do reads no ledger, so that its memory goes back to the system.
package struct LedgerGlance: Sendable {
    /// What depends on the clock alone, and not on the ledger, waits no longer than this. It also bounds what a mark
    /// may miss.
    private static let longest = Duration.seconds(600)

    private let ledger: LedgerQueue
    private let time: TimeSource
    private let mark: LedgerMark?
    private let end: Duration

    /// Begun before the ledger is read: what is written meanwhile is new.
    package init(_ ledger: LedgerQueue, time: TimeSource) async {
        self.ledger = ledger
        self.time = time
        mark = await ledger.mark(at: time.now())
        end = time.monotonic() + Self.longest
    }

    /// Looks every so often, and returns when there may be something new in the ledger, this process has work, or the task
    /// is cancelled.
    /// - Parameter due: returns then, too, by the clock on the wall.
    package func wait(lookingEvery interval: Duration, orFor work: Wakeup = Wakeup(), until due: Date? = nil) async {
        repeat {
            let left = due.map { max($0 - time.now(), .zero) } ?? interval
            if left == .zero { return }
            if await work.wait(atMost: min(left, interval), time: time) { return }
        } while await isNothingNew()
    }

    /// Whether the ledger is as it was, for those who have something to do meanwhile that needs none of it.
    func isNothingNew() async -> Bool {
        guard let mark, time.monotonic() < end else { return false }
        return await ledger.mark(at: time.now()) == mark
    }
}
