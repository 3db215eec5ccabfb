package import FoundationEssentials
package import Logging
import ServiceLifecycle
package import SyncCore
package import SyncLedger
import SyncSystem
import SystemPackage

/// What waits for a look at a watched folder, and since when nothing has come of it.
///
/// A server that is gone, or a drive that hangs, holds up whoever asks it for as long as it is gone. All looks are
/// behind that one then: nobody knows what has come into any folder, and nothing may be called safe.
package final class DiskLooks: Sendable {
    /// For so long a disk may be silent: one that has to wake up takes some seconds, a large folder on a slow one more.
    package static let patience = Duration.seconds(120)

    /// A folder that cannot be looked at.
    package struct Silence: Sendable {
        package let folder: FolderRecord
        package let since: Date
        /// Whether it is told for the first time.
        package let isNews: Bool

        package var words: String {
            "\(folder.path.string.escapingControls): it could not be looked at since \(since.formatted(.iso8601)): the "
                + "drive, or the server, of a watched folder does not answer, or very slowly. Until it does, nothing "
                + "new is seen in any of them"
        }
    }

    private struct State {
        /// Of the looks that wait for their turn or are under way.
        var waiting: [FolderRecord] = []
        /// Of the one that is under way.
        var folder: FolderRecord?
        /// When one began, came on or ended.
        var heardAt = Duration.zero
        /// Of which it is told that it cannot be looked at.
        var silent: FolderRecord?
        /// Of which it was.
        var heard: [FolderRecord] = []

        mutating func hear(_ folder: FolderRecord?, at now: Duration) {
            (self.folder, heardAt) = (folder, now)
            if let folder = exchange(&silent, with: nil) { heard.append(folder) }
        }
    }

    private let state = Mutex(State())
    private let time: TimeSource

    package init(time: TimeSource) {
        self.time = time
    }

    /// Somebody wants to look at a folder.
    func begin(_ folder: FolderRecord) {
        let now = time.monotonic()
        state.withLock { state in
            if state.waiting.isEmpty { state.heardAt = now }
            state.waiting.append(folder)
        }
    }

    /// The look at a folder begins, or comes on.
    func note(_ folder: FolderRecord) {
        let now = time.monotonic()
        state.withLock { $0.hear(folder, at: now) }
    }

    /// The look is over, whatever came of it.
    func leave() {
        let now = time.monotonic()
        state.withLock { $0.hear(nil, at: now) }
    }

    /// Nobody waits for that look any more.
    func end(_ folder: FolderRecord) {
        state.withLock { state in
            guard let index = state.waiting.firstIndex(where: { $0.id == folder.id }) else { return }
            state.waiting.remove(at: index)
        }
    }

    /// Runs a look at a folder.
    /// - Parameter pool: of which the one thread is that of looks.
    /// - Throws: what `body` throws; `CancellationError`.
    func run<Value: Sendable>(
        at folder: FolderRecord?, on pool: BlockingPool, _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        if let folder { begin(folder) }
        defer { if let folder { end(folder) } }
        return try await pool.run { [self] in
            if let folder { note(folder) }
            defer { leave() }
            return try body()
        }
    }

    /// Runs what waits for the disks of all folders.
    func during(
        _ folders: [FolderRecord], isolation: isolated (any Actor)? = #isolation, _ work: () async -> Void
    ) async {
        if let first = folders.first { begin(first) }
        await work()
        leave()
        if let first = folders.first { end(first) }
    }

    /// Folders of which it was told that they cannot be looked at, and that can: only a look at all of one tells how it
    /// is.
    func takeHeard() -> [FolderRecord] { state.withLock { exchange(&$0.heard, with: []) } }

    /// The folder that cannot be looked at now; `nil` where nobody has to wait for long.
    package func silence() -> Silence? {
        let (now, date) = (time.monotonic(), time.now())
        return state.withLock { state in
            guard let waiting = state.waiting.first, now - state.heardAt >= Self.patience else { return nil }
            let folder = state.silent ?? state.folder ?? waiting
            let isNews = exchange(&state.silent, with: folder) == nil
            let span = (now - state.heardAt) / .seconds(1)
            return Silence(folder: folder, since: date.addingTimeInterval(-span), isNews: isNews)
        }
    }
}

/// Tells of folders that cannot be looked at. It waits for no disk itself, and for nobody who does.
package struct DiskLookService: Service {
    private static let interval = Duration.seconds(60)

    private let looks: DiskLooks
    private let ledger: LedgerQueue
    private let loop: ServiceLoop
    private let logger: Logger

    package init(_ looks: DiskLooks, ledger: LedgerQueue, patience: LedgerPatience, time: TimeSource, logger: Logger) {
        self.looks = looks
        self.ledger = ledger
        loop = ServiceLoop(name: "looks at folders", interval: Self.interval, patience: patience, time: time)
        self.logger = logger
    }

    package func run() async throws {
        try await loop.run {
            try await tell()
            return .round(after: Self.interval)
        }
    }

    /// What nobody can look at is not called safe: it is a problem of its folder.
    /// - Throws: ``LedgerError``, `CancellationError`.
    func tell() async throws {
        guard let silence = looks.silence() else { return }
        try await ledger { try $0.noteObstacle(silence.folder.id, problem: silence.words) }
        if silence.isNews { logger.warning("\(silence.words)") }
    }
}
