import SyncCore
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncSystem

/// Work on threads that does not end by itself.
@Suite struct PooledWorkTests {
    /// Clocks that a test moves: those of all threads at once.
    final class Clocks: Sendable {
        private let reading = Lock(StepWatch.Reading(wall: .zero, processor: .zero))

        func advance(wall: Duration, processor: Duration) {
            reading.withLock { reading in
                reading.wall += wall
                reading.processor += processor
            }
        }

        var watch: StepWatch {
            StepWatch(makeClock: { { self.reading.withLock { $0 } } })
        }
    }

    /// A thread that is busy until a test lets it go.
    struct Trap: Sendable {
        let pipe: (readEnd: FileDescriptor, writeEnd: FileDescriptor)

        init() throws { pipe = try FileDescriptor.pipe() }

        func enter() {
            withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { _ = try? pipe.readEnd.read(into: $0) }
        }

        func open() throws { try pipe.writeEnd.writeAll([0]) }
    }

    struct Entry: Sendable {
        let stream: AsyncStream<Void>
        let signal: AsyncStream<Void>.Continuation

        init() { (stream, signal) = AsyncStream<Void>.makeStream() }

        func wait(for count: Int = 1) async {
            var iterator = stream.makeAsyncIterator()
            for _ in 0..<count { _ = await iterator.next() }
        }
    }

    private func stuck(_ pool: BlockingPool, _ trap: Trap, _ entry: Entry) async throws -> Int {
        try await pool.run {
            PooledWork.step {
                entry.signal.yield()
                trap.enter()
            }
            return 1
        }
    }

    @Test
    func `a step that does not end is given up after a minute, and the pool goes on with another thread`() async throws
    {
        let (clocks, trap, entry) = (Clocks(), try Trap(), Entry())
        let watch = clocks.watch
        let pool = BlockingPool(name: "test", threads: 1, watch: watch)
        let answer = Task { try await stuck(pool, trap, entry) }
        await entry.wait()
        clocks.advance(wall: .seconds(59), processor: .seconds(59))
        watch.check()
        #expect(watch.stuck == 0)
        clocks.advance(wall: .seconds(1), processor: .seconds(1))
        watch.check()
        let error = await #expect(throws: PhotoError.self) { try await answer.value }
        #expect(error?.code == .tooSlow)
        #expect(watch.stuck == 1)
        #expect(try await pool.run { 2 } == 2)
        try trap.open()
    }

    @Test func `a shutdown does not wait for a thread that was given up`() async throws {
        let (clocks, trap, entry) = (Clocks(), try Trap(), Entry())
        let watch = clocks.watch
        let pool = BlockingPool(name: "test", threads: 2, watch: watch)
        let answer = Task { try await stuck(pool, trap, entry) }
        await entry.wait()
        #expect(try await pool.run { 2 } == 2)
        clocks.advance(wall: .seconds(60), processor: .seconds(60))
        watch.check()
        _ = await #expect(throws: PhotoError.self) { try await answer.value }
        await pool.shutDown()
        #expect(watch.stuck == 1)
        try trap.open()
    }

    @Test func `what is queued behind a thread that is given up is done, although its pool is shut down`() async throws
    {
        let (clocks, trap, entry) = (Clocks(), try Trap(), Entry())
        let watch = clocks.watch
        let pool = BlockingPool(name: "test", threads: 1, watch: watch)
        let answer = Task { try await stuck(pool, trap, entry) }
        await entry.wait()
        // Both begin here, as far as the queue.
        let queued = Task.immediate { await pool.finish { 42 } }
        let end = Task.immediate { await pool.shutDown() }
        clocks.advance(wall: .seconds(60), processor: .seconds(60))
        watch.check()
        #expect(await queued.value == 42)
        await end.value
        _ = await #expect(throws: PhotoError.self) { try await answer.value }
        try trap.open()
    }

    @Test func `a slow disk is no fault of the photo`() async throws {
        let (clocks, trap, entry) = (Clocks(), try Trap(), Entry())
        let watch = clocks.watch
        let pool = BlockingPool(name: "test", threads: 1, watch: watch)
        async let answer = stuck(pool, trap, entry)
        await entry.wait()
        clocks.advance(wall: .seconds(3_600), processor: .seconds(4))
        watch.check()
        try trap.open()
        #expect(try await answer == 1)
        #expect(watch.stuck == 0)
    }

    @Test func `waiting for a turn is no part of a step`() async throws {
        let (clocks, trap, entry) = (Clocks(), try Trap(), Entry())
        let watch = clocks.watch
        let pool = BlockingPool(name: "test", threads: 1, watch: watch)
        async let answer = pool.run {
            PooledWork.step {
                clocks.advance(wall: .seconds(59), processor: .seconds(59))
                PooledWork.restartStep()
                entry.signal.yield()
                trap.enter()
            }
            return 1
        }
        await entry.wait()
        clocks.advance(wall: .seconds(59), processor: .seconds(59))
        watch.check()
        try trap.open()
        #expect(try await answer == 1)
    }

