import Foundation
import Glibc
import SyncTestSupport
import SystemPackage
import Testing

/// kill -9 of `profiles merge` while any of its requests is under way; then it is run again, or `profiles migrate` is.
/// `SYNC_AGENT_KILL_ROUNDS` and `SYNC_AGENT_KILL_SEED` make a longer run, or the same one again.
struct ProfileMergeKillTests {
    private static let rounds: Int = Dice.number("SYNC_AGENT_KILL_ROUNDS") ?? 12
    /// Other machines are read, this one's catalogue is written, and they are read again; then there is a listing, and each of
    /// four photos is looked at, read, put, looked at again and deleted.
    private static let requests = 1...25

    struct Round: Sendable, CustomTestStringConvertible {
        var number: Int
        var seed: UInt64
        /// Which request does not get to its end, from 1.
        var request: Int
        var fault: Fault
        var next: [String]

        var testDescription: String {
            "round \(number) of seed \(seed): killed in request \(request), \(fault), then \(next[0])"
        }
    }

    static let plan: [Round] = {
        var dice = Dice("SYNC_AGENT_KILL_SEED")
        print("merge kill tests: SYNC_AGENT_KILL_SEED=\(dice.seed) SYNC_AGENT_KILL_ROUNDS=\(rounds) repeats these")
        let faults: [Fault] = [.stall(.beforeBody), .stall(.afterBody), .stall(.beforeReply)]
        let next = [["merge", "grandma", "ruth", "--yes"], ["migrate"]]
        return (0..<rounds).map { number in
            Round(
                number: number, seed: dice.seed, request: Int.random(in: requests, using: &dice),
                fault: faults[Int.random(in: faults.indices, using: &dice)],
                next: next[Int.random(in: next.indices, using: &dice)])
        }
    }()

    @Test(arguments: plan)
    func `a merge that was killed loses no photo, and whoever goes on completes it`(round: Round) async throws {
        try await ScriptedS3Server.run { server in
            let home = try AgentHome(over: server, tiers: "")
            // Both have an event of one id.
            let events = try [("grandma", 0), ("grandma", 1), ("grandma", 2), ("grandma", 3), ("ruth", 0)].enumerated()
                .map {
                    let photo = Data(try SamplePhoto.unique($0)).base64EncodedString()
                    return """
                        {"id":"e\($1.1)","profileId":"\($1.0)","eventType":"taskResponse",\
                        "createdAt":"2025-01-01T08:00:00Z","photoData":"\(photo)"}
                        """
                }
            try home.gallery.appending("events.json").create(Array("[\(events.joined(separator: ","))]".utf8))
            try home.gallery.appending("plain.jpg").create(SamplePhoto.unique(7))
            _ = try await home.pass()
            let cleanup = try await home.run("cleanup")
            #expect(cleanup.code == 0, "\(cleanup.complaint)")
            let before = photos(server)
            try #require(before.count == 5)

            server.clearRequests()
            server.script(round.fault, onRequest: round.request)
            let command = try home.start(["profiles", "merge", "grandma", "ruth", "--yes"])
            _ = try await eventually("a stuck request") {
                server.requests.contains { $0.fault != nil } || command.progress.value.isOver ? () : nil
            }
            command.send(SIGKILL)
            #expect(
                try await command.finished().ending == .signal(SIGKILL), "\(round.testDescription): it was over before")
            // Until then what it had asked for last may be carried out after it.
            try await server.quiesce()
            server.clearScript()
            #expect(Set(photos(server).values) == Set(before.values))

            // Before it was noted, nothing has begun: then the same command is what goes on.
            if try await !home.run("profiles", "list").text.contains("was grandma") {
                #expect(round.request < 10)
                #expect(Set(photos(server).keys) == Set(before.keys))
                #expect(try await home.run("profiles", "merge", "grandma", "ruth", "--yes").code == 0)
            }
            let finished = try await home.start(["profiles"] + round.next).finished()
            #expect(finished.code == 0, "\(finished.complaint)")
            let after = photos(server)
            #expect(Set(after.values) == Set(before.values) && after.count == 5)
            #expect(after.keys.allSatisfy { $0.hasPrefix("gallery-archive/ana/ruth/2025/01/") }, "\(after.keys)")
        }
    }

    /// The bytes of archived photos, by their keys.
    private func photos(_ server: ScriptedS3Server) -> [String: [UInt8]] {
        server.keys.filter { $0.hasPrefix("gallery-archive/") }.reduce(into: [:]) { $0[$1] = server.object($1)?.bytes }
    }
}
