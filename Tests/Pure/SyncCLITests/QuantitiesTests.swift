import FoundationEssentials
import Testing

@testable import SyncCLI

@Suite struct QuantitiesTests {
    @Test(
        arguments: [
            (0, "0 B"), (1_023, "1023 B"), (1_024, "1.0 KiB"), (10_188, "9.9 KiB"), (10_240, "10 KiB"),
            (1_048_064, "1.0 MiB"), (4_861_192, "4.6 MiB"), (1 << 40, "1.0 TiB"),
        ] as [(Int64, String)])
    func `bytes have a binary unit, and one decimal below ten`(count: Int64, text: String) {
        #expect(Quantities.bytes(count) == text)
    }

    @Test(
        arguments: [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567"), (-1_000, "-1,000")])
    func `numbers are grouped by thousands`(number: Int, text: String) {
        #expect(Quantities.count(number) == text)
    }

    @Test(arguments: [(0, "0 photos"), (1, "1 photo"), (2, "2 photos")])
    func `one is singular`(number: Int, text: String) {
        #expect(Quantities.counted(number, "photo") == text)
    }

    @Test(
        arguments: [
            (0, "0 s"), (59, "59 s"), (60, "1 min"), (3_599, "59 min"), (3_600, "1 h"), (7_500, "2 h 5 min"),
            (86_400, "1 day"), (200_000, "2 days"),
        ])
    func `spans are rounded to what a person plans with`(seconds: Int, text: String) {
        #expect(Quantities.span(.seconds(seconds)) == text)
    }

    @Test func `what lies less than a second back is just now`() {
        let now = Date(timeIntervalSince1970: 1_000)
        #expect(Quantities.ago(now.addingTimeInterval(-0.4), now: now) == "just now")
        #expect(Quantities.ago(now.addingTimeInterval(-90), now: now) == "1 min ago")
    }

    @Test func `what is still to come has no age, but for the few minutes that clocks differ by`() {
        let now = Date(timeIntervalSince1970: 1_780_000_000)
        #expect(Quantities.ago(now.addingTimeInterval(200), now: now) == "just now")
        let later = now.addingTimeInterval(365 * 86_400)
        let words = "\(Quantities.time(later)), later than the clock of this machine"
        #expect(Quantities.ago(later, now: now) == words)
        #expect(Quantities.lasting(since: later, now: now) == "since \(words)")
        #expect(Quantities.lasting(since: now.addingTimeInterval(-180), now: now) == "for 3 min")
    }
}
