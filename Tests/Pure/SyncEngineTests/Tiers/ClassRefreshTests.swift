import Dispatch
import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SyncTestSupport
import Testing

@Suite struct ClassRefreshTests {
    private let bench: RestoreBench

    init() throws {
        bench = try RestoreBench()
    }

    private func refresh() throws -> ClassRefresh {
        ClassRefresh(
            store: bench.store, ledger: bench.queue, keys: try KeyLayout(user: "ana"), time: bench.time.source)
    }

    @Test func `classes and restores become what the store says`() async throws {
        let keys = try await bench.add(4, in: .standard)
        let end = bench.time.now.addingTimeInterval(86_400)
        bench.memory.setClass(.deepArchive, of: keys[0])
        bench.memory.setClass(.glacier, restore: .inProgress, of: keys[1])
        bench.memory.setClass(.deepArchive, restore: .restored(until: end), of: keys[2])
        let result = try await refresh().run()
        #expect(result.seen == 4)
        #expect(result.changed == 3)
        #expect(result.unknown == 0)
        let known = try keys.compactMap { try bench.ledger.object($0) }
        #expect(known.map(\.storageClass) == [.deepArchive, .glacier, .deepArchive, .standard])
        #expect(known.map(\.restore) == [.none, .inProgress, .restored(until: end), .none])
        #expect(try bench.ledger.classesRefreshedAt() == bench.time.now)
        #expect(try await refresh().run().changed == 0)
    }

    @Test func `a restored copy whose time is over is none, though the store tells of it still`() async throws {
        let key = try await bench.add("a.jpg", "photo a")
        let start = bench.time.now
        let end = start.addingTimeInterval(86_400)
        let late = InMemoryStore(now: { start })
        try await late.store(Array("photo a".utf8), at: key)
        late.setClass(.deepArchive, restore: .restored(until: end), of: key)
        let refresh = ClassRefresh(
            store: late, ledger: bench.queue, keys: try KeyLayout(user: "ana"), time: bench.time.source)
        #expect(try await refresh.run().changed == 1)
        #expect(try bench.ledger.object(key)?.restore == .restored(until: end))
        await bench.time.advance(by: .seconds(86_401))
        #expect(try await refresh.run().changed == 1)
        #expect(try bench.ledger.object(key)?.restore == RestoreState.none)
    }

    @Test func `what the ledger does not know is counted, and others' objects are not listed`() async throws {
        _ = try await bench.add(1)
        try await bench.memory.store([1], at: ObjectKey("users/ana/photos/other.dat"))
        try await bench.memory.store([1], at: ObjectKey("gallery-archive/ana/grandma/2020/01/1.jpg"))
        try await bench.memory.store([1], at: ObjectKey("users/anabel/photos/1.dat"))
        try await bench.memory.store([1], at: ObjectKey("shares/1/vacation.json"))
        let result = try await refresh().run()
        #expect(result.seen == 3)
        #expect(result.unknown == 2)
        #expect(Set(bench.store.calls.map(\.key)) == ["users/ana/", "gallery-archive/ana/"])
    }

    @Test func `what is known, what is not and what is new are told apart in one page`() async throws {
        let keys = try await bench.add(3, in: .standard)
        for name in ["0", "a", "zz"] { try await bench.memory.store([1], at: ObjectKey("users/ana/photos/\(name)")) }
        _ = try await refresh().run()
        let requests = bench.store.calls.count
        bench.memory.setClass(.glacier, of: keys[1])
        let result = try await refresh().run()
        #expect(result.seen == 6 && result.unknown == 3 && result.changed == 1)
        let known = try keys.compactMap { try bench.ledger.object($0) }
        #expect(known.map(\.storageClass) == [.standard, .glacier, .standard])
        #expect(bench.store.calls.count - requests == 2, "two listings, and nothing by itself")
    }

    @Test func `a page that is out of order is compared all the same`() async throws {
        let keys = try await bench.add(4, in: .standard)
        try await bench.memory.store([1], at: ObjectKey("users/ana/photos/0"))
        bench.memory.setClass(.glacier, of: keys[0])
        let refresh = ClassRefresh(
            store: MixingUp(base: bench.store), ledger: bench.queue, keys: try KeyLayout(user: "ana"),
            time: bench.time.source)
        let result = try await refresh.run()
        #expect(result.seen == 6 && result.unknown == 2 && result.changed == 1)
        #expect(result.findings.broken == BrokenCount())
        let known = try keys.compactMap { try bench.ledger.object($0) }
        #expect(known.map(\.storageClass) == [.glacier, .standard, .standard, .standard])
        #expect(known.allSatisfy { $0.etag != nil }, "each was found in the page")
        #expect(bench.store.count(.head) == 0)
    }

