import FoundationEssentials
import Logging
import SyncCore
import SyncLedger
import SyncS3
import SyncSystem
import SyncTestSupport

@testable import SyncEngine

/// The engine over ``ScriptedS3Server``, put together as the agent does: pipeline, retries, S3 over curl.
struct SyncBench {
    let server: ScriptedS3Server
    let photoSet: PhotoSet
    let store: S3Store
    let ledger: Ledger
    let time = JumpingTime()
    let summary = Lock(PassSummary())
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// A server and a store of the test's own, and photos that are queued.
    /// - Parameter environment: added to the one that fits the server; an empty value takes a variable out.
    static func run(
        photos count: Int, environment: [String: String] = [:], _ body: (SyncBench) async throws -> Void
    ) async throws {
        try await ScriptedS3Server.run { server in
            let bench = try SyncBench(server, photos: count, environment: environment)
            do {
                try await body(bench)
            } catch {
                await bench.store.close()
                throw error
            }
            await bench.store.close()
        }
    }

    private init(_ server: ScriptedS3Server, photos count: Int, environment: [String: String]) throws {
        self.server = server
        photoSet = PhotoSet(count: count)
        let variables = server.environment.merging(environment) { $1 }.filter { !$0.value.isEmpty }
        store = try S3Store(
            settings: S3Settings(bucket: server.bucket, endpoint: server.endpoint), environment: variables,
            now: { Date() })
        ledger = try Ledger.inMemory()
        let scan = FolderScan(ledger: ledger, scanner: photoSet, settle: .seconds(2))
        for folder in try ledger.register([PhotoSet.folder]) {
            _ = try scan.run(folder, from: folder.path, at: time.source.now())
        }
    }

    /// One pass: until nothing is due any more, or the store is away as a whole.
    func pass(batchSize: Int = 8, patience: Duration = .seconds(86_400)) async throws {
        try await makePipeline(batchSize: batchSize) { _ in }.run(.untilDone(patience: patience))
    }

    /// As the agent that watches: until each photo is stored.
    func runUntilStored() async throws {
        let (events, sink) = AsyncStream.makeStream(of: Void.self)
        let pipeline = try makePipeline(batchSize: 4) { event in
            switch event.ending {
            case .stored, .alreadyStored: sink.yield()
            default: break
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await pipeline.run(.untilStopped) }
            group.addTask { [count = photoSet.count] in
                var left = count
                for await _ in events {
                    left -= 1
                    if left == 0 { return }
                }
            }
            try await group.next()
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    private func makePipeline(
        batchSize: Int, observe: @escaping @Sendable (PipelineEvent) -> Void
    ) throws -> PhotoPipeline {
        let time = time.source
        return PhotoPipeline(
            ledger: LedgerQueue(ledger), store: RetryingStore(store, time: time, logger: logger),
            preparer: Preparer(
                ledger: ledger, scanner: photoSet, reducer: photoSet,
                planner: UploadPlanner(keys: try KeyLayout(user: "ana")),
                policy: ReducePolicy(), settle: .seconds(2), now: time.now),
            pool: BlockingPool(name: "test", threads: 2), batchSize: batchSize, work: Wakeup(), time: time,
            logger: logger,
            observe: { [summary] event in
                summary.withLock { $0.count(event) }
                observe(event)
            })
    }

    // MARK: What came of it

    /// The photos that the server does not hold byte for byte, or that were stored more than once.
    func wrongPhotos() throws -> [Int] {
        try (0..<photoSet.count).filter { index in
            let object = server.object(try photoSet.key(of: index).rawValue)
            return object?.bytes != photoSet.copy(of: index) || object?.generation != 1
        }
    }

    func states() throws -> [PhotoState: Int] {
        var states: [PhotoState: Int] = [:]
        try ledger.photos(at: PhotoSet.folder.path) { states[$0.state, default: 0] += 1 }
        return states
    }

    /// `putObject 503`, and how often; `cut` where no answer was begun.
    func answers() -> [String: Int] {
        server.requests.reduce(into: [:]) { counts, record in
            let status = record.status.map(String.init) ?? "cut"
            counts["\(record.operation) \(status)", default: 0] += 1
        }
    }
}
