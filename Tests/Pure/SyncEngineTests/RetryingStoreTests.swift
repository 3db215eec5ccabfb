import SyncCore
import SyncEngine
import SyncSystem
import SyncTestSupport
import Testing

@Suite struct RetryingStoreTests {
    private func store(_ bench: Bench) -> RetryingStore {
        RetryingStore(bench.store, time: bench.time.source, logger: bench.logger)
    }

    @Test func `what may pass is sent again after a wait, three times in all`() async throws {
        let bench = try Bench(faults: [StoreFault(.head, .failBefore(.throttled))])
        async let answer = store(bench).head(try ObjectKey("a"))
        await bench.time.waitForSleepers()
        await bench.time.advance(by: .seconds(1))
        await bench.time.waitForSleepers()
        await bench.time.advance(by: .seconds(2))
        do {
            let info = try await answer
            Issue.record("the third failure was not told: \(String(describing: info))")
        } catch let error as StoreError {
            #expect(error.code == .throttled)
        }
        #expect(bench.store.count(.head) == 3)
        #expect(bench.time.sleeps == [.milliseconds(500), .seconds(1)])
    }

    @Test func `a failure that passes is nobody's business`() async throws {
        let bench = try Bench(faults: [StoreFault(.head, number: 1, .failBefore(.connectionLost))])
        async let answer = store(bench).head(try ObjectKey("a"))
        await bench.time.waitForSleepers()
        await bench.time.advance(by: .seconds(1))
        #expect(try await answer == nil)
    }

    @Test(
        arguments: [StoreError.Code.accessDenied, .notFound, .archived, .noSpace, .sourceSilent])
    func `what will not pass is told at once`(code: StoreError.Code) async throws {
        let bench = try Bench(faults: [StoreFault(.head, .failBefore(code))])
        let error = try await #require(throws: StoreError.self) { try await self.store(bench).head(try ObjectKey("a")) }
        #expect(error.code == code)
        #expect(bench.store.count(.head) == 1)
    }

    @Test func `what all attempts at a put have sent is told with the last failure`() async throws {
        let bench = try Bench()
        let store = RetryingStore(CostlyStore(bench.store), time: bench.time.source, logger: bench.logger)
        let body = ObjectBody(Array("film".utf8))
        async let answer = store.put(
            body, at: try ObjectKey("a"), attributes: ObjectAttributes(contentType: "video/mp4"), condition: .ifAbsent)
        await bench.time.waitForSleepers()
        await bench.time.advance(by: .seconds(1))
        await bench.time.waitForSleepers()
        await bench.time.advance(by: .seconds(2))
        do {
            _ = try await answer
            Issue.record("the failure was not told")
        } catch let error as StoreError {
            #expect(error.sentBytes == 30)
        }
    }

    @Test func `reads are not repeated behind the back of their sink`() async throws {
        let bench = try Bench(faults: [StoreFault(.get, .failBefore(.connectionLost))])
        await #expect(throws: StoreError.self) { try await self.store(bench).bytes(of: try ObjectKey("a")) }
        #expect(bench.store.count(.get) == 1)
    }

    // MARK: - Every function

    /// The outer store notes what comes out of the retries, the inner one what comes out of the outer: a function that one
    /// of them does not forward falls back to the port's default, and nothing else would tell.
    @Test(arguments: StoreOperation.allCases)
    func `every function of the port arrives behind both decorators`(operation: StoreOperation) async throws {
        let memory = InMemoryStore(lifecycle: .byRules)
        let inner = FaultyStore(memory)
        let outer = FaultyStore(inner)
        let time = ManualTime()
        let store = RetryingStore(outer, time: time.source, logger: try Bench().logger)
        #expect(store.identity == memory.identity)
        #expect(store.capabilities == memory.capabilities)
        #expect(store.capabilities != StoreCapabilities())
        let key = try ObjectKey("a")
        try await memory.store([1], at: key)
        do {
            try await operation.call(store, key)
        } catch let error as StoreError {
            // What the store in memory refuses is its own business.
            #expect([.unsupported, .notArchived].contains(error.code))
        }
        #expect(outer.calls.map(\.operation) == [operation])
        #expect(inner.calls == outer.calls)
        #expect(time.sleeps == [])
    }

