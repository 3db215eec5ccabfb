import FoundationEssentials
import SyncCore
import Testing

@Suite struct PollScheduleTests {
    private static let asked = Date(timeIntervalSince1970: 1_000_000_000)
    private static let quarter = Duration.seconds(900)

    /// The seconds after the request at which the store is asked, up to and with the first that finds the object ready.
    private func polls(_ schedule: PollSchedule, readyAfter seconds: Double) -> [Double] {
        var polls: [Double] = []
        var last: Date?
        repeat {
            let now = last ?? Self.asked
            let next = schedule.nextPoll(requestedAt: Self.asked, lastPolled: last, now: now)
            polls.append(next.timeIntervalSince(Self.asked))
            last = next
        } while (polls.last ?? .infinity) < seconds && polls.count < 10_000
        return polls
    }

    @Test func `a bulk restore of 48 hours is asked for 43 times, first after 12 hours, at last every 15 minutes`() {
        let schedule = PollSchedule(.bulk, of: .deepArchive, interval: Self.quarter)
        let polls = regular(polls(schedule, readyAfter: 48 * 3_600), by: schedule)
        #expect(polls.count == 43)
        #expect(polls.first == 43_200)
        #expect(Array(polls.suffix(2)) == [171_900, 172_800])
    }

    @Test func `before them come 17 early looks, each when the time since the request has doubled, or after two hours`()
    {
        let schedule = PollSchedule(.bulk, of: .deepArchive, interval: Self.quarter)
        let early = polls(schedule, readyAfter: 43_199).dropLast()
        #expect(Array(early.prefix(5)) == [2, 4, 8, 16, 32])
        #expect(early.count == 17)
        #expect(zip(early, early.dropFirst()).allSatisfy { $1 - $0 <= 7_200 })
    }

    /// Without the early ones, for which one object is asked of the store.
    private func regular(_ polls: [Double], by schedule: PollSchedule) -> [Double] {
        polls.filter { !schedule.isEarly(Self.asked.addingTimeInterval($0), requestedAt: Self.asked) }
    }

    @Test(
        arguments: [
            (.deepArchive, .bulk, 48, 43), (.deepArchive, .standard, 12, 15), (.glacier, .bulk, 12, 16),
            (.glacier, .standard, 5, 7), (.glacier, .expedited, 5.0 / 60, 1), (.intelligentTiering, .standard, 12, 19),
        ] as [(StorageClass, RestoreTier, Double, Int)])
    func `however long a restore takes, it is seen in time and asked for seldom`(
        storageClass: StorageClass, tier: RestoreTier, hours: Double, most: Int
    ) throws {
        let schedule = PollSchedule(tier, of: storageClass, interval: Self.quarter)
        let first = try #require(regular(polls(schedule, readyAfter: hours * 3_600), by: schedule).first)
        #expect(first <= hours * 3_600)
        for step in 0...96 {
            let ready = hours * 3_600 * Double(step) / 96
            let all = polls(schedule, readyAfter: ready)
            let polls = regular(all, by: schedule)
            #expect(polls.count <= most)
            let seen = try #require(all.last)
            #expect(seen >= ready)
            // Never longer than eight intervals, and one of them near the end.
            #expect(seen - ready <= 8 * 900)
            if ready >= hours * 3_600 * 0.95 { #expect(seen - ready <= max(900, first - ready)) }
            #expect(zip(polls, polls.dropFirst()).allSatisfy { $1 - $0 >= 900 })
        }
    }

    @Test func `what takes longer than its hours is asked for every interval`() {
        let schedule = PollSchedule(.standard, of: .deepArchive, interval: Self.quarter)
        let last = Self.asked.addingTimeInterval(100 * 3_600)
        #expect(
            schedule.nextPoll(requestedAt: Self.asked, lastPolled: last, now: last) == last.addingTimeInterval(900))
    }

    @Test func `an interval longer than the tier's hours does not keep a finished restore waiting`() {
        let schedule = PollSchedule(.expedited, of: .glacier, interval: .seconds(86_400))
        #expect(polls(schedule, readyAfter: 290) == [2, 4, 8, 16, 32, 64, 128, 256, 300])
    }

    @Test func `a store on this machine is asked when it said, and then less and less often up to the interval`() {
        let schedule = PollSchedule(expected: .seconds(5), interval: .seconds(60))
        #expect(polls(schedule, readyAfter: 5) == [5])
        let polls = polls(schedule, readyAfter: 3_600)
        #expect(polls.count < 80)
        #expect(Array(polls.prefix(2)) == [5, 6.25])
        #expect(zip(polls, polls.dropFirst()).allSatisfy { (1...60).contains($1 - $0) })
    }

    @Test func `a restore of no time is looked at once, without spinning when it is not ready`() {
        let polls = polls(PollSchedule(expected: .zero, interval: .seconds(60)), readyAfter: 10)
        #expect(polls.first == 0)
        #expect(polls.count < 12)
    }

    @Test func `a poll from before the request does not count`() {
        let schedule = PollSchedule(.standard, of: .deepArchive, interval: Self.quarter)
        let next = schedule.nextPoll(
            requestedAt: Self.asked, lastPolled: Self.asked.addingTimeInterval(-60), now: Self.asked)
        #expect(next == Self.asked.addingTimeInterval(2))
    }

    @Test func `a clock that was set back costs one poll, not a wait of years`() {
        let schedule = PollSchedule(.bulk, of: .deepArchive, interval: Self.quarter)
        let now = Self.asked.addingTimeInterval(-365 * 86_400)
        #expect(schedule.nextPoll(requestedAt: Self.asked, lastPolled: nil, now: now) == now)
        #expect(schedule.nextPoll(requestedAt: Self.asked, lastPolled: Self.asked, now: now) == now)
        #expect(
            schedule.nextPoll(requestedAt: Self.asked, lastPolled: now, now: now) == now.addingTimeInterval(900))
        let before = Self.asked.addingTimeInterval(60)
        #expect(
            schedule.nextPoll(requestedAt: Self.asked, lastPolled: before.addingTimeInterval(3_600), now: before)
                == before)
    }
}
