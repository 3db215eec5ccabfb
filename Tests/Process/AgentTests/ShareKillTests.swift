import Foundation
import Glibc
import SyncCore
import SyncDigest
import SyncTestSupport
import SystemPackage
import Testing

/// kill -9 of whoever shares, and of whoever mirrors, while any of their requests is under way; then somebody goes on.
/// `SYNC_AGENT_KILL_ROUNDS` and `SYNC_AGENT_KILL_SEED` make a longer run, or the same one again.
struct ShareKillTests {
    /// Each of `share` and of `mirror`.
    private static let rounds: Int = Dice.number("SYNC_AGENT_KILL_ROUNDS") ?? 15
    private static let photos = 8
    private static let batchSize = 3

    struct Round: Sendable, CustomTestStringConvertible {
        var number: Int
        var seed: UInt64
        /// Which request does not get to its end, from 1.
        var request: Int
        var fault: Fault
        var next: String

        var testDescription: String {
            "round \(number) of seed \(seed): killed in request \(request), \(fault), then \(next)"
        }
    }

    private static func plan(_ requests: ClosedRange<Int>, _ faults: [Fault], _ next: [String]) -> [Round] {
        var dice = Dice("SYNC_AGENT_KILL_SEED")
        print("share kill tests: SYNC_AGENT_KILL_SEED=\(dice.seed) SYNC_AGENT_KILL_ROUNDS=\(rounds) repeats these")
        return (0..<rounds).map { number in
            Round(
                number: number, seed: dice.seed, request: Int.random(in: requests, using: &dice),
                fault: faults[Int.random(in: faults.indices, using: &dice)],
                next: next[Int.random(in: next.indices, using: &dice)])
        }
    }

    // A thumbnail and a photo each, then the manifest, the page, and the manifest with links.
    static let sharing = plan(
        1...2 * photos + 3,
        [.stall(.beforeBody), .stall(.duringBody(1_000)), .stall(.afterBody), .stall(.beforeReply)],
        ["share", "sync", "run"])

    @Test(
        arguments: sharing)
    func `a share that was killed is published by whoever goes on, and no photo is sent twice but what was in flight`(
        round: Round
    ) async throws {
        try await ScriptedS3Server.run { server in
            let home = try AgentHome(over: server, tiers: "")
            try await home.takeTrip(photos: Self.photos)
            let before = Set(server.keys)
            try await kill(["share", "--yes", AgentHome.trip], of: home, over: server, in: round)

            let shared = Set(server.keys).subtracting(before)
            if let manifest = shared.first(where: { $0.hasSuffix("/vacation.json") }) {
                #expect(shared.count >= 2 * Self.photos + 1, "\(manifest) is there before its photos")
            }
            switch round.next {
            case "share": #expect(try await home.share().state == "live")
            case "sync": _ = try await home.pass()
            default:
                let agent = try await home.startAgent()
                _ = try await eventually("the share") {
                    try await home.shares().allSatisfy { $0.state == "live" } ? () : nil
                }
                agent.send(SIGTERM)
                #expect(try await agent.finished().code == 0)
            }

            // Killed before it was written down, there is none.
            let share = try #require(
                try await home.shares().isEmpty ? home.share().shareId : home.shares().first?.shareId)
            #expect(try await home.shares().map(\.state) == ["live"])
            let keys = Set(server.keys).subtracting(before).filter { !$0.tellsOfMachine }
            #expect(keys.allSatisfy { $0.hasPrefix("shares/\(share)/") } && keys.count == 2 * Self.photos + 2)
            try expectSentOnce(server, share)
            let friend = try AgentHome(over: server, tiers: "")
            #expect(try await friend.mirror(share, to: "Paris").counts == [Self.photos, 0, 0, 0])
        }
    }

    private func expectSentOnce(_ server: ScriptedS3Server, _ share: String) throws {
        var again: Set<Int> = []
        for number in 0..<Self.photos {
            for name in ["\(share)_\(number).jpg", "thumbnails/\(number).jpg"] {
                let count = server.requests(.putObject, .copyObject, key: "shares/\(share)/\(name)").count
                #expect((1...2).contains(count), "\(name)")
                if count > 1 { again.insert(number) }
            }
        }
        #expect(again.count <= Self.batchSize, "\(again)")
    }

    // The manifest, and the photos.
    static let mirroring = plan(
        1...photos + 1,
        [.stall(.beforeReply), .stall(.afterReplyHead), .stall(.duringReply(1)), .stall(.duringReply(2_000))],
        ["mirror"])

    @Test(
        arguments: mirroring)
    func `a mirror that was killed goes on, fetches no photo that it had, and shows none that is not whole`(
        round: Round
    ) async throws {
        try await ScriptedS3Server.run { server in
            let (sharer, friend) = (try AgentHome(over: server, tiers: ""), try AgentHome(over: server, tiers: ""))
            try await sharer.takeTrip(photos: Self.photos)
            let share = try await sharer.share()
            let id = try #require(share.shareId)
            let reference = round.number.isMultiple(of: 2) ? id : try #require(share.link)
            let wanted = try Dictionary(
                uniqueKeysWithValues: (0..<Self.photos).map { number in
                    let bytes = try #require(server.object("shares/\(id)/\(id)_\(number).jpg")).bytes
                    return ("\(ContentDigest(of: bytes).sha256)", bytes)
                })
            try await kill(
                ["mirror", reference, friend.friendsFolder("Paris").string], of: friend, over: server, in: round)

            // What has a photo's name is that photo.
            let had = try friend.mirrored("Paris")
            #expect(try had.allSatisfy { try $1.bytes == wanted[$0] })
            server.clearRequests()
            let answer = try await friend.mirror(reference, to: "Paris")
            #expect(answer.counts == [Self.photos - had.count, had.count, 0, 0])
            #expect(try friend.mirrored("Paris").mapValues { try $0.bytes } == wanted)
            // One may have been there whole, and without its name.
            let fetched = server.requests(.getObject).compactMap(\.key).filter { $0.hasSuffix(".jpg") }
            #expect(fetched.count <= Self.photos - had.count && Set(fetched).count == fetched.count)
            let rest = try friend.mirrorFiles("Paris").filter { !$0.hasSuffix(".jpg") }
            #expect(rest == [".sync-agent-mirror.json", "vacation.json"], "nothing is left of the one that was killed")
        }
    }

    /// Starts a command, and kills it when the request of the round is stuck.
    private func kill(
        _ arguments: [String], of home: AgentHome, over server: ScriptedS3Server, in round: Round
    ) async throws {
        server.clearRequests()
        server.script(round.fault, onRequest: round.request)
        let command = try home.start(arguments)
        _ = try await eventually("a stuck request") {
            server.requests.contains { $0.fault != nil } || command.progress.value.isOver ? () : nil
        }
        command.send(SIGKILL)
        #expect(try await command.finished().ending == .signal(SIGKILL), "\(round.testDescription): it was over before")
        // Until then what it had asked for last may be noted after it.
        try await server.quiesce()
        server.clearScript()
    }
}