    @Test func `the next page is asked for while one is held against the ledger`() async throws {
        for number in 0..<1_001 {
            try await bench.memory.store([1], at: ObjectKey("users/ana/photos/\(number).dat"))
        }
        let isAsked = DispatchSemaphore(value: 0)
        bench.store.add(StoreFault(.list, number: 2, .meanwhile { isAsked.signal() }))
        var waits: [DispatchTimeoutResult] = []
        let result = try await refresh().run { seen in
            if seen == 1_000 { waits.append(isAsked.wait(timeout: .now() + 60)) }
        }
        #expect(waits == [.success])
        #expect(result.seen == 1_001)
    }

    @Test(arguments: [(StoreError.Code.badDigest, 0), (.invalidResponse, 1)])
    func `an object that cannot be looked at is named, and stops none of the others`(
        code: StoreError.Code, unclear: Int
    ) async throws {
        let keys = try await bench.add(3, in: .standard)
        for key in keys { bench.memory.setClass(.deepArchive, of: key) }
        bench.memory.makeUnreadable(keys[1], as: code)
        let result = try await refresh().run()
        #expect(result.seen == 2)
        #expect(result.changed == 2)
        #expect(result.problems.map(\.key) == [keys[1]])
        #expect(try bench.ledger.unclearObjects() == unclear, "what the store calls damaged is")
        #expect(result.problemCount == 1)
        #expect(try bench.ledger.object(keys[1])?.storageClass == .standard)
        #expect(try bench.ledger.classesRefreshedAt() == bench.time.now)
    }

    @Test func `what others have below the same prefix is unclear, and none of this machine's`() async throws {
        let keys = try await bench.add(2, in: .standard)
        let other = try ObjectKey("users/ana/photos/other.dat")
        try await bench.memory.store([1], at: other)
        bench.memory.makeUnreadable(other, as: .invalidResponse)
        _ = try await refresh().run()
        #expect(try bench.ledger.unclearObjects() == 1 && bench.ledger.unclearOwnObjects(.ana) == 0)
        bench.memory.makeUnreadable(keys[0], as: .invalidResponse)
        _ = try await refresh().run()
        #expect(try bench.ledger.unclearObjects() == 2 && bench.ledger.unclearOwnObjects(.ana) == 1)
        #expect(try !bench.ledger.isAllWell(try bench.ledger.overview(), .ana, at: bench.time.now))
    }

    @Test func `what a listing leaves out, and the store cannot tell of, is neither there nor gone`() async throws {
        let keys = try await bench.add(2, in: .standard)
        bench.memory.lose(keys[0])
        for number in 1...9 {
            bench.store.add(StoreFault(.head, key: keys[0].rawValue, number: number, .failBefore(.serverFailed)))
        }
        let result = try await refresh().run()
        #expect(result.problems.map(\.key) == [keys[0]] && result.findings.broken.objects == 0)
        #expect(try bench.ledger.unclearObjects() == 1 && bench.ledger.object(keys[0])?.problem == nil)
    }

    @Test func `a restore that is under way is not forgotten where listings tell nothing of it`() async throws {
        let bench = try RestoreBench(restoresInLists: false)
        let keys = try await bench.add(1)
        try await bench.sender.run(job: bench.ask(for: keys))
        let refresh = ClassRefresh(
            store: bench.store, ledger: bench.queue, keys: try KeyLayout(user: "ana"), time: bench.time.source)
        await bench.time.advance(by: .seconds(60))
        _ = try await refresh.run()
        #expect(try bench.ledger.object(keys[0])?.restore == .inProgress)
    }

    @Test func `pages are merged one by one, and what was merged before an outage stays`() async throws {
        let keys = try await bench.add(2_500, in: .standard)
        for key in keys { bench.memory.setClass(.deepArchive, of: key) }
        bench.store.add(StoreFault(.list, key: "users/ana/", number: 3, .failBefore(.unreachable)))
        let seen = Lock<[Int]>([])
        await #expect(throws: StoreError.self) {
            try await refresh().run { count in seen.withLock { $0.append(count) } }
        }
        #expect(seen.withLock { $0 } == [1_000, 2_000])
        #expect(try bench.ledger.overview().tiers.first { $0.storageClass == .deepArchive }?.objects == 2_000)
        #expect(try bench.ledger.classesRefreshedAt() == nil)
    }
}

/// A store whose pages are out of order, but for their last object, and have the first one twice.
private struct MixingUp: WrappedStore {
    let base: any ObjectStore

    func list(prefix: String, after: PageToken?, limit: Int) async throws -> ObjectPage {
        var page = try await base.list(prefix: prefix, after: after, limit: limit)
        guard let first = page.objects.first, let last = page.objects.last else { return page }
        page.objects = Array(page.objects.dropLast().reversed()) + [first, last]
        return page
    }
}
