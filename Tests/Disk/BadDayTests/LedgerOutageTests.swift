import Foundation
import GRDB
import Logging
import ServiceLifecycleTestKit
import SyncCore
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

/// A ledger that refuses to be written to for a while, as on a full disk. Another connection to the file puts a trigger in
/// the way, and takes it out again.
@Suite struct LedgerOutageTests {
    private static let photos = 12

    private let tree: TemporaryTree
    private let ledger: Ledger
    private let folders: [FolderRecord]
    private let photoSet = PhotoSet(count: photos)
    private let store = InMemoryStore()
    private let obstacle: Obstacle
    private let log = LogLines(from: .notice)

    init() throws {
        tree = try TemporaryTree()
        ledger = try Ledger(at: tree.path("ledger.sqlite"))
        folders = try ledger.register([PhotoSet.folder])
        obstacle = try Obstacle(tree.path("ledger.sqlite"))
    }

    /// What is in the way of writing.
    private final class Obstacle: Sendable {
        private let database: DatabaseQueue

        init(_ path: FilePath) throws { database = try DatabaseQueue(path: path.string) }

        func put(before statement: String, on table: String) throws {
            try database.write { db in
                try db.execute(
                    sql: """
                        CREATE TRIGGER obstacle BEFORE \(statement) ON \(table) BEGIN
                            SELECT RAISE(ABORT, 'no room');
                        END
                        """)
            }
        }

        func remove() throws {
            try database.write { try $0.execute(sql: "DROP TRIGGER IF EXISTS obstacle") }
        }

        /// What is in the way of reading.
        func rename(_ table: String, to name: String) throws {
            try database.write { try $0.execute(sql: "ALTER TABLE \(table) RENAME TO \(name)") }
        }
    }

    /// A clock that stands still. Nobody waits, but for what comes once in a blue moon.
    /// - Parameter atPause: called at each pause but the short looks at the queue, with its number.
    private func makeTime(atPause: @escaping @Sendable (Int) throws -> Void = { _ in }) -> TimeSource {
        let pauses = Lock(0)
        let never = ManualTime()
        return TimeSource(
            now: { Date(timeIntervalSince1970: 1_780_000_000) }, monotonic: { .zero },
            sleep: { duration in
                try Task.checkCancellation()
                // Until the task is cancelled.
                if duration > .seconds(3_600) { return try await never.source.sleep(duration) }
                await Task.yield()
                if duration == .seconds(5) { return }
                try atPause(
                    pauses.withLock { count in
                        count += 1
                        return count
                    })
            }, random: { 0.5 })
    }

    private func queue() throws {
        let scan = FolderScan(ledger: ledger, scanner: photoSet, settle: .seconds(2))
        for folder in folders {
            _ = try scan.run(folder, from: folder.path, at: Date(timeIntervalSince1970: 1_780_000_000))
        }
    }

    private func pipeline(
        _ time: TimeSource, observe: @escaping @Sendable (PipelineEvent) -> Void = { _ in }
    ) throws -> PhotoPipeline {
        PhotoPipeline(
            ledger: LedgerQueue(ledger), store: store,
            preparer: Preparer(
                ledger: ledger, scanner: photoSet, reducer: photoSet,
                planner: UploadPlanner(keys: try KeyLayout(user: "ana")), policy: ReducePolicy(), settle: .seconds(2),
                now: time.now),
            pool: BlockingPool(name: "test", threads: 2), batchSize: 3, work: Wakeup(), time: time, logger: log.logger,
            observe: observe)
    }

    private func patience(_ time: TimeSource) -> LedgerPatience {
        LedgerPatience(
            ledger: LedgerQueue(ledger), time: time, logger: log.logger)
    }

