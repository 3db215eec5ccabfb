import Foundation
import Logging
import SyncCore
import SyncDigest
import SyncLedger
import SyncPhotos
import SyncSystem
import SyncTestSupport
import SyncWatch
import SystemPackage
import Testing

@testable import SyncEngine

@Suite struct OriginalKeeperTests {
    private let bench: OriginalBench

    init() throws { bench = try OriginalBench() }

    @Test func `the bytes of each photo are kept once, beside its copy`() async throws {
        let keys = try [1, 2].map { try bench.write($0) }
        try await bench.sync()
        let keeper = bench.keeper()
        let first = try await keeper.run()
        #expect((first.done, first.kept, first.failed) == (2, 2, 0))
        for (number, key) in zip([1, 2], keys) {
            #expect(bench.memory.content(key) == (try RetentionBench.jpeg(number)))
        }
        #expect(try await keeper.run().done == 0)
    }

    @Test func `one that only reading finds damaged is put again, whatever the store says of it`() async throws {
        let key = try bench.write(1)
        try await bench.sync()
        _ = try await bench.keeper().run()
        bench.memory.damage(key)
        await bench.time.advance(by: .seconds(60))
        #expect(try await bench.verify().broken.map { $0.key } == [key])
        #expect(try await bench.keeper().run().kept == 1)
        #expect(bench.memory.content(key) == (try RetentionBench.jpeg(1)))
        await bench.time.advance(by: .seconds(60))
        #expect(try await bench.verify().broken.isEmpty)
        #expect(try bench.ledger.overview().broken == 0)
    }

    @Test func `one that was damaged and is whole again is read, and not put`() async throws {
        let key = try bench.write(1)
        try await bench.sync()
        _ = try await bench.keeper().run()
        bench.memory.damage(key)
        await bench.time.advance(by: .seconds(60))
        _ = try await bench.verify()
        // The same bit once more.
        bench.memory.damage(key)
        #expect(try await bench.keeper().run().kept == 0)
        #expect(try bench.ledger.object(key)?.problem == nil)
    }

    @Test func `photos come first: as soon as one is due, no further original is begun`() async throws {
        try bench.write(1)
        try await bench.sync()
        try bench.write(2)
        try bench.scan()
        let summary = try await bench.keeper().run()
        #expect(summary.isInterrupted && summary.kept == 0)
        try await bench.sync()
        #expect(try await bench.keeper().run().kept == 2)
    }

    @Test func `what is in a folder that does not answer is not begun, and holds up no other original`() async throws {
        try bench.write(1)
        try await bench.sync()
        try bench.write(2)
        try bench.scan()
        let summary = try await bench.keeper(silent: [bench.folder]).run()
        #expect(!summary.isInterrupted && summary.kept == 0 && summary.resting == 1)
        #expect(try await bench.keeper().run().isInterrupted)
    }

    @Test func `one that could not be kept rests, twice as long each time, and a run says so`() async throws {
        let key = try bench.write(1)
        try await bench.sync()
        bench.store.add(StoreFault(.put, key: key.rawValue, numbers: 1...2, .failBefore(.serverFailed)))
        let keeper = bench.keeper()
        #expect(try await keeper.run().failures.count == 1)
        let second = try await keeper.run()
        #expect((second.resting, second.failed) == (1, 0))
        await bench.time.advance(by: .seconds(61))
        #expect(try await keeper.run().failed == 1)
        await bench.time.advance(by: .seconds(61))
        #expect(try await keeper.run().resting == 1)
        await bench.time.advance(by: .seconds(61))
        #expect(try await keeper.run().kept == 1)
    }

    @Test func `a file that is another one by now does not rest`() async throws {
        let key = try bench.write(1)
        try await bench.sync()
        bench.store.add(StoreFault(.put, key: key.rawValue, number: 1, .failBefore(.serverFailed)))
        let keeper = bench.keeper()
        #expect(try await keeper.run().failed == 1)
        try bench.write(2, to: "1.jpg")
        try await bench.sync()
        #expect(try await keeper.run().kept == 1)
    }

    @Test func `a file that has changed since it was stored is left to the next scan`() async throws {
        try bench.write(1)
        try await bench.sync()
        try bench.write(2, to: "1.jpg")
        let summary = try await bench.keeper().run()
        #expect((summary.done, summary.kept, summary.failed) == (1, 0, 0))
    }

