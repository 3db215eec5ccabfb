import Foundation
import Glibc
import SyncTestSupport
import SystemPackage
import Testing

/// kill -9 at any moment, then another start: nothing is lost, and nothing is sent twice.
struct KillTests {
    /// `SYNC_AGENT_KILL_ROUNDS` and `SYNC_AGENT_KILL_SEED` make a longer run, or the same one again.
    private static let rounds: Int = Dice.number("SYNC_AGENT_KILL_ROUNDS") ?? 12
    private static let seed: UInt64 = Dice.number("SYNC_AGENT_KILL_SEED") ?? UInt64.random(in: 1...1_000_000)

    /// What a round does. It is the description of a failed one.
    struct Round: Sendable, CustomStringConvertible {
        var number: Int
        var seed: UInt64
        /// The kill comes when so many photos are stored; before there is a ledger when it is `nil`.
        var storedBefore: Int?
        /// Whether the agent watches while the photos are dropped, or finds them when it starts.
        var watches: Bool
        var restart: String

        var description: String {
            "round \(number) of seed \(seed): \(watches ? "dropped" : "found") photos, killed after "
                + "\(storedBefore.map { "\($0) stored" } ?? "the start"), then \(restart)"
        }
    }

    private static let photos = 15
    /// Of them, how many have the bytes of another.
    private static let twins = 3
    private static let batchSize = 3

    static let plan: [Round] = {
        print("kill tests: SYNC_AGENT_KILL_SEED=\(seed) SYNC_AGENT_KILL_ROUNDS=\(rounds) repeats these rounds")
        var dice = Dice(seed: seed)
        return (0..<rounds).map { number in
            let progress = Int.random(in: -1..<photos - twins, using: &dice)
            return Round(
                number: number, seed: seed, storedBefore: progress < 0 ? nil : progress,
                watches: progress >= 0 && Bool.random(using: &dice),
                restart: Bool.random(using: &dice) ? "run" : "sync")
        }
    }()

    @Test(arguments: plan)
    func `a killed agent loses no photo and sends none twice`(round: Round) async throws {
        let home = try AgentHome()
        let photos = (0..<Self.photos).map { home.gallery.pushing(FilePath("roll \($0 / 5)/\($0).jpg")) }
        func drop() throws {
            for (number, photo) in photos.enumerated() {
                try photo.create(SamplePhoto.unique(number % (Self.photos - Self.twins)))
            }
        }

        if !round.watches { try drop() }
        let killed = try home.start(["run"])
        if round.watches {
            try await killed.logged { $0.contains("watching 3 folders") }
            try drop()
        }
        if let count = round.storedBefore { try await killed.stored(atLeast: count) }
        killed.send(SIGKILL)
        #expect(try await killed.finished().ending == .signal(SIGKILL))
        let sentBefore = try home.store.objects().count
        #expect(killed.outcomes.count { $0.kind == .stored } <= sentBefore, "\(round)")

        let sentAfter: Int
        if round.restart == "run" {
            let agent = try await home.startAgent()
            _ = try await home.photos(at: home.gallery) {
                $0.count == Self.photos && $0.allSatisfy { $0.state == "uploaded" }
            }
            agent.send(SIGTERM)
            #expect(try await agent.finished().code == 0)
            sentAfter = agent.outcomes.count { $0.kind == .stored }
        } else {
            sentAfter = try await home.pass().uploaded
        }

        let entries = try await home.photos(at: home.gallery)
        #expect(Set(entries.map(\.path)) == Set(photos.map(\.string)))
        #expect(entries.allSatisfy { $0.state == "uploaded" })
        let objects = try home.store.objects()
        #expect(Set(objects.map(\.key)) == Set(entries.compactMap(\.key)))
        #expect(objects.count == Self.photos - Self.twins)
        #expect(try home.store.isSound())
        #expect(sentBefore + sentAfter == objects.count, "\(sentBefore) sent, then \(sentAfter) more: \(round)")
        try await expectNoLeftovers(home, objects: objects.count)
    }

    /// A put that was cut off leaves at most what it had in hand, and the store removes that in time.
    private func expectNoLeftovers(_ home: AgentHome, objects: Int) async throws {
        #expect(try home.store.contents().count <= objects + Self.batchSize)
        for file in try home.store.staged() { try file.age(bySeconds: 2 * 3_600) }
        let answer = try await home.pass()
        #expect(answer.uploaded == 0 && answer.alreadyStored == 0)
        #expect(try home.store.staged() == [])
        #expect(try home.store.contents().count == objects)
    }
}
