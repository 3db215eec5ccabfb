import SyncTestSupport
import Testing

@testable import SyncSystem

/// Work at disks that hang.
extension PooledWorkTests {
    /// Looks each second for so many, at which no thread uses the processor.
    private func check(_ watch: StepWatch, _ clocks: Clocks, seconds: Int) {
        for _ in 0..<seconds {
            clocks.advance(wall: .seconds(1), processor: .zero)
            watch.check()
        }
    }

    @Test func `work at a disk that gives no sign of life is given up, and others have its thread's place`()
        async throws
    {
        let (clocks, trap, entry, told) = (Clocks(), try Trap(), Entry(), Countdown())
        let watch = clocks.watch
        let pool = BlockingPool(name: "test", threads: 1, watch: watch)
        let answer = Task {
            try await pool.run(givingUpAfter: .seconds(10), onSilence: { _ = told.fires() }) {
                entry.signal.yield()
                trap.enter()
                _ = PooledWork.isCancelled
                entry.signal.yield()
                trap.enter()
            }
        }
        await entry.wait()
        check(watch, clocks, seconds: 9)
        try trap.open()
        await entry.wait()
        // It has given a sign meanwhile.
        check(watch, clocks, seconds: 10)
        #expect(told.count == 0)
        check(watch, clocks, seconds: 1)
        await #expect(throws: NoSignOfLife.self) { try await answer.value }
        #expect(told.count == 1)
        #expect(watch.stuck == 0)
        #expect(try await pool.run { 2 } == 2)
        await pool.shutDown()
        try trap.open()
    }

    @Test func `work that was given up finds that it shall stop when its disk answers`() async throws {
        let (clocks, trap, entry, isStopped) = (Clocks(), try Trap(), Entry(), Lock(false))
        let watch = clocks.watch
        let pool = BlockingPool(name: "test", threads: 1, watch: watch)
        let answer = Task {
            try await pool.run(givingUpAfter: .seconds(10), onSilence: {}) {
                entry.signal.yield()
                trap.enter()
                isStopped.withLock { $0 = PooledWork.isCancelled }
                entry.signal.yield()
            }
        }
        await entry.wait()
        check(watch, clocks, seconds: 10)
        await #expect(throws: NoSignOfLife.self) { try await answer.value }
        try trap.open()
        await entry.wait()
        #expect(isStopped.withLock { $0 })
        await pool.shutDown()
    }

    @Test func `who waits elsewhere, or uses the processor, is held by no disk`() async throws {
        let (clocks, trap, entry) = (Clocks(), try Trap(), Entry())
        let watch = clocks.watch
        let pool = BlockingPool(name: "test", threads: 1, watch: watch)
        async let answer = pool.run(givingUpAfter: .seconds(10), onSilence: {}) {
            PooledWork.elsewhere {
                entry.signal.yield()
                trap.enter()
            }
            entry.signal.yield()
            trap.enter()
            return 1
        }
        await entry.wait()
        check(watch, clocks, seconds: 60)
        try trap.open()
        await entry.wait()
        for _ in 0..<60 {
            clocks.advance(wall: .seconds(1), processor: .milliseconds(1))
            watch.check()
        }
        try trap.open()
        #expect(try await answer == 1)
    }

    @Test func `a process that was stopped for a while has lost no disk`() async throws {
        let (clocks, trap, entry) = (Clocks(), try Trap(), Entry())
        let watch = clocks.watch
        let pool = BlockingPool(name: "test", threads: 1, watch: watch)
        async let answer = pool.run(givingUpAfter: .seconds(10), onSilence: {}) {
            entry.signal.yield()
            trap.enter()
            return 1
        }
        await entry.wait()
        clocks.advance(wall: .seconds(3_600), processor: .zero)
        watch.check()
        try trap.open()
        #expect(try await answer == 1)
    }

    @Test func `a quiet thread lends its place, and its caller waits for it`() async throws {
        let (clocks, trap, entry) = (Clocks(), try Trap(), Entry())
        let watch = clocks.watch
        let pool = BlockingPool(name: "lending", threads: 2, watch: watch, lendingAfter: .seconds(10))
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 1...2 {
                group.addTask {
                    try await pool.run {
                        entry.signal.yield()
                        trap.enter()
                        return 1
                    }
                }
            }
            await entry.wait(for: 2)
            check(watch, clocks, seconds: 10)
            for _ in 1...4 { #expect(try await pool.run { 2 } == 2) }
            for _ in 1...2 { try trap.open() }
            let sum = try await group.reduce(0, +)
            #expect(sum == 2)
        }
        #expect(ThreadNames.now { $0.hasPrefix("lending") }.count <= 4)
        #expect(try await pool.run { 3 } == 3)
        await pool.shutDown()
        try await eventually("the end of the threads") {
            ThreadNames.now { $0.hasPrefix("lending") }.isEmpty ? () : nil
        }
    }

    @Test func `a thread that a disk holds for ever is not looked at for ever`() async throws {
        let (clocks, trap, entry) = (Clocks(), try Trap(), Entry())
        let watch = clocks.watch
        let pool = BlockingPool(name: "test", threads: 1, watch: watch, lendingAfter: .seconds(10))
        async let answer = pool.run {
            entry.signal.yield()
            trap.enter()
            return 1
        }
        await entry.wait()
        #expect(!watch.isIdle)
        check(watch, clocks, seconds: 10)
        #expect(watch.isIdle)
        try trap.open()
        #expect(try await answer == 1)
        await pool.shutDown()
    }
}
