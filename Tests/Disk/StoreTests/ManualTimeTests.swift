import FoundationEssentials
import SyncCore
import SyncTestSupport
import Testing

@Suite
struct ManualTimeTests {
    @Test func `sleepers wake in the order of their deadlines, and see the clock at them`() async throws {
        let time = ManualTime()
        let start = time.now
        let woken = try await withThrowingTaskGroup(of: (Int, Double).self) { group in
            for seconds in [30, 10, 20] {
                group.addTask {
                    try await time.source.sleep(.seconds(seconds))
                    return (seconds, time.now.timeIntervalSince(start))
                }
            }
            await time.waitForSleepers(3)
            await time.advance(by: .seconds(9))
            #expect(time.now.timeIntervalSince(start) == 9)
            await time.advance(by: .seconds(1))
            var woken = [try #require(try await group.next()?.0)]
            await time.advance(by: .seconds(60))
            for try await (seconds, _) in group { woken.append(seconds) }
            return woken
        }
        #expect(woken.first == 10)
        #expect(Set(woken) == [10, 20, 30])
        #expect(time.source.monotonic() == .seconds(70))
        #expect(Set(time.sleeps) == [.seconds(10), .seconds(20), .seconds(30)])
    }

    @Test func `a cancelled sleeper wakes at once, and the clock goes on without it`() async {
        let time = ManualTime()
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await time.source.sleep(.seconds(10)) }
            await time.waitForSleepers()
            group.cancelAll()
            await #expect(throws: CancellationError.self) { try await group.waitForAll() }
        }
        await time.advance(by: .seconds(20))
        #expect(time.source.monotonic() == .seconds(20))
    }

    @Test func `a shorter sleep is not taken for the one that is waited for, and the clock goes on for it`() async {
        let time = ManualTime()
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for seconds in [1, 2, 60] { try await time.source.sleep(.seconds(seconds)) }
            }
            await time.waitForSleeper(ofAtLeast: .seconds(60))
            #expect(time.sleeps == [.seconds(1), .seconds(2), .seconds(60)])
            #expect(time.source.monotonic() == .seconds(3))
            group.cancelAll()
            await #expect(throws: CancellationError.self) { try await group.waitForAll() }
        }
    }

    @Test func `a task that was cancelled before does not sleep`() async {
        let time = ManualTime()
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                withUnsafeCurrentTask { $0?.cancel() }
                try await time.source.sleep(.seconds(10))
            }
            await #expect(throws: CancellationError.self) { try await group.waitForAll() }
        }
        #expect(time.source.random() == 0.5)
    }
}
