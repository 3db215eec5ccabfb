import SyncCore
import Testing

@testable import SyncEngine

@Suite struct DayChoiceTests {
    private let keys: [ObjectKey]

    init() throws { keys = try (0..<5_000).map { try ObjectKey("users/ana/photos/\($0).dat") } }

    @Test(
        arguments: [(1, 100), (10, 10), (25, 4), (30, 4), (0.5, 200), (100, 1), (99.9, 2)] as [(Double, Int)])
    func `all have had their turn after so many days, and nearly as many on each`(percent: Double, days: Int) {
        for start in [0, 20_781] {
            var left = Set(keys)
            for day in start..<(start + days) {
                let chosen = keys.filter(DayChoice(percent: percent, day: day).contains)
                let wanted = Double(keys.count) * percent / 100
                #expect(abs(Double(chosen.count) - wanted) <= 5 * wanted.squareRoot())
                left.subtract(chosen)
            }
            #expect(left.isEmpty)
        }
    }

    @Test func `within one round nobody has a second turn`() {
        var seen: Set<ObjectKey> = []
        for day in 20_000..<20_100 {
            for key in keys where DayChoice(percent: 1, day: day).contains(key) { #expect(seen.insert(key).inserted) }
        }
    }

    @Test func `of nothing nobody has a turn`() {
        #expect(!keys.contains { DayChoice(percent: 0, day: 20_781).contains($0) })
    }
}