    @Test(arguments: StoreOperation.allCases)
    func `every request but a read is sent again`(operation: StoreOperation) async throws {
        let base = FaultyStore(InMemoryStore(), faults: [StoreFault(operation, .failBefore(.throttled))])
        let time = ManualTime(random: 0)
        let store = RetryingStore(base, time: time.source, logger: try Bench().logger)
        let key = try ObjectKey("a")
        let error = await #expect(throws: StoreError.self) { try await operation.call(store, key) }
        #expect(error?.code == .throttled)
        #expect(base.count(operation) == (operation == .get ? 1 : 3))
    }

    @Test func `of many deletions those are sent again whose failure may pass`() async throws {
        let keys = try ["gone", "busy", "never", "forbidden"].map { try ObjectKey($0) }
        let base = RefusingDeletions([
            ["busy": .throttled, "never": .serverFailed, "forbidden": .accessDenied],
            ["never": .serverFailed], ["never": .timedOut],
        ])
        let store = RetryingStore(base, time: ManualTime(random: 0).source, logger: try Bench().logger)
        let failures = try await store.delete(keys)
        #expect(failures.mapValues(\.code) == [keys[2]: .timedOut, keys[3]: .accessDenied])
        #expect(base.asked == [["gone", "busy", "never", "forbidden"], ["busy", "never"], ["never"]])
    }

    @Test func `when the store goes away between two deletions, that is told`() async throws {
        let keys = try ["busy", "gone"].map { try ObjectKey($0) }
        let store = RetryingStore(
            RefusingDeletions([["busy": .throttled]]), time: ManualTime(random: 0).source, logger: try Bench().logger)
        let error = await #expect(throws: StoreError.self) { try await store.delete(keys) }
        #expect(error?.code == .unreachable)
    }
}

extension StoreOperation {
    /// Calls the function of this name, somehow.
    fileprivate func call(_ store: any ObjectStore, _ key: ObjectKey) async throws {
        switch self {
        case .check: try await store.check()
        case .put: try await store.store([2], at: key)
        case .head: _ = try await store.head(key)
        case .get: _ = try await store.bytes(of: key)
        case .list: _ = try await store.list(prefix: "", after: nil, limit: 1)
        case .delete: try await store.delete(key)
        case .deleteMany: _ = try await store.delete([key])
        case .copy: try await store.copy(key, to: key, storageClass: .glacier, condition: .overwrite)
        case .restore: _ = try await store.restore(key, RestoreRequest(days: 1, tier: .bulk))
        case .lifecycle: _ = try await store.lifecycle()
        case .setLifecycle: try await store.setLifecycle(LifecycleConfiguration())
        case .link: _ = try await store.link(to: key, lasting: .seconds(60))
        case .uploadForm:
            _ = try await store.uploadForm(for: [key], GuestRules.upload, lasting: .seconds(60))
        case .removeLeftovers: try await store.removeLeftovers()
        case .takeBackUploads: try await store.takeBackUploads(below: "")
        }
    }
}

/// Answers to deletions of many keys by script, and is unreachable afterwards.
private final class RefusingDeletions: WrappedStore {
    private let state: Lock<(script: [[String: StoreError.Code]], asked: [[String]])>
    let base: any ObjectStore = InMemoryStore()

    init(_ script: [[String: StoreError.Code]]) {
        state = Lock((script, []))
    }

    /// The keys of each call.
    var asked: [[String]] { state.withLock { $0.asked } }

    func delete(_ keys: [ObjectKey]) async throws -> [ObjectKey: StoreError] {
        let refusals = state.withLock { state in
            state.asked.append(keys.map(\.rawValue))
            return state.script.isEmpty ? nil : state.script.removeFirst()
        }
        guard let refusals else { throw StoreError(.unreachable, operation: "delete", message: "gone") }
        return keys.reduce(into: [:]) { failures, key in
            failures[key] = refusals[key.rawValue].map {
                StoreError($0, operation: "delete", key: key.rawValue, message: "scripted by the test")
            }
        }
    }
}

/// Takes ten bytes of every put, and then loses the connection.
private struct CostlyStore: WrappedStore {
    let base: any ObjectStore

    init(_ base: any ObjectStore) { self.base = base }

    func put(
        _ body: ObjectBody, at key: ObjectKey, attributes: ObjectAttributes, condition: PutCondition
    ) async throws -> PutReceipt {
        var error = StoreError(.connectionLost, operation: "put", key: key.rawValue, message: "lost")
        error.sentBytes = 10
        throw error
    }
}
