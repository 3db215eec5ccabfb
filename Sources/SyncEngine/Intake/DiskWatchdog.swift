package import FoundationEssentials
package import Logging
import ServiceLifecycle
package import SyncCore
package import SyncLedger
import SyncSystem
package import SystemPackage

/// What waits for looks at watched folders, and since when nothing has come of them.
///
/// A server that is gone, or a drive that hangs, holds up whoever asks it for as long as it is gone. The looks at that
/// folder are behind that one then: nobody knows what has come into it, and nothing in it may be called safe. Each
/// folder has a thread of its own (``DiskLanes``), so that the others do not wait.
package final class DiskWatchdog: Sendable {
    /// For so long a disk may be silent: one that has to wake up takes some seconds, a slow one more.
    package static let patience = Duration.seconds(120)
    /// For so long a pass waits for a folder before it goes on with the others.
    package static let turn = Duration.seconds(10)

    /// A folder that cannot be looked at.
    package struct Silence: Sendable {
        package let folder: FolderRecord
        package let since: Date
        /// Whether it is told for the first time.
        package let isNews: Bool
        /// Whether its watches are set, which no folder is looked at before.
        let isStart: Bool

        /// What is to be known of it, without its path.
        var message: String {
            let rest =
                isStart
                ? "nothing new is seen in any of the folders. Start the server, or unmount what is gone (umount -l)"
                : "nothing new is seen in it, and nothing in it is marked as missing"
            return "it could not be looked at since \(since.formatted(.iso8601)): the drive, or the server, does not "
                + "answer, or very slowly. Until it does, \(rest)"
        }

        package var words: String { "\(folder.path.string.escapingControls): \(message)" }
    }

    /// Of one folder.
    private struct Look {
        var folder: FolderRecord
        /// How many wait for their turn or are under way.
        var waiting = 1
        /// When the first began to wait, or one began, came on or ended.
        var heardAt: Duration
        var isStart = false
        /// As it was told last; `nil` where it can be looked at.
        var told: Silence?

        mutating func silence(at now: Duration, _ date: Date) -> Silence? {
            guard now - heardAt >= DiskWatchdog.patience else { return nil }
            // It is told in the same words each time.
            let since = told?.since ?? date.addingTimeInterval(-((now - heardAt) / .seconds(1)))
            let silence = Silence(folder: folder, since: since, isNews: told == nil, isStart: isStart)
            told = silence
            return silence
        }
    }

    private struct State {
        /// In the order in which they began.
        var looks: [Look] = []
        /// The beginning of the watching, which has one root after the other, and all of them.
        var start: (look: Look, roots: [FolderRecord])?
        /// That did not answer until nobody waited for them any more.
        var givenUp: [FolderID: FolderRecord] = [:]
        /// Of which it was told that they cannot be looked at, and that can.
        var heard: [FolderRecord] = []

        mutating func hear(_ folder: FolderRecord, at now: Duration) {
            givenUp[folder.id] = nil
            guard let index = looks.firstIndex(where: { $0.folder.id == folder.id }) else { return }
            looks[index].heardAt = now
            if exchange(&looks[index].told, with: nil) != nil { heard.append(folder) }
        }

        mutating func hearStart(_ next: FolderRecord?, at now: Duration) {
            guard let look = start?.look else { return }
            if look.told != nil { heard.append(look.folder) }
            start?.look = Look(folder: next ?? look.folder, heardAt: now, isStart: true)
        }
    }

    private let state = Lock(State())
    private let time: TimeSource
    /// The threads that read what the looks have found.
    let reads: DiskReads
    /// Signalled when it was seen who is quiet. A pass waits for it.
    let checked = Wakeup()

    package init(time: TimeSource) {
        self.time = time
        reads = DiskReads(time: time)
    }

    /// Somebody wants to look at a folder.
    func begin(_ folder: FolderRecord) {
        let now = time.monotonic()
        state.withLock { state in
            if let index = state.looks.firstIndex(where: { $0.folder.id == folder.id }) {
                state.looks[index].waiting += 1
            } else {
                state.looks.append(Look(folder: folder, heardAt: now))
            }
        }
    }

    /// The look at a folder begins, comes on, or is over, whatever came of it.
    func note(_ folder: FolderRecord) {
        let now = time.monotonic()
        state.withLock { $0.hear(folder, at: now) }
    }

    /// Nobody waits for that look any more.
    func end(_ folder: FolderRecord) {
        state.withLock { state in
            guard let index = state.looks.firstIndex(where: { $0.folder.id == folder.id }) else { return }
            state.looks[index].waiting -= 1
            guard state.looks[index].waiting == 0 else { return }
            if state.looks.remove(at: index).told != nil { state.givenUp[folder.id] = folder }
        }
    }

    /// Runs a look at a folder, on the thread of its looks.
    /// - Throws: what `body` throws; `CancellationError`.
    func run<Value: Sendable>(
        at folder: FolderRecord, on lanes: DiskLanes, _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        begin(folder)
        defer { end(folder) }
        return try await lanes.pool(for: folder.path).run { [self] in
            note(folder)
            defer { note(folder) }
            return try SignOfLife.hear({ self.note(folder) }, of: body)
        }
    }

    /// Runs what waits for the disks of all folders, one after the other, before they are watched.
    func during(
        _ folders: [FolderRecord], isolation: isolated (any Actor)? = #isolation, _ work: () async -> Void
    ) async {
        guard let first = folders.first else { return await work() }
        let now = time.monotonic()
        state.withLock { $0.start = (Look(folder: first, heardAt: now, isStart: true), folders) }
        await work()
        let end = time.monotonic()
        state.withLock { state in
            state.hearStart(nil, at: end)
            state.start = nil
        }
    }

    /// The watching of a folder begins, or comes on: another part of it is watched.
    package func noteWatching(_ root: FilePath) {
        let now = time.monotonic()
        state.withLock { state in
            let folder = state.start?.roots.first { $0.path == root }
            state.hearStart(folder, at: now)
        }
    }

    /// Folders of which it was told that they cannot be looked at, and that can: only a look at all of one tells how it
    /// is.
    func takeHeard() -> [FolderRecord] { state.withLock { exchange(&$0.heard, with: []) } }

    /// Whether somebody looks at a folder, or waits to.
    func isBusy(_ folder: FilePath) -> Bool { state.withLock { $0.looks.contains { $0.folder.path == folder } } }

    /// Whether nothing has come of the looks at a folder for so long.
    func isQuiet(_ folder: FolderRecord, for span: Duration) -> Bool {
        let now = time.monotonic()
        return state.withLock { state in
            state.looks.contains { $0.folder.id == folder.id && now - $0.heardAt >= span }
        }
    }

    /// The folders of which it is told that they cannot be looked at, or be watched, and those of which files cannot be
    /// read.
    package func silentFolders() -> [FolderRecord] {
        unseenFolders + reads.held
    }

    private var unseenFolders: [FolderRecord] {
        state.withLock { state -> [FolderRecord] in
            let looks = state.looks + [state.start?.look].compactMap(\.self)
            return Array(state.givenUp.values) + looks.filter { $0.told != nil }.map(\.folder)
        }
    }

    /// Whether files wait for a disk of which nobody has told yet that it cannot be looked at: it may just be waking up.
    var isPausing: Bool {
        let held = reads.held
        guard !held.isEmpty else { return false }
        let unseen = Set(unseenFolders.map(\.id))
        return held.contains { !unseen.contains($0.id) }
    }

    /// As ``silentFolders()``.
    package func silent() -> Set<FolderID> { Set(silentFolders().map(\.id)) }

    /// In which words it is told that a folder cannot be looked at; `nil` where it is not.
    func told(of folder: FolderRecord) -> String? {
        state.withLock { state in state.looks.first { $0.folder.id == folder.id }?.told?.message }
    }

    /// The folders that cannot be looked at now. From here on they are told.
    package func silences() -> [Silence] {
        let (now, date) = (time.monotonic(), time.now())
        return state.withLock { state in
            var silences = state.looks.indices.compactMap { state.looks[$0].silence(at: now, date) }
            if let silence = state.start?.look.silence(at: now, date) { silences.append(silence) }
            return silences
        }
    }
}

