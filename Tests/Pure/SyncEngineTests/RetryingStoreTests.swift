import SyncCore
import SyncEngine
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
        "what will not pass is told at once",
        arguments: [StoreError.Code.accessDenied, .notFound, .archived, .noSpace])
    func final(code: StoreError.Code) async throws {
        let bench = try Bench(faults: [StoreFault(.head, .failBefore(code))])
        let error = try await #require(throws: StoreError.self) { try await self.store(bench).head(try ObjectKey("a")) }
        #expect(error.code == code)
        #expect(bench.store.count(.head) == 1)
    }

    @Test func `reads are not repeated behind the back of their sink`() async throws {
        let bench = try Bench(faults: [StoreFault(.get, .failBefore(.connectionLost))])
        await #expect(throws: StoreError.self) { try await self.store(bench).bytes(of: try ObjectKey("a")) }
        #expect(bench.store.count(.get) == 1)
    }
}
