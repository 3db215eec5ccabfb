import Foundation
import SyncTestSupport
import Testing

/// Thirty days of a home in seconds, with all that goes wrong in them, beside a model that knows nothing of how the agent
/// works. `SYNC_AGENT_LIFE_SEED` repeats one life, `SYNC_AGENT_LIVES` sets how many there are.
@Suite struct LifeTests {
    private static let seeds: [UInt64] = {
        let lives: UInt64? = Dice.number("SYNC_AGENT_LIVES")
        let seeds = chosenSeeds(
            of: lives, from: Dice.number("SYNC_AGENT_LIFE_SEED"), drawn: Dice("SYNC_AGENT_LIFE_SEED").seed)
        if lives != nil, let first = seeds.first {
            print("lives: SYNC_AGENT_LIVES=\(seeds.count) SYNC_AGENT_LIFE_SEED=\(first), to \(seeds.last ?? first)")
        }
        return seeds
    }()

    /// Three that stay, so that a change is judged by what it does; many are new ones each time.
    /// - Parameter first: the seed of the first one; where only that is given, it is the only one.
    private static func chosenSeeds(of lives: UInt64?, from first: UInt64?, drawn: UInt64) -> [UInt64] {
        guard let lives else { return first.map { [$0] } ?? [1, 2, 3] }
        let start = first ?? drawn
        return (0..<max(lives, 1)).map { start &+ $0 }
    }

    @Test func `three lives stay, many begin with another seed each time, and one can be had again`() {
        #expect(Self.chosenSeeds(of: nil, from: nil, drawn: 40) == [1, 2, 3])
        #expect(Self.chosenSeeds(of: 2, from: nil, drawn: 40) == [40, 41])
        #expect(Self.chosenSeeds(of: 2, from: 7, drawn: 40) == [7, 8])
        #expect(Self.chosenSeeds(of: nil, from: 7, drawn: 40) == [7])
    }

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
