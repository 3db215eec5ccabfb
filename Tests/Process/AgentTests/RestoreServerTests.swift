import Foundation
import SyncCore
import SyncTestSupport
import SystemPackage
import Testing

/// What S3 answers to restores, good and bad, on a server that plays it by script and counts every request.
struct RestoreServerTests {
    /// An album of three photos that is archived; the server forgets the requests until then.
    private func archivedAlbum(_ server: ScriptedS3Server) async throws -> AgentHome {
        let home = try AgentHome(over: server)
        for number in 0..<3 {
            try home.vacations.pushing(FilePath("Rome/\(number).jpg")).create(SamplePhoto.unique(number))
        }
        #expect(try await home.run("sync").code == 0)
        #expect(server.photoKeys.count == 3)
        #expect(server.photoKeys.allSatisfy { server.object($0)?.storageClass == .deepArchive })
        server.clearRequests()
        return home
    }

    @Test func `an expedited restore from DEEP_ARCHIVE sends nothing at all, and ends with 64, tiers and hours`()
        async throws
    {
        try await ScriptedS3Server.run { server in
            let home = try await archivedAlbum(server)
            let finished = try await home.run("restore", "Rome", "--tier", "expedited", "--yes")
            #expect(finished.code == 64)
            #expect(finished.complaint.contains("bulk (within 48 hours) or standard (within 12 hours)"))
            #expect(server.requests.isEmpty)
            #expect(try await home.restores().isEmpty)
        }
    }

    @Test func `a rush takes the fastest tier that the class has, and says which`() async throws {
        try await ScriptedS3Server.run { server in
            let home = try await archivedAlbum(server)
            let answer = try await home.restore("Rome", "--rush")
            #expect(answer.tier == "standard" && answer.items.count == 3)
            #expect(server.photoKeys.allSatisfy { server.object($0)?.restore?.tier == .standard })
            #expect(try await home.photos(at: home.vacations).allSatisfy { $0.badge == "rush" })
        }
    }

    @Test func `where there is no capacity for expedited, standard is asked for, and that is said`() async throws {
        try await ScriptedS3Server.run { server in
            let home = try await archivedAlbum(server)
            for key in server.photoKeys { server.transition(key, to: .glacier) }
            #expect(try await home.run("status", "--refresh").code == 0)
            server.script(
                .answer(ScriptedAnswer(503, "GlacierExpeditedRetrievalNotAvailable")), on: .restoreObject,
                numbers: 1...1)
            server.clearRequests()
            let finished = try await home.run("restore", "Rome", "--tier", "expedited", "--yes")
            #expect(finished.code == 0)
            #expect(finished.text.contains("expedited is currently unavailable; standard was requested"))
            #expect(server.requests(.restoreObject).count == 4)
            let tiers = server.photoKeys.compactMap { server.object($0)?.restore?.tier }
            #expect(tiers.sorted() == [.standard, .expedited, .expedited])
            let items = try #require(try await home.restores("1").first?.itemList)
            #expect(items.count { $0.tier == "standard" && $0.note?.contains("standard was requested") == true } == 1)
            #expect(items.count { $0.tier == "expedited" && $0.note == nil } == 2)
        }
    }

    @Test func `where the store does not tell how far a restore is, that is named, and the next look brings it`()
        async throws
    {
        try await ScriptedS3Server.run { server in
            let home = try await archivedAlbum(server)
            server.imitate { $0.listsRestoreStatus = false }
            #expect(try await home.restore("Rome").items.count == 3)
            server.script(
                .answer(ScriptedAnswer(400, "InvalidRequest")), on: .headObject, .getObject, numbers: 1...100)
            let refused = try await home.run("restores", "--refresh")
            #expect(refused.code == 3)
            for key in server.photoKeys {
                #expect(refused.complaint.contains("not told  ") && refused.complaint.contains(key))
            }
            server.clearScript()
            #expect(try await home.run("restores", "--refresh").code == 0)
        }
    }

