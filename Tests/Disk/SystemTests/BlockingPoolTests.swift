import FoundationEssentials
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncSystem

@Suite
struct BlockingPoolTests {
    private struct Refusal: Error {}

    @Test func `work gives its value or its error back`() async throws {
        let pool = BlockingPool(name: "test", threads: 2)
        #expect(try await pool.run { 42 } == 42)
        await #expect(throws: Refusal.self) { try await pool.run { throw Refusal() } }
    }

    @Test(arguments: [1, 3])
    func `as many pieces of work run at once as there are threads, the rest in order`(threads: Int) async throws {
        let pool = BlockingPool(name: "test", threads: threads)
        let barrier = try FileDescriptor.pipe()
        let (started, signal) = AsyncStream<Int>.makeStream()
        let results = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<10 {
                group.addTask {
                    try await pool.run {
                        signal.yield(number)
                        try withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) {
                            _ = try barrier.readEnd.read(into: $0)
                        }
                        return number
                    }
                }
            }
            // So many begin although none of them has ended.
            var beginnings = started.makeAsyncIterator()
            for _ in 0..<threads { #expect(await beginnings.next() != nil) }
            try barrier.writeEnd.writeAll([UInt8](repeating: 1, count: 10))
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(results == Set(0..<10))
        try barrier.readEnd.close()
        try barrier.writeEnd.close()
    }