    @Test(
        arguments: [("INSERT", "attempts"), ("UPDATE", "attempts"), ("UPDATE", "photos"), ("UPDATE", "agent")])
    func `a pass whose ledger takes nothing any more ends with the ledger's error`(statement: String, table: String)
        async throws
    {
        try queue()
        try obstacle.put(before: statement, on: table)
        let pipeline = try pipeline(makeTime())
        let error = await #expect(throws: LedgerError.self) {
            try await pipeline.run(.untilDone(patience: .seconds(10)))
        }
        #expect(error?.mayPass == true)
        try obstacle.remove()
        try await pipeline.run(.untilDone(patience: .seconds(10)))
        #expect(store.keys.count == Self.photos)
        #expect(try ledger.overview().totals[.uploaded].files == Self.photos)
    }

    @Test func `a ledger that was busy for a moment, and then is away, is told`() async throws {
        try obstacle.put(before: "INSERT", on: "store_facts")
        let time = makeTime { [obstacle] number in if number == 3 { try obstacle.remove() } }
        var tries = 0
        try await patience(time).riding("uploads") {
            tries += 1
            if tries == 1 { throw LedgerError(sqlite: 5, words: "", operation: "commit", path: "ledger.sqlite") }
        }
        #expect(tries == 2)
        #expect(log.containing("the ledger cannot be used").count == 1)
        #expect(log.containing("the ledger can be used again").count == 1)
    }

    @Test func `a ledger that can be written, and not read, is away`() async throws {
        try obstacle.rename("agent", to: "nobody")
        let time = makeTime { [obstacle] number in if number == 3 { try obstacle.rename("nobody", to: "agent") } }
        var tries = 0
        try await patience(time).riding("uploads") {
            tries += 1
            _ = try ledger.retriesAsked()
        }
        #expect(tries == 2)
        #expect(log.containing("the ledger cannot be used").count == 1)
        #expect(log.containing("the ledger can be used again").count == 1)
    }

    @Test(
        arguments: [("INSERT", "attempts"), ("UPDATE", "attempts"), ("UPDATE", "photos"), ("UPDATE", "agent")])
    func `the agent goes on by itself when the ledger can be used again, and has told it once`(
        statement: String, table: String
    ) async throws {
        try queue()
        try obstacle.put(before: statement, on: table)
        let time = makeTime { [obstacle] number in if number == 4 { try obstacle.remove() } }
        let (stored, sink) = AsyncStream.makeStream(of: Void.self)
        let service = UploadService(
            try pipeline(time) { event in
                switch event.ending {
                case .stored, .alreadyStored: sink.yield()
                default: break
                }
            }, patience: patience(time))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await service.run() }
            var left = Self.photos
            for await _ in stored {
                left -= 1
                if left == 0 { break }
            }
            group.cancelAll()
            try await group.waitForAll()
        }
        #expect(try ledger.overview().totals[.uploaded].files == Self.photos)
        #expect(log.containing("the ledger cannot be used").count == 1)
        #expect(log.containing("the ledger can be used again").count == 1)
    }

    @Test func `an agent whose ledger is away ends when it is told to`() async throws {
        try queue()
        try obstacle.put(before: "INSERT", on: "attempts")
        try await testGracefulShutdown { trigger in
            let time = makeTime { number in if number == 3 { trigger.triggerGracefulShutdown() } }
            let service = UploadService(try pipeline(time), patience: patience(time))
            try await service.run()
        }
        #expect(store.keys.isEmpty)
    }

    @Test func `what was hinted at while the ledger was away is found when it is back`() async throws {
        try obstacle.put(before: "INSERT", on: "photos")
        let hints = OneHint()
        let time = makeTime { [obstacle] number in if number == 4 { try obstacle.remove() } }
        let work = Wakeup()
        let intake = Intake(
            folders: folders, ledger: LedgerQueue(ledger), scanner: photoSet, reducer: photoSet, source: hints,
            disks: DiskLanes(sharing: BlockingPool(name: "intake", threads: 1)), settle: .seconds(2),
            rescanEvery: .seconds(31_536_000), patience: patience(time), work: work, time: time, logger: log.logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                do { try await intake.run(onWatching: {}) } catch is CancellationError {}
            }
            await work.wait(atMost: nil, time: time)
            group.cancelAll()
            try await group.waitForAll()
        }
        #expect(try ledger.overview().totals[.pending].files == Self.photos)
    }

    /// Hints once, at the whole folder.
    private final class OneHint: ChangeSource {
        private let isTold = Lock(false)
        private let never = Wakeup()

        func start(_ roots: [FilePath], untold: [FilePath: UntoldFile]) async {}
        func judge(_ appeared: [AppearedFile], below root: FilePath) {}
        func noteScan(of tree: FilePath, _ cost: ScanCost) {}
        func reports() -> [WatchReport] { [] }
        func stop() async {}

        func take(of root: FilePath) -> [ChangeHint] { [] }

        func next(of root: FilePath) async -> [ChangeHint]? {
            let isFirst = isTold.withLock { isTold in
                defer { isTold = true }
                return !isTold
            }
            if isFirst { return [.tree(PhotoSet.folder.path)] }
            await never.wait(atMost: nil, time: JumpingTime().source)
            return nil
        }
    }
}