    @Test func `cancelled work that a disk holds is given up after a while, where its pool is made for that`()
        async throws
    {
        let (trap, entry) = (try Trap(), Entry())
        let pool = BlockingPool(name: "test", threads: 1, abandoningAfter: .milliseconds(50))
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await pool.run {
                    entry.signal.yield()
                    trap.enter()
                }
            }
            await entry.wait()
            group.cancelAll()
            await #expect(throws: CancellationError.self) { try await group.waitForAll() }
        }
        #expect(try await pool.run { 2 } == 2)
        await pool.shutDown()
        try trap.open()
    }

    @Test(arguments: [true, false])
    func `cancelled work behind that of a disk is not waited for, where its pool is made for that`(
        isCancelledFirst: Bool
    ) async throws {
        let (trap, entry, starts, begun) = (try Trap(), Entry(), Entry(), Lock(false))
        let pool = BlockingPool(name: "test", threads: 2, abandoningAfter: .seconds(60)) { (name, body) throws(Errno) in
            guard name == "test-1" else {
                // What needs a second one is queued.
                starts.signal.yield()
                throw .resourceTemporarilyUnavailable
            }
            return try OwnedThread.start(name: name, body)
        }
        async let held: Void = pool.run {
            entry.signal.yield()
            trap.enter()
        }
        await entry.wait()
        let queued = Task {
            if isCancelledFirst { while !Task.isCancelled { await Task.yield() } }
            try await pool.run { begun.withLock { $0 = true } }
        }
        if !isCancelledFirst { await starts.wait() }
        queued.cancel()
        await #expect(throws: CancellationError.self) { try await queued.value }
        try trap.open()
        try await held
        // All that was queued before is over.
        #expect(try await pool.run { 2 } == 2)
        #expect(!begun.withLock { $0 })
        await pool.shutDown()
    }

    @Test func `a thread that hangs is not joined for ever`() async throws {
        let trap = try Trap()
        let thread = try OwnedThread.start(name: "hanging") { trap.enter() }
        #expect(await !thread.join(within: .milliseconds(50)))
        try trap.open()
        #expect(await thread.join(within: .seconds(60)))
    }

    @Test func `a cancelled step is given up at once`() async throws {
        let (trap, entry) = (try Trap(), Entry())
        let pool = BlockingPool(name: "test", threads: 1, watch: Clocks().watch)
        await withThrowingTaskGroup(of: Int.self) { group in
            group.addTask { try await stuck(pool, trap, entry) }
            await entry.wait()
            group.cancelAll()
            await #expect(throws: CancellationError.self) { try await group.next() }
        }
        #expect(try await pool.run { 2 } == 2)
        try trap.open()
    }

    @Test func `a long loop hears that it shall stop, however deep it lies`() async throws {
        let entry = Entry()
        let pool = BlockingPool(name: "test", threads: 1, watch: Clocks().watch)
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await pool.run {
                    entry.signal.yield()
                    while true { try PhotoError.checkStopped() }
                }
            }
            await entry.wait()
            group.cancelAll()
            // In the words of whoever waits, and not in those of the loop.
            await #expect(throws: CancellationError.self) { try await group.next() }
        }
    }

    @Test func `work whose task is cancelled ends, whether it has begun or not`() async throws {
        let entry = Entry()
        let pool = BlockingPool(name: "test", threads: 1, watch: Clocks().watch)
        let begun = Task {
            try await pool.run { () throws -> Void in
                entry.signal.yield()
                while true { try PhotoError.checkStopped() }
            }
        }
        await entry.wait()
        let queued = Task { try await pool.run { 1 } }
        queued.cancel()
        begun.cancel()
        await #expect(throws: CancellationError.self) { try await begun.value }
        await #expect(throws: CancellationError.self) { try await queued.value }
        #expect(try await pool.run { 2 } == 2)
    }

    @Test func `code that runs on no pool is never told to stop`() throws {
        #expect(!PooledWork.isCancelled)
        #expect(PooledWork.step { 3 } == 3)
    }

    @Test func `what a thread that is given up holds is let go of, once`() async throws {
        let (clocks, trap, entry, releases) = (Clocks(), try Trap(), Entry(), Countdown())
        let watch = clocks.watch
        let pool = BlockingPool(name: "test", threads: 1, watch: watch)
        let answer = Task {
            try await pool.run {
                PooledWork.step {
                    PooledWork.onGivingUp { _ = releases.fires() }
                    entry.signal.yield()
                    trap.enter()
                }
                return 1
            }
        }
        await entry.wait()
        clocks.advance(wall: .seconds(60), processor: .seconds(60))
        watch.check()
        watch.check()
        _ = await #expect(throws: PhotoError.self) { try await answer.value }
        #expect(releases.count == 1)
        try trap.open()
    }

    @Test func `of more than a few stuck threads the process has to be started anew`() async throws {
        let (clocks, trap, entry, ends) = (Clocks(), try Trap(), Entry(), Countdown())
        let watch = clocks.watch
        watch.onExhaustion { _ = ends.fires() }
        let pool = BlockingPool(name: "test", threads: StepWatch.mostStuck, watch: watch)
        await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<StepWatch.mostStuck { group.addTask { try await stuck(pool, trap, entry) } }
            await entry.wait(for: StepWatch.mostStuck)
            clocks.advance(wall: .seconds(60), processor: .seconds(60))
            watch.check()
            // Those who wait have had their answers before it ends.
            #expect(ends.count == 0)
            for _ in 0..<StepWatch.mostStuck {
                await #expect(throws: PhotoError.self) { try await group.next() }
            }
            watch.check()
            #expect(ends.count == 1)
        }
        for _ in 0..<StepWatch.mostStuck { try trap.open() }
    }
}
