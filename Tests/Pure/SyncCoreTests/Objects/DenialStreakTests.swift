import SyncCore
import Testing

@Suite struct DenialStreakTests {
    private static func error(_ code: StoreError.Code, here: Bool = false) -> StoreError {
        var error = StoreError(code, operation: "head", key: "a", message: "not given")
        error.isOfThisMachine = here
        return error
    }

    /// How many of such errors in a row are told before one ends the work; `nil` when none of `most` does.
    private func count(_ errors: [StoreError], in streak: inout DenialStreak, most: Int = 2_000) -> Int? {
        for number in 1...most {
            do {
                try streak.note(errors[number % errors.count])
            } catch {
                return number
            }
        }
        return nil
    }

    @Test(
        arguments: [
            ([error(.accessDenied)], 20), ([error(.invalidResponse)], 20), ([error(.throttled)], 20),
            // In turns: none was given all the same.
            ([error(.accessDenied), error(.serverFailed)], 20),
            ([error(.throttled), error(.archived), error(.connectionLost)], 30),
            // What is said of one object alone.
            ([error(.badDigest)], nil), ([error(.conflict)], nil), ([error(.archived)], nil),
            ([error(.accessDenied, here: true)], nil),
        ] as [([StoreError], Int?)])
    func `a store that denies twenty objects in a row and has given none gives none`(
        errors: [StoreError], expected: Int?
    ) {
        var streak = DenialStreak()
        let told = count(errors, in: &streak)
        #expect(told == expected)
    }

    @Test func `one that has given others may deny a folder of them`() {
        var streak = DenialStreak()
        streak.noteGiven()
        let folder = count([Self.error(.accessDenied)], in: &streak, most: DenialStreak.mostInRow - 1)
        streak.noteGiven()
        let all = count([Self.error(.accessDenied)], in: &streak)
        #expect(folder == nil && all == DenialStreak.mostInRow)
    }

    @Test func `one that has given others to an earlier run may deny more, and what it denied counts on`() {
        var streak = DenialStreak()
        let first = count([Self.error(.accessDenied)], in: &streak, most: DenialStreak.mostAtFirst - 1)
        streak.noteGivenBefore()
        let more = count([Self.error(.accessDenied)], in: &streak)
        #expect(first == nil && more == DenialStreak.mostInRow - DenialStreak.mostAtFirst + 1)
    }

    @Test func `the error is the store's own, and says why no more are asked for`() {
        var streak = DenialStreak()
        for _ in 1..<DenialStreak.mostAtFirst { try? streak.note(Self.error(.accessDenied)) }
        do throws(StoreError) {
            try streak.note(Self.error(.accessDenied))
            Issue.record("it goes on")
        } catch {
            #expect(error.key == nil && error.message.hasPrefix("not given; "))
            #expect(error.message.contains("20 objects in a row"))
        }
    }

    @Test func `of many problems the first thousand are named, and all are counted`() {
        var (all, more) = (ProblemList<Int>(), ProblemList<Int>())
        all.note(contentsOf: Array(0..<700))
        more.note(contentsOf: Array(700..<2_200))
        #expect(more.unnamed == 500 && !more.isEmpty)
        all.note(contentsOf: more)
        #expect(all.count == 2_200 && all.first == Array(0..<1_000) && all.unnamed == 1_200)
    }
}
