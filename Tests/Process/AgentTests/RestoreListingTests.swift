import SyncCore
import SyncTestSupport
import SystemPackage
import Testing

/// What looking at many objects costs. One listing tells of a thousand.
struct RestoreListingTests {
    @Test func `2,500 photos are looked at by three listings for each look, and by no HEAD`() async throws {
        try await ScriptedS3Server.run { server in
            let home = try AgentHome(over: server, tiers: "tiers: {mode: bucket}")
            for pass in 0..<25 {
                for number in 0..<100 {
                    // Stored as it is: nothing has to be decoded.
                    let photo = SamplePhoto.jxl + Array("\(pass) \(number)".utf8)
                    try home.vacations.pushing(FilePath("Rome/\(pass) \(number).jxl")).create(photo)
                }
                #expect(try await home.run("sync").code == 0)
            }
            // The bucket's rules have moved all of it.
            for key in server.photoKeys { server.transition(key, to: .deepArchive) }
            server.clearRequests()
            #expect(try await home.run("status", "--refresh").code == 0)
            // Two folders of ours hold nothing.
            #expect(server.requests.map(\.operation) == Array(repeating: .listObjectsV2, count: 5))
            server.clearRequests()
            let asked = try await home.restore(home.vacations.string)
            #expect(asked.items.count == 2_500 && asked.items.allSatisfy { $0.state == "retrieving" })
            #expect(server.requests(.listObjectsV2).count == 3 && server.requests(.restoreObject).count == 2_500)
            #expect(server.requests.count == 2_503)
            for isDone in [false, true] {
                if isDone { server.advanceClock(by: .seconds(13 * 3_600)) }
                server.clearRequests()
                let job = try #require(try await home.restores("--refresh").first)
                #expect(job.state == (isDone ? "ready" : "retrieving") && job.done == (isDone ? 2_500 : 0))
                // The first request after half a day meets a clock that is off, and is repeated.
                let answered = server.requests.filter { $0.status == 200 }
                #expect(answered.map(\.operation) == [.listObjectsV2, .listObjectsV2, .listObjectsV2])
            }
        }
    }
}
