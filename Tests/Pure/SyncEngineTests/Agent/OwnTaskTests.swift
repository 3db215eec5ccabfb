import SyncSystem
import SyncTestSupport
import Testing

@testable import SyncEngine

@Suite struct OwnTaskTests {
    private static var task: Int? { withUnsafeCurrentTask { $0?.hashValue } }

    @Test func `work is done in another task, whose frames go with it`() async throws {
        let worker = Lock<Int?>(nil)
        try await inTaskOfItsOwn {
            let task = Self.task
            worker.withLock { $0 = task }
        }
        let (its, own) = (worker.withLock { $0 }, Self.task)
        #expect(its != nil)
        #expect(its != own)
    }

    @Test func `what ends it is thrown, and whoever cancels the one cancels the other`() async throws {
        await #expect(throws: CancellationError.self) { try await inTaskOfItsOwn { throw CancellationError() } }
        let gate = Gate()
        let isCancelled = Lock(false)
        let task = Task {
            try await inTaskOfItsOwn {
                await gate.pass()
                isCancelled.withLock { $0 = Task.isCancelled }
            }
        }
        await gate.waitForArrivals(1)
        task.cancel()
        gate.open()
        try await task.value
        #expect(isCancelled.withLock { $0 })
    }
}