    @Test func `work of a cancelled task does not begin`() async throws {
        let pool = BlockingPool(name: "test", threads: 1)
        let work = Countdown()
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                withUnsafeCurrentTask { $0?.cancel() }
                try await pool.run { _ = work.fires() }
            }
            await #expect(throws: CancellationError.self) { try await group.waitForAll() }
        }
        #expect(work.count == 0)
    }

    @Test func `the threads carry the pool's name`() async throws {
        let pool = BlockingPool(name: "local-store", threads: 1)
        let name = try await pool.run { try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8) }
        #expect(name == "local-store-1\n")
    }

    @Test func `what was handed in before the pool went away is still done`() async throws {
        var values: [Int] = []
        for number in 0..<20 { values.append(try await BlockingPool(name: "short", threads: 1).run { number }) }
        #expect(values == Array(0..<20))
    }

    @Test func `a pool starts a thread when there is work for it, and none before`() async throws {
        let starts = Countdown()
        let pool = BlockingPool(name: "test", threads: 4) { (name, body) throws(Errno) in
            _ = starts.fires()
            return try OwnedThread.start(name: name, body)
        }
        #expect(starts.count == 0)
        #expect(try await pool.run { 1 } == 1)
        #expect(starts.count == 1)
        await pool.shutDown()
    }

    @Test
    func `after a shutdown all that was handed in is done, and no thread of the pool or its siblings is left`()
        async throws
    {
        let pool = BlockingPool(name: "ending", threads: 3)
        let sibling = pool.sibling(name: "ending-too", threads: 1)
        let work = Countdown()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { await pool.finish { _ = work.fires() } } }
            group.addTask { await sibling.finish { _ = work.fires() } }
        }
        #expect(!ThreadNames.now { $0.hasPrefix("ending") }.isEmpty)
        await pool.shutDown()
        #expect(work.count == 21)
        try await eventually("the end of the threads") { ThreadNames.now { $0.hasPrefix("ending") }.isEmpty ? () : nil }
    }

    @Test func `how many threads there may be is asked with the first work, and once`() async throws {
        let asked = Lock(0)
        let count: @Sendable () -> Int = {
            asked.withLock { $0 += 1 }
            return 2
        }
        let pool = BlockingPool(name: "test", threads: count)
        #expect(asked.withLock { $0 } == 0)
        for number in 0..<3 { #expect(try await pool.run { number } == number) }
        #expect(asked.withLock { $0 } == 1)
    }

    @Test func `a pool may be shut down twice, and what comes later is done where it is handed in`() async throws {
        let pool = BlockingPool(name: "twice", threads: 1)
        #expect(try await pool.run { 1 } == 1)
        async let first: Void = pool.shutDown()
        async let second: Void = pool.shutDown()
        _ = await (first, second)
        let name = try await pool.run { try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8) }
        #expect(!name.hasPrefix("twice"))
        await pool.shutDown()
    }

    @Test func `what is queued when a pool is shut down is still done`() async throws {
        let pool = BlockingPool(name: "test", threads: 1)
        let barrier = try FileDescriptor.pipe()
        // Each begins here, as far as the queue.
        let blocked = Task.immediate {
            await pool.finish {
                withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { _ = try? barrier.readEnd.read(into: $0) }
            }
        }
        let queued = Task.immediate { await pool.finish { 42 } }
        let isDone = Lock(false)
        pool.add { isDone.withLock { $0 = true } }
        let end = Task.immediate { await pool.shutDown() }
        try barrier.writeEnd.writeAll([0])
        await blocked.value
        #expect(await queued.value == 42)
        await end.value
        #expect(isDone.withLock { $0 })
        try barrier.readEnd.close()
        try barrier.writeEnd.close()
    }

    @Test func `where the system gives no thread, work is done where it is handed in, until there is one again`()
        async throws
    {
        let isFull = Lock(true)
        let pool = BlockingPool(name: "test", threads: 2) { (name, body) throws(Errno) in
            if isFull.withLock({ $0 }) { throw .resourceTemporarilyUnavailable }
            return try OwnedThread.start(name: name, body)
        }
        #expect(try await pool.run { 42 } == 42)
        await #expect(throws: Refusal.self) { try await pool.run { throw Refusal() } }
        #expect(await pool.finish { 7 } == 7)
        isFull.withLock { $0 = false }
        let name = try await pool.run { try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8) }
        #expect(name.hasPrefix("test-"))
    }

    @Test func `a thread without work ends, and the next work has a new one`() async throws {
        let starts = Countdown()
        let pool = BlockingPool(name: "resting", threads: 3, patience: .milliseconds(20)) {
            (name, body) throws(Errno) in
            _ = starts.fires()
            return try OwnedThread.start(name: name, body)
        }
        for round in 1...2 {
            #expect(try await pool.run { 42 } == 42)
            try await eventually("the end of the threads") {
                ThreadNames.now { $0.hasPrefix("resting") }.isEmpty ? () : nil
            }
            #expect(starts.count == round)
        }
        await pool.shutDown()
    }

    @Test func `work of threads without patience is all done`() async throws {
        let pool = BlockingPool(name: "hasty", threads: 2, patience: .zero) { (name, body) throws(Errno) in
            try OwnedThread.start(name: name, body)
        }
        let sum = await withTaskGroup(of: Int.self) { group in
            for number in 0..<1_000 { group.addTask { await pool.finish { number } } }
            return await group.reduce(0, +)
        }
        #expect(sum == 499_500)
        await pool.shutDown()
    }

    @Test func `when no thread works any more, what was told of is let go`() async throws {
        // In a process of its own: other suites' pools work meanwhile.
        await #expect(processExitsWith: .success) {
            let calls = Countdown()
            let cache = IdleMemory.addCache { _ = calls.fires() }
            // A look that comes again and again is no work.
            let glances = BlockingPool(ofGlances: "glances", patience: .milliseconds(20))
            #expect(try await glances.run { 42 } == 42)
            try await eventually("the end of the thread") {
                ThreadNames.now { $0.hasPrefix("glances") }.isEmpty ? () : nil
            }
            #expect(calls.count == 0)
            await glances.shutDown()
            let pool = BlockingPool(name: "test", threads: 1, patience: .milliseconds(20)) {
                (name, body) throws(Errno) in
                try OwnedThread.start(name: name, body)
            }
            #expect(try await pool.run { 42 } == 42)
            try await eventually("the release") { calls.count == 1 ? () : nil }
            IdleMemory.removeCache(cache)
            // The program's pages are there when they are needed.
            #expect(try await pool.run { "as before".count } == 9)
            await pool.shutDown()
        }
    }
}
