import SyncCore
import SystemPackage
import Testing

@testable import SyncWatch

@Suite struct PollPaceTests {
    private let pace = PollPace(shortest: .seconds(30), from: .zero)

    private func cost(_ processor: Duration, lasted: Duration = .zero) -> ScanCost {
        ScanCost(lasted: lasted, processor: processor)
    }

    @Test func `it begins with the shortest interval, and says that it may become longer`() {
        var pace = pace
        #expect(pace.words == "looked at every 30 s, less often where that takes long")
        let isDue = [pace.isDue(at: .seconds(29)), pace.isDue(at: .seconds(30))]
        #expect(isDue == [false, true])
    }

    @Test(
        arguments: [
            (.milliseconds(10), .seconds(30), "looked at every 30 s"),
            (.milliseconds(1_600), .seconds(32), "looked at every 32 s"),
            (.milliseconds(1_601), .seconds(33), "looked at every 33 s"),
            (.seconds(6), .seconds(120), "looked at every 120 s"),
            (.milliseconds(6_001), .seconds(180), "looked at every 3 min"),
            (.seconds(20), .seconds(420), "looked at every 7 min"),
            (.seconds(10_000), .seconds(3_600), "looked at every 60 min"),
        ] as [(Duration, Duration, String)])
    func `the pause is twenty times what the processor did, an hour at most`(
        processor: Duration, interval: Duration, words: String
    ) {
        var pace = pace
        pace.begin(["/a"], spent: .zero, at: .seconds(30))
        pace.noteScan(of: "/a", cost(processor, lasted: .seconds(5)), endedAt: .seconds(40))
        #expect(pace.interval == interval)
        #expect(pace.words == words)
        #expect(pace.nextPoll == .seconds(40) + interval)
    }

    @Test func `what all scans of a poll took counts, and what it took to ask for them`() {
        var pace = pace
        pace.begin(["/a/b", "/a/c"], spent: .seconds(1), at: .seconds(30))
        pace.noteScan(of: "/a/b", cost(.seconds(2)), endedAt: .seconds(40))
        // Another one, that nobody has asked for.
        pace.noteScan(of: "/a/d", cost(.seconds(100)), endedAt: .seconds(45))
        #expect(pace.interval == .seconds(30))
        pace.noteScan(of: "/a/c", cost(.seconds(3)), endedAt: .seconds(50))
        #expect(pace.interval == .seconds(120))
        // The next one was quick.
        pace.begin(["/a/b"], spent: .zero, at: .seconds(200))
        pace.noteScan(of: "/a", cost(.milliseconds(1)), endedAt: .seconds(201))
        #expect(pace.interval == .seconds(30))
    }

    @Test func `nothing is polled while a scan is to come, and a scan that began before is none`() {
        var pace = pace
        pace.begin(["/a"], spent: .zero, at: .seconds(30))
        let isDue = [pace.isDue(at: .seconds(60)), pace.isDue(at: .seconds(1_000))]
        #expect(isDue == [false, false])
        #expect(pace.nextPoll == .seconds(1_030))
        pace.noteScan(of: "/a", cost(.seconds(900), lasted: .seconds(990)), endedAt: .seconds(1_010))
        #expect(pace.interval == .seconds(30))
        pace.noteScan(of: "/a", cost(.seconds(2), lasted: .seconds(2)), endedAt: .seconds(1_020))
        #expect(pace.nextPoll == .seconds(1_060))
    }

    @Test func `what is gone is waited for no longer, with all below it`() {
        var pace = pace
        pace.begin(["/a/b/c", "/a/b/d", "/a/e"], spent: .zero, at: .seconds(30))
        pace.forget("/a/b", at: .seconds(31))
        pace.forget("/a/x", at: .seconds(32))
        #expect(pace.nextPoll == .seconds(60))
        pace.noteScan(of: "/a/e", cost(.seconds(3)), endedAt: .seconds(40))
        #expect(pace.nextPoll == .seconds(100))
        pace.begin(["/a/e"], spent: .zero, at: .seconds(100))
        pace.forget("/a/e", at: .seconds(101))
        let isDue = [pace.isDue(at: .seconds(130)), pace.isDue(at: .seconds(131))]
        #expect(isDue == [false, true])
    }

    @Test func `scans that never come are given up after an hour, and who is in a hurry waits for none`() {
        var (pace, other) = (pace, pace)
        pace.begin(["/a"], spent: .zero, at: .seconds(30))
        let isDue = [pace.isDue(at: .seconds(3_629)), pace.isDue(at: .seconds(3_659))]
        #expect(isDue == [false, true])
        other.begin(["/a"], spent: .zero, at: .seconds(30))
        other.pollNow(at: .seconds(40))
        let isOtherDue = other.isDue(at: .seconds(40))
        #expect(isOtherDue)
    }
}
