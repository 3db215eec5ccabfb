import FoundationEssentials
import SyncCore
import SyncLedger
import SyncSystem
import SystemPackage
import Testing

@Suite struct LedgerQueueTests {
    private let queue: LedgerQueue

    init() throws { queue = LedgerQueue(try Ledger.inMemory()) }

    @Test func `a call runs on a thread of the ledger's own, and on none that reads photos or awaits`() async throws {
        let name = try await queue { _ in try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8) }
        #expect(name.hasPrefix("ledger-"))
    }

    @Test func `what nobody waits for is done on the same threads, before the ledger is closed`() async throws {
        let thread = Lock("")
        queue.add { _ in
            let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
            thread.withLock { $0 = name ?? "unknown" }
        }
        try await queue.close()
        #expect(thread.withLock { $0 }.hasPrefix("ledger-"))
    }

    @Test func `who waits for another process holds up no second call`() async throws {
        let (calls, call) = AsyncStream<Void>.makeStream()
        let gate = try FileDescriptor.pipe()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await queue { _ in
                    call.yield()
                    try withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) {
                        _ = try gate.readEnd.read(into: $0)
                    }
                }
            }
            for await _ in calls { break }
            #expect(try await queue { try $0.sharer() } == nil)
            try gate.writeEnd.writeAll([1])
            try await group.waitForAll()
        }
        try gate.readEnd.close()
        try gate.writeEnd.close()
    }

    @Test func `what has happened is noted although its task was cancelled`() async throws {
        let sharer = await withTaskGroup(of: String?.self) { group in
            group.addTask {
                withUnsafeCurrentTask { $0?.cancel() }
                await #expect(throws: CancellationError.self) { try await queue { try $0.rememberSharer("Ana") } }
                do {
                    try await queue.finish { try $0.rememberSharer("Eva") }
                    return try queue.ledger.sharer()
                } catch {
                    return "\(error)"
                }
            }
            return await group.next() ?? nil
        }
        #expect(sharer == "Eva")
    }
}
