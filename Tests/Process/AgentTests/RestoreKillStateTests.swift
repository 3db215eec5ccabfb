import Glibc
import SyncCore
import SyncTestSupport
import SystemPackage
import Testing

/// kill -9 in exactly one state of a restore, held there by a store that does not go on. What was in hand, and not
/// answered, is free with the process.
@Suite struct RestoreKillStateTests {
    private static let photos = 10
    /// Requests of one process that are under way at once.
    private static let inFlight = 8

    private func fill(_ home: AgentHome) async throws {
        for number in 0..<Self.photos {
            try home.vacations.pushing(FilePath("Rome/\(number).jpg")).create(SamplePhoto.unique(number))
        }
        #expect(try await home.run("sync").code == 0)
    }

    /// Downloads of photos; the vacation's manifest is read as well.
    private func downloads(_ server: ScriptedS3Server) -> [RequestRecord] {
        server.requests(.getObject).filter { $0.key?.contains("/photos/") == true }
    }

    private func kill(_ process: ChildProcess, over server: ScriptedS3Server? = nil) async throws {
        process.send(SIGKILL)
        #expect(try await process.finished().ending == .signal(SIGKILL))
        // Until then what it had asked for last may be counted, or carried out, after it.
        try await server?.quiesce()
    }

    @Test func `killed when the job was made and no request had reached the embedded store, it is sent by the next`()
        async throws
    {
        let home = try AgentHome(restoring: 600, more: AgentHome.archivesAtOnce)
        try await fill(home)
        do {
            let held = try HeldStore(home.store)
            let killed = try home.start(["restore", "Rome", "--yes"])
            _ = try await eventually("a job") { try await home.restores().first }
            try await kill(killed)
            withExtendedLifetime(held) {}
        }
        #expect(try home.store.restoreTiers().isEmpty)
        #expect(try await home.restores().map(\.state) == ["sending"])
        let job = try await home.refreshed { $0.state == "retrieving" }
        #expect(job.jobId == "1" && job.items == Self.photos)
        #expect(try home.store.restoreTiers().count == Self.photos)
    }

    @Test(
        arguments: [Fault.stall(.beforeBody), .stall(.beforeReply)])
    func `killed while the first requests were under way, no object is restored twice, and none is forgotten`(
        fault: Fault
    ) async throws {
        try await ScriptedS3Server.run { server in
            let home = try AgentHome(over: server)
            try await fill(home)
            server.script(fault, on: .restoreObject, numbers: 1...99)
            let wasCarriedOut = fault == .stall(.beforeReply)
            let killed = try home.start(["restore", "Rome", "--yes"])
            _ = try await eventually("requests") {
                // A request is noted when it arrives, and carried out later.
                let carriedOut = server.photoKeys.count { server.object($0)?.restore != nil }
                let arrived = server.requests(.restoreObject).count
                return (wasCarriedOut ? carriedOut : arrived) >= Self.inFlight ? true : nil
            }
            try await kill(killed, over: server)
            server.clearScript()
            #expect(try await home.restores().map(\.state) == ["sending"])
            let job = try await home.refreshed { $0.state == "retrieving" }
            #expect(job.items == Self.photos && job.failed == 0)
            let answers = server.requests(.restoreObject).compactMap(\.status)
            #expect(answers.count { $0 == 409 } == (wasCarriedOut ? Self.inFlight : 0))
            #expect(server.photoKeys.allSatisfy { server.object($0)?.restore != nil })
            #expect(server.requests(.restoreObject).count == Self.photos + Self.inFlight)
        }
    }

    @Test func `a store that is busy leaves the job, and the next round sends what is left`() async throws {
        try await ScriptedS3Server.run { server in
            let home = try AgentHome(over: server)
            try await fill(home)
            server.script(.answer(ScriptedAnswer(503, "SlowDown")), on: .restoreObject, numbers: 1...99)
            let finished = try await home.run("restore", "Rome", "--yes")
            #expect(finished.code == 0 && finished.text.contains("10 photos could not be requested yet"))
            #expect(try await home.restores().map(\.state) == ["sending"])
            server.clearScript()
            #expect(try await home.refreshed { $0.state == "retrieving" }.items == Self.photos)
            #expect(server.requests(.restoreObject).count { $0.status == 202 } == Self.photos)
        }
    }

    @Test func `killed in the middle of downloads, the next goes on from where they were`() async throws {
        let server = try ScriptedS3Server(restoreTime: { _, _ in .zero })
        let home = try AgentHome(over: server)
        try await fill(home)
        server.script(.stall(.duringReply(700)), on: .getObject, numbers: 1...99)
        let killed = try home.start(
            ["restore", "Rome", "--yes", "--wait", "--output", home.tree.path("back").string])
        let parts = try await eventually("three parts") {
            guard downloads(server).count == 3 else { return nil as [String]? }
            let parts = try home.tree.photos(below: "back")
            return try parts.count == 3 && parts.allSatisfy { try home.tree.read("back/\($0)").count == 700 }
                ? parts : nil
        }
        #expect(parts.allSatisfy { $0.hasSuffix(".sync-agent-part") })
        try await kill(killed, over: server)
        server.clearScript()
        server.clearRequests()

        let job = try await home.refreshed { $0.saved == Self.photos }
        #expect(job.state == "ready")
        let gets = downloads(server)
        #expect(gets.count == Self.photos && gets.count { $0.headers["range"]?.hasPrefix("bytes=700-") == true } == 3)
        #expect(server.requests(.restoreObject).isEmpty)
        try await expectWhole(home, server)
        await server.stop()
    }

    @Test func `killed when a file was saved and not noted, it is not downloaded again`() async throws {
        let server = try ScriptedS3Server(restoreTime: { _, _ in .zero })
        let home = try AgentHome(over: server)
        try await fill(home)
        _ = try await home.restore("Rome", "--output", home.tree.path("back").string)
        // As the killed process has left it.
        let entry = try #require(try await home.photo(home.vacations.pushing("Rome/3.jpg")))
        let key = try #require(entry.key)
        try home.tree.write(try #require(server.object(key)).bytes, to: "back/Rome/3.jpg")

        #expect(try await home.refreshed { $0.saved == Self.photos }.state == "ready")
        #expect(downloads(server).count == Self.photos - 1)
        #expect(server.requests(.getObject, key: key).isEmpty)
        try await expectWhole(home, server)
        await server.stop()
    }

    private func expectWhole(_ home: AgentHome, _ server: ScriptedS3Server) async throws {
        #expect(try home.tree.photos(below: "back") == (0..<Self.photos).map { "Rome/\($0).jpg" })
        for entry in try await home.photos(at: home.vacations) {
            let name = try #require(FilePath(entry.path).lastComponent?.string)
            let object = server.object(try #require(entry.key))
            #expect(try home.tree.read("back/Rome/\(name)") == object?.bytes)
        }
    }
}
