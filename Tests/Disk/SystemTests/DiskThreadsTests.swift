import Glibc
import SyncTestSupport
import Testing

@testable import SyncSystem

@Suite struct DiskThreadsTests {
    private struct Disk: Hashable, Identifiable, Sendable {
        let id: Int
    }

    @Test func `a disk is slow when a thread has been at it for long, however long that was awaited`() async throws {
        let (now, readers) = (Lock(Duration.zero), Lock<[pthread_t]>([]))
        let (trap, entry) = (try PooledWorkTests.Trap(), PooledWorkTests.Entry())
        let threads = DiskThreads<Disk> {
            readers.withLock { $0.append(pthread_self()) }
            return now.withLock { $0 }
        }
        let pool = BlockingPool(name: "test", threads: 1, watch: StepWatch())
        async let worker = threads.run(at: Disk(id: 1), on: pool) {
            let worker = pthread_self()
            entry.signal.yield()
            trap.enter()
            return worker
        }
        await entry.wait()
        // It is asked for when the thread begins, and not when the work is handed in.
        let first = readers.withLock { $0 }
        now.withLock { $0 = .seconds(9) }
        #expect(threads.disksBesideSlow(for: .seconds(10)) == nil)
        now.withLock { $0 = .seconds(10) }
        #expect(threads.disksBesideSlow(for: .seconds(10)) == [Disk(id: 1)])
        try trap.open()
        #expect(try await first == [worker])
        #expect(threads.disksBesideSlow(for: .zero) == nil)
        await pool.shutDown()
    }

    @Test func `nothing is begun at a disk that holds a thread until that is back`() async throws {
        let (clocks, returned) = (PooledWorkTests.Clocks(), Countdown())
        let (trap, entry) = (try PooledWorkTests.Trap(), PooledWorkTests.Entry())
        let watch = clocks.watch
        let threads = DiskThreads<Disk>()
        let pool = BlockingPool(name: "test", threads: 1, watch: watch)
        let held = Task {
            try await threads.run(at: Disk(id: 1), on: pool, onReturn: { _ = returned.fires() }) {
                entry.signal.yield()
                trap.enter()
            }
        }
        await entry.wait()
        let queued = Task { try await threads.run(at: Disk(id: 1), on: pool) { 1 } }
        for _ in 0..<Int(SignOfLife.patience / .seconds(1)) {
            clocks.advance(wall: .seconds(1), processor: .zero)
            watch.check()
        }
        await #expect(throws: NoSignOfLife.self) { try await held.value }
        await #expect(throws: NoSignOfLife.self) { try await queued.value }
        #expect(threads.held == [Disk(id: 1)] && threads.disksBesideSlow(for: .zero) == nil)
        await #expect(throws: NoSignOfLife.self) { try await threads.run(at: Disk(id: 1), on: pool) { 2 } }
        #expect(try await threads.run(at: Disk(id: 2), on: pool) { 3 } == 3)
        #expect(returned.count == 0)
        try trap.open()
        try await eventually("its return") { returned.count == 1 ? () : nil }
        #expect(threads.held.isEmpty)
        #expect(try await threads.run(at: Disk(id: 1), on: pool) { 4 } == 4)
        await pool.shutDown()
    }

    @Test func `what is let go of holds up nobody, and at a disk that holds a thread waits for that one`() async throws
    {
        let (clocks, released) = (PooledWorkTests.Clocks(), Lock<[Int]>([]))
        let (trap, entry) = (try PooledWorkTests.Trap(), PooledWorkTests.Entry())
        let watch = clocks.watch
        let threads = DiskThreads<Disk>()
        let pool = BlockingPool(name: "test", threads: 1, watch: watch)
        threads.letGo(at: Disk(id: 1), on: pool) {
            entry.signal.yield()
            trap.enter()
            released.withLock { $0.append(1) }
        }
        await entry.wait()
        // Behind that one, and of the same disk.
        threads.letGo(at: Disk(id: 1), on: pool) { released.withLock { $0.append(2) } }
        for _ in 0..<Int(SignOfLife.patience / .seconds(1)) {
            clocks.advance(wall: .seconds(1), processor: .zero)
            watch.check()
        }
        #expect(threads.held == [Disk(id: 1)])
        threads.letGo(at: Disk(id: 2), on: pool) { released.withLock { $0.append(3) } }
        threads.letGo(at: Disk(id: 1), on: pool) { released.withLock { $0.append(4) } }
        // Whatever was handed in before has had its turn.
        #expect(try await threads.run(at: Disk(id: 2), on: pool) { 5 } == 5)
        #expect(released.withLock { $0 } == [3])
        try trap.open()
        try await eventually("its return") { threads.held.isEmpty ? () : nil }
        #expect(released.withLock { $0.prefix(2) } == [3, 1])
        #expect(released.withLock { $0.sorted() } == [1, 2, 3, 4])
        await pool.shutDown()
    }
}