/// Tells of folders that cannot be looked at. It waits for no disk itself, and for nobody who does.
package struct DiskWatchdogService: Service {
    private let interval: Duration
    private let watchdog: DiskWatchdog
    private let ledger: LedgerQueue
    private let loop: ServiceLoop
    private let logger: Logger

    /// - Parameter interval: how often it is seen whether one is quiet.
    package init(
        _ watchdog: DiskWatchdog, every interval: Duration, ledger: LedgerQueue, patience: LedgerPatience,
        time: TimeSource, logger: Logger
    ) {
        self.watchdog = watchdog
        self.interval = interval
        self.ledger = ledger
        loop = ServiceLoop(name: "looks at folders", interval: interval, patience: patience, time: time)
        self.logger = logger
    }

    package func run() async throws {
        try await loop.run {
            try await report()
            return .round(after: interval)
        }
    }

    /// What nobody can look at is not called safe: it is a problem of its folder.
    /// - Throws: ``LedgerError``, `CancellationError`.
    func report() async throws {
        defer {
            watchdog.checked.signal()
            watchdog.reads.checked.signal()
        }
        for silence in watchdog.silences() {
            try await ledger { try $0.noteObstacle(silence.folder.id, problem: silence.words) }
            if silence.isNews { logger.warning("\(silence.words)") }
        }
    }
}