    @Test func `what another machine has asked for is already retrieving, also where only the answer 409 tells it`()
        async throws
    {
        for tellsInLists in [true, false] {
            try await ScriptedS3Server.run { server in
                let (home, other) = (try await archivedAlbum(server), try AgentHome(over: server))
                try other.vacations.pushing(FilePath("Rome/0.jpg")).create(SamplePhoto.unique(0))
                #expect(try await other.run("sync").code == 0)
                #expect(try await other.restore("Rome").items.count == 1)
                server.imitate { $0.listsRestoreStatus = tellsInLists }
                server.clearRequests()
                let answer = try await home.restore("Rome")
                #expect(answer.items.filter { $0.error == nil }.count == (tellsInLists ? 2 : 3))
                #expect(answer.skipped.map(\.state) == (tellsInLists ? ["retrieving"] : []))
                #expect(
                    server.requests(.restoreObject).compactMap(\.status).sorted()
                        == (tellsInLists ? [202, 202] : [202, 202, 409]))
                #expect(try await home.photos(at: home.vacations).allSatisfy { $0.badge == "retrieving" })
            }
        }
    }

    @Test(
        arguments: [
            (StoreAbilities.Restores.daysOnly, "bulk"), (.standardTierOnly, "bulk"), (.standardTierOnly, "standard"),
        ])
    func `a store that knows no tiers, or one, restores all the same`(ability: StoreAbilities.Restores, tier: String)
        async throws
    {
        try await ScriptedS3Server.run { server in
            let home = try await archivedAlbum(server)
            server.imitate { $0.restores = ability }
            let answer = try await home.restore("Rome", "--tier", tier)
            #expect(answer.items.map(\.state) == ["retrieving", "retrieving", "retrieving"])
            #expect(server.photoKeys.allSatisfy { server.object($0)?.restore != nil })
        }
    }

    @Test func `a store that restores nothing ends it with 1 and is named; nothing waits for what will not come`()
        async throws
    {
        try await ScriptedS3Server.run { server in
            let home = try await archivedAlbum(server)
            server.imitate { $0.restores = .notImplemented }
            let finished = try await home.run("restore", "Rome", "--yes", "--wait")
            #expect(finished.code == 1)
            #expect(finished.text.contains("NotImplemented") && finished.text.contains("Rome/0.jpg"))
            #expect(try await home.restores().map(\.state) == ["failed"])
            #expect(try await home.photos(at: home.vacations).allSatisfy { $0.badge == "archived" })
        }
    }

    @Test func `an object that is gone, or may not be restored, fails by itself, and the others come`() async throws {
        try await ScriptedS3Server.run { server in
            let home = try await archivedAlbum(server)
            let refusals = [ScriptedAnswer(403, "AccessDenied"), ScriptedAnswer(404, "NoSuchKey")]
            for (key, refusal) in zip(server.photoKeys, refusals) {
                server.script(.answer(refusal), on: .restoreObject, key: key, numbers: 1...9)
            }
            let answer = try await home.restore("Rome", code: 3)
            #expect(answer.items.map(\.state).sorted() == ["failed", "failed", "retrieving"])
            #expect(answer.items.allSatisfy { ($0.error != nil) == ($0.state == "failed") })
        }
    }

    @Test func `credentials that may restore nothing end it with 77, and the right that is missing is named`()
        async throws
    {
        try await ScriptedS3Server.run { server in
            let home = try await archivedAlbum(server)
            server.script(.answer(ScriptedAnswer(403, "AccessDenied")), on: .restoreObject, numbers: 1...99)
            let finished = try await home.run("restore", "Rome", "--yes")
            #expect(finished.code == 77 && finished.text.contains("s3:RestoreObject"))
            #expect(try await home.restores().map(\.state) == ["failed"])
        }
    }

    @Test func `a server that goes away in the middle ends it with 69, and the job is kept`() async throws {
        let server = try ScriptedS3Server()
        let home = try await archivedAlbum(server)
        server.script(.stall(.beforeBody), on: .restoreObject, numbers: 1...99)
        let asking = try home.start(["restore", "Rome", "--yes"])
        _ = try await eventually("requests") { server.requests(.restoreObject).count == 3 ? true : nil }
        await server.stop()
        let finished = try await asking.finished()
        #expect(finished.code == 69 && finished.complaint.contains("Restore 1 is kept"))
        #expect(try await home.restores().map(\.state) == ["sending"])
    }

    @Test func `a share makes faster what is being restored, since that is in its price`() async throws {
        try await ScriptedS3Server.run { server in
            let home = try await archivedAlbum(server)
            _ = try await home.restore("Rome", "--tier", "bulk")
            #expect(server.photoKeys.allSatisfy { server.object($0)?.restore?.tier == .bulk })
            // What is on the disk is shared from there.
            for number in 0..<3 { try home.vacations.pushing(FilePath("Rome/\(number).jpg")).remove() }
            try home.vacations.pushing("Rome/notes.txt").create(Array("no photo".utf8))
            _ = try await home.run("sync")
            let finished = try await home.run("share", "Rome", "--expires", "9d", "--yes")
            #expect(server.photoKeys.allSatisfy { server.object($0)?.restore?.tier == .standard }, "\(finished)")
        }
    }

    @Test
    func `a running restore is made faster, and one that is done stays longer; both ask for the same objects once`()
        async throws
    {
        try await ScriptedS3Server.run { server in
            let home = try await archivedAlbum(server)
            _ = try await home.restore("Rome", "--tier", "bulk", "--days", "4")
            let faster = try await home.restore("Rome", "--tier", "standard")
            #expect(faster.jobId == nil && faster.items.map(\.state) == ["retrieving", "retrieving", "retrieving"])
            #expect(server.photoKeys.allSatisfy { server.object($0)?.restore?.tier == .standard })
            #expect(server.photoKeys.allSatisfy { server.object($0)?.restore?.days == 4 })
            #expect(try await home.restores("1").first?.itemList?.allSatisfy { $0.tier == "standard" } == true)
            let slower = try await home.restore("Rome", "--tier", "bulk")
            #expect(slower.items.isEmpty && slower.skipped.map(\.state) == Array(repeating: "retrieving", count: 3))

            server.advanceClock(by: .seconds(13 * 3_600))
            #expect(try await home.refreshed { $0.state == "ready" }.done == 3)
            let ends = server.photoKeys.compactMap { server.object($0)?.restore?.expiry }
            let longer = try await home.restore("Rome", "--days", "9")
            #expect(longer.items.map(\.state) == ["restored", "restored", "restored"])
            let laterEnds = server.photoKeys.compactMap { server.object($0)?.restore?.expiry }
            #expect(zip(ends, laterEnds).allSatisfy { $1 > $0 })
            #expect(server.requests(.restoreObject).count == 9)
        }
    }
}
