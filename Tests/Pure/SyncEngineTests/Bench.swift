import FoundationEssentials
import Logging
import SyncCore
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage

@testable import SyncEngine

/// Everything between the folders and the store, with a disk, a store and a clock of the test's.
struct Bench {
    static let gallery: FilePath = "/pictures/gallery"
    static let vacations: FilePath = "/pictures/vacations"
    static let projects: FilePath = "/pictures/projects"

    let disk = FakeDisk()
    let memory = InMemoryStore()
    let store: FaultyStore
    let time: ManualTime
    let ledger: Ledger
    let folders: [FolderRecord]
    let events = Events()
    let work = Wakeup()
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// - Parameters:
    ///   - ledger: one that can be closed; else one in memory.
    ///   - store: another one in front of ``memory``.
    init(
        faults: [StoreFault] = [], ledger: Ledger? = nil, through store: (any ObjectStore) -> any ObjectStore = { $0 }
    ) throws {
        self.store = FaultyStore(store(memory), faults: faults)
        time = ManualTime()
        self.ledger = try ledger ?? Ledger.inMemory()
        folders = try self.ledger.register([
            WatchedFolder(kind: .gallery, path: Self.gallery),
            WatchedFolder(kind: .vacations, path: Self.vacations),
            WatchedFolder(kind: .projects, path: Self.projects),
        ])
    }

    var patience: LedgerPatience {
        LedgerPatience(
            ledger: LedgerQueue(ledger), time: time.source,
            logger: logger)
    }

    /// What the pipeline told, in order.
    final class Events: Sendable {
        private let list = Lock<[PipelineEvent]>([])

        func note(_ event: PipelineEvent) { list.withLock { $0.append(event) } }
        var all: [PipelineEvent] { list.withLock { $0 } }
        var summary: PassSummary {
            all.reduce(into: PassSummary()) { $0.count($1) }
        }
    }

    /// - Parameter time: another clock than ``time``.
    func makePipeline(
        batchSize: Int = 3, mostInFlight: Int? = nil, retries: Bool = false, watch: StepWatch = StepWatch(),
        watchdog: DiskWatchdog? = nil, time clock: TimeSource? = nil,
        observe: (@Sendable (PipelineEvent) -> Void)? = nil
    ) throws -> PhotoPipeline {
        let time = clock ?? self.time.source
        let base: any ObjectStore = retries ? RetryingStore(store, time: time, logger: logger) : store
        return PhotoPipeline(
            ledger: LedgerQueue(ledger), store: base,
            preparer: Preparer(
                ledger: ledger, scanner: disk, reducer: disk, planner: UploadPlanner(keys: try KeyLayout(user: "ana")),
                policy: ReducePolicy(), settle: .seconds(2), now: time.now),
            pool: BlockingPool(name: "test", threads: 2, watch: watch), batchSize: batchSize,
            mostInFlight: mostInFlight, work: work, watchdog: watchdog, time: time, logger: logger,
            observe: observe ?? events.note)
    }

    /// Scans every folder, as a pass does; what was written to the disk is old enough to be settled.
    @discardableResult
    func scan() throws -> [FolderScan.Summary] {
        let scan = FolderScan(ledger: ledger, scanner: disk, settle: .seconds(2))
        return try folders.map { try scan.run($0, from: $0.path, at: time.now) }
    }

    /// Scans, and stores all that is due.
    func pass() async throws {
        try scan()
        try await makePipeline().run(.untilDone(patience: .zero))
        // An ending may have signalled as the pass ended; who waits after it waits for what is new.
        work.signal()
        await work.wait(atMost: nil, time: time.source)
    }

    func states() throws -> [String: PhotoState] {
        var states: [String: PhotoState] = [:]
        try ledger.photos(at: "/pictures") { states[$0.path.string] = $0.state }
        return states
    }

    func status(_ path: FilePath) throws -> PhotoStatus? {
        var found: PhotoStatus?
        try ledger.photos(at: path) { found = $0 }
        return found
    }
}
