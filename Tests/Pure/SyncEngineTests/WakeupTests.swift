import SyncCore
import SyncEngine
import SyncTestSupport
import Testing

@Suite struct WakeupTests {
    private let time = ManualTime()

    @Test func `a signal that came before the wait is not lost`() async {
        let wakeup = Wakeup()
        wakeup.signal()
        wakeup.signal()
        #expect(await wakeup.wait(atMost: nil, time: time.source))
        // Two signals that nobody waited for are one: the next wait ends by its timeout.
        async let second = wakeup.wait(atMost: .seconds(1), time: time.source)
        await time.waitForSleepers()
        await time.advance(by: .seconds(1))
        #expect(await !second)
        #expect(time.sleeps == [.seconds(1)])
    }

    @Test func `a signal that came before the wait leaves no sleeper, not for a moment`() async {
        let wakeup = Wakeup()
        for _ in 0..<100 {
            wakeup.signal()
            await wakeup.wait(atMost: .seconds(2), time: time.source)
        }
        #expect(time.sleeps.isEmpty)
    }

    @Test func `a wait ends with its signal`() async {
        let wakeup = Wakeup()
        async let wait = wakeup.wait(atMost: .seconds(1_000), time: time.source)
        await time.waitForSleepers()
        wakeup.signal()
        #expect(await wait)
        #expect(time.sleeps == [.seconds(1_000)])
    }

    @Test func `a cancelled wait ends`() async {
        let wakeup = Wakeup()
        let source = time.source
        let ended = await withTaskGroup(of: Bool.self) { group in
            group.addTask { await wakeup.wait(atMost: nil, time: source) }
            group.cancelAll()
            return await group.next()
        }
        #expect(ended == false)
    }
}