    @Test func `one that the store denies holds up no other`() async throws {
        let keys = try [1, 2].map { try bench.write($0) }
        try await bench.sync()
        bench.store.add(StoreFault(.put, key: keys[0].rawValue, .failBefore(.accessDenied)))
        let summary = try await bench.keeper().run()
        #expect((summary.kept, summary.failed) == (1, 1))
    }

    @Test(arguments: [StoreError.Code.noSpace, .unreachable])
    func `what the store as a whole refuses ends the run`(code: StoreError.Code) async throws {
        let keys = try [1, 2].map { try bench.write($0) }
        try await bench.sync()
        for key in keys { bench.store.add(StoreFault(.put, key: key.rawValue, .failBefore(code))) }
        await #expect(throws: StoreError.self) { try await bench.keeper().run() }
    }

    @Test func `what this machine's file system denies, it denies to each`() async throws {
        try bench.write(1)
        try await bench.sync()
        let keeper = bench.keeper(in: ClosedDisk(base: bench.store))
        await #expect(throws: StoreError.self) { try await keeper.run() }
    }
}

/// An embedded store whose folder takes no files from this user.
private struct ClosedDisk: WrappedStore {
    let base: any ObjectStore

    func put(
        _ body: ObjectBody, at key: ObjectKey, attributes: ObjectAttributes, condition: PutCondition
    ) async throws -> PutReceipt {
        var error = StoreError(.accessDenied, operation: "put", key: key.rawValue, message: "permission denied")
        error.isOfThisMachine = true
        throw error
    }
}

/// Photos on a real disk, whose stored copies are reduced.
struct OriginalBench {
    let tree: TemporaryTree
    let memory = InMemoryStore()
    let store: FaultyStore
    let time: ManualTime
    let ledger: Ledger
    let folder: FolderRecord
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    init() throws {
        tree = try TemporaryTree(in: .memory)
        try tree.makeFolder("photos")
        store = FaultyStore(memory)
        // Files that are written now are a minute old.
        time = ManualTime(start: Date(timeIntervalSince1970: (Date().timeIntervalSince1970 + 60).rounded()))
        ledger = try Ledger.inMemory()
        folder = try ledger.register([WatchedFolder(kind: .vacations, path: tree.path("photos"))])[0]
    }

    /// - Returns: the key of its original.
    @discardableResult
    func write(_ number: Int, to name: String? = nil) throws -> ObjectKey {
        let bytes = try RetentionBench.jpeg(number)
        try tree.write(bytes, to: "photos/Rome/\(name ?? "\(number).jpg")")
        let copy = try KeyLayout(user: "ana").photo(PhotoID(ContentDigest(of: bytes).md5))
        return try #require(copy.original)
    }

    func scan() throws {
        let scan = FolderScan(ledger: ledger, scanner: FileTreeScanner(), settle: .zero)
        _ = try scan.run(folder, from: folder.path, at: time.now)
    }

    /// Scans, and stores all that is due.
    func sync() async throws {
        try scan()
        try await PhotoPipeline(
            ledger: LedgerQueue(ledger), store: store,
            preparer: Preparer(
                ledger: ledger, scanner: FileTreeScanner(), reducer: PhotoFileReducer(),
                planner: UploadPlanner(keys: try KeyLayout(user: "ana")),
                policy: ReducePolicy(maximumDimension: 100), settle: .zero, now: time.source.now),
            pool: BlockingPool(name: "test", threads: 2), batchSize: 3, work: Wakeup(), time: time.source,
            logger: logger, observe: { _ in }
        ).run(.untilDone(patience: .zero))
    }

    /// Reads all that is stored.
    func verify() async throws -> Verifier.Summary {
        try await Verifier(
            store: store, ledger: LedgerQueue(ledger), cost: VerificationCost(prices: nil), time: time.source
        ).run(.percent(100), costingAtMost: nil)
    }

    /// - Parameters:
    ///   - other: a store in front of the bench's.
    ///   - silent: folders that do not answer.
    func keeper(in other: (any ObjectStore)? = nil, silent: [FolderRecord] = []) -> OriginalKeeper {
        OriginalKeeper(
            ledger: LedgerQueue(ledger), store: other ?? store, reader: PhotoFileReducer(), recompressor: nil,
            width: 1, pool: BlockingPool(name: "originals", threads: 1), silent: { silent }, time: time.source)
    }
}
