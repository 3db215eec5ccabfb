import SyncCore
import SyncLedger

/// A look at the ledger for what other processes have put into it: every few seconds, and only where its files are no
/// longer as they were. An agent that has nothing to do reads no ledger, so that its memory goes back to the system.
struct LedgerGlance: Sendable {
    /// What depends on the clock alone, and not on the ledger, waits no longer than this. It also bounds what a mark
    /// may miss.
    static let longest = Duration.seconds(60)

    private let ledger: LedgerQueue
    private let time: TimeSource
    private let mark: LedgerMark?
    private let end: Duration

    /// Begun before the ledger is read: what is written meanwhile is new.
    init(_ ledger: LedgerQueue, time: TimeSource) async {
        self.ledger = ledger
        self.time = time
        mark = await ledger.mark(at: time.now())
        end = time.monotonic() + Self.longest
    }

    /// Whether the ledger has nothing that was not there when this began.
    func isNothingNew() async -> Bool {
        guard let mark, time.monotonic() < end else { return false }
        return await ledger.mark(at: time.now()) == mark
    }

    /// Looks every so often, and returns when there may be something new.
    /// - Throws: `CancellationError`.
    func wait(lookingEvery interval: Duration) async throws {
        repeat { try await time.sleep(interval) } while await isNothingNew()
    }

    /// As ``wait(lookingEvery:)``, and as soon as this process has work.
    func wait(lookingEvery interval: Duration, orFor work: Wakeup) async {
        while await !work.wait(atMost: interval, time: time), await isNothingNew() {}
    }
}
