import Foundation
import SyncCore
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

@Suite struct DownloadBatchTests {
    private let tree: TemporaryTree
    private let memory = InMemoryStore()
    private let store: FaultyStore
    private let time = ManualTime()

    init() throws {
        tree = try TemporaryTree()
        store = FaultyStore(memory)
    }

    private func tasks(_ count: Int) async throws -> [DownloadTask] {
        var tasks: [DownloadTask] = []
        for number in 0..<count {
            let key = try ObjectKey("p/\(number)")
            try await memory.store(.noise(100, seed: UInt64(number)), at: key)
            let name = try #require(FilePath.Component("\(number).jpg"))
            tasks.append(DownloadTask(key: key, folder: tree.root, name: name))
        }
        return tasks
    }

    private var batch: DownloadBatch {
        DownloadBatch(
            download: ObjectDownload(
                store: store, pool: BlockingPool(name: "test", threads: 2), policy: RetryPolicy(maximumAttempts: 1),
                time: time.source))
    }

    private func codes(_ outcomes: [DownloadBatch.Outcome]) -> [StoreError.Code?] {
        outcomes.map { outcome in
            guard case .failure(let error) = outcome else { return nil }
            return (error as? StoreError)?.code
        }
    }

    @Test func `One that fails does not stop the others, and each outcome has its place`() async throws {
        let tasks = try await tasks(7)
        store.add(StoreFault(.get, key: "p/2", .failBefore(.notFound)))
        store.add(StoreFault(.get, key: "p/5", .failBefore(.serverFailed)))
        var told: Set<Int> = []
        let outcomes = await batch.run(tasks, finished: { index, _ in told.insert(index) })
        #expect(codes(outcomes) == [nil, nil, .notFound, nil, nil, .serverFailed, nil])
        #expect(told == Set(0..<7))
        #expect(try tree.files() == ["0.jpg", "1.jpg", "3.jpg", "4.jpg", "6.jpg"])
    }

    @Test func `Three are under way at once, and no more`() async throws {
        let gate = Gate()
        store.add(StoreFault(.get, .hold(gate)))
        let tasks = try await tasks(8)
        async let outcomes = batch.run(tasks)
        await gate.waitForArrivals(3)
        #expect(store.count(.get) == 3)
        gate.open()
        #expect(await outcomes.count == 8)
        #expect(store.mostInFlight(.get) == 3)
    }

    @Test func `What all would meet is met once`() async throws {
        let tasks = try await tasks(50)
        store.add(StoreFault(.get, numbers: 4...Int.max, .failBefore(.unreachable)))
        let outcomes = codes(await batch.run(tasks))
        #expect(outcomes.count { $0 == .unreachable } == 47)
        #expect(store.count(.get) <= 6)
    }

    @Test func `A cancelled batch tells what was done`() async throws {
        let gate = Gate()
        store.add(StoreFault(.get, numbers: 2...Int.max, .hold(gate)))
        let tasks = try await tasks(6)
        let batch = batch
        let running = Task { await batch.run(tasks) }
        await gate.waitForArrivals(3)
        running.cancel()
        gate.open()
        let outcomes = await running.value
        #expect(outcomes.count == 6)
        #expect(outcomes.suffix(2).allSatisfy { if case .failure(is CancellationError) = $0 { true } else { false } })
    }
}
