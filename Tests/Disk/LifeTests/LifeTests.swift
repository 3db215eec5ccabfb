import Foundation
import SyncTestSupport
import Testing

/// Thirty days of a home in seconds, with all that goes wrong in them, beside a model that knows nothing of how the agent
/// works. `SYNC_AGENT_LIFE_SEED` repeats one life, `SYNC_AGENT_LIVES` sets how many there are.
@Suite struct LifeTests {
    private static let seeds: [UInt64] = {
        if let seed: UInt64 = Dice.number("SYNC_AGENT_LIFE_SEED") { return [seed] }
        let lives: UInt64 = Dice.number("SYNC_AGENT_LIVES") ?? 3
        return Array(1...max(lives, 1))
    }()

    @Test(arguments: seeds)
    func `whatever happens in thirty days, what is called stored is there, and all is stored when it is over`(
        seed: UInt64
    ) async throws {
        let life = try Life(seed: seed)
        let broken = try await life.run()
        #expect(broken == [], "\(Self.story(of: life))")
    }

    @Test func `a seed gives one history`() async throws {
        let lives = [try Life(seed: 7), try Life(seed: 7), try Life(seed: 8)]
        for life in lives { _ = try await life.run(days: 5) }
        #expect(lives[0].steps == lives[1].steps && lives[0].digests == lives[1].digests)
        #expect(lives[0].steps != lives[2].steps)
    }

    @Test(arguments: Life.Lie.allCases)
    func `the model finds what it is not told of`(lie: Life.Lie) async throws {
        let broken = try await Life(seed: 9).run(days: 1, endingWith: lie)
        #expect(!broken.isEmpty)
    }

    private static func story(of life: Life) -> String {
        "SYNC_AGENT_LIFE_SEED=\(life.seed)\n" + life.steps.joined(separator: "\n")
    }
}
