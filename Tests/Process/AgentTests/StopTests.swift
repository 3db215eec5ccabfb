import Glibc
import SyncTestSupport
import SystemPackage
import Testing

/// Signals that ask the program to end.
struct StopTests {
    private let home: AgentHome

    init() throws { home = try AgentHome() }

    private func drop(_ count: Int) throws -> [FilePath] {
        try (0..<count).map { number in
            let photo = home.gallery.appending("\(number).jpg")
            try photo.create(SamplePhoto.unique(number))
            return photo
        }
    }

    @Test(
        arguments: [SIGTERM, SIGINT])
    func `a signal in the middle of the work lets the agent finish what is in flight and end with 0`(signal: Int32)
        async throws
    {
        let agent = try await home.startAgent()
        let photos = try drop(40)
        try await agent.stored(atLeast: 2)
        agent.send(signal)
        #expect(try await agent.finished().code == 0)
        try await expectAtRest(known: photos)
        #expect(try await home.run("sync").code == 0)
        #expect(try home.store.objects().count == 40)
    }

    @Test func `a second signal changes nothing`() async throws {
        let agent = try await home.startAgent()
        let photos = try drop(20)
        try await agent.stored(atLeast: 2)
        agent.send(SIGTERM)
        agent.send(SIGTERM)
        #expect(try await agent.finished().code == 0)
        try await expectAtRest(known: photos)
    }

    @Test func `an idle agent ends at once`() async throws {
        let agent = try await home.startAgent()
        agent.send(SIGTERM)
        let finished = try await agent.finished()
        #expect(finished.code == 0)
        #expect(finished.complaint.hasSuffix("stopped\n"))
        #expect(finished.output == [])
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `a signal lets a pass finish what is in flight, and it tells what waits`(signal: Int32) async throws {
        let photos = try drop(40)
        let pass = try home.start(["sync", "--verbose", "--json"])
        try await pass.logged { $0.contains(": stored(") }
        pass.send(signal)
        let finished = try await pass.finished()
        let overview = try await home.overview()
        // It may have come too late: after the end of all that counts.
        let isLate = overview.totals.pending == 0 && (finished.code == 0 || finished.ending == .signal(signal))
        #expect(finished.code == 128 + signal || isLate, "\(finished)")
        if overview.totals.pending > 0 {
            #expect(overview.lastSyncAt == nil)
            #expect(!(try await home.run("status")).text.contains("the last whole pass"))
        }
        try await expectAtRest(known: photos)
        #expect(try await home.run("sync").code == 0)
        #expect(try home.store.objects().count == 40)
    }

    /// A video as far as its first bytes tell.
    private func video(size: Int) throws -> FilePath {
        let video = home.gallery.appending("huge.mp4")
        try video.create([0, 0, 0, 24] + Array("ftypmp42".utf8) + [0, 0, 0, 0] + Array("mp42isom".utf8))
        #expect(truncate(video.string, size) == 0)
        return video
    }

    @Test(
        .enabled(if: !Tool.strace.isMissing, "needs strace"),
        arguments: ["run", "sync"])
    func `a file whose reading takes long holds up neither the end nor others`(command: String) async throws {
        let video = try video(size: 15 << 20)
        let photo = try drop(1)[0]
        // Each reading of it, and of nothing else, takes a second.
        let options = [
            "-f", "-qq", "-P", video.string, "-e", "trace=read,pread64", "-e",
            "inject=read,pread64:delay_enter=1000000", "-o", home.tree.path("trace").string,
        ]
        let tracer = try ChildProcess(
            FilePath(Tool.strace.rawValue), options + ["--", AgentBinary.path.string, command, "--verbose"],
            environment: home.environment)
        try await tracer.logged { $0.contains(": stored(") || $0.contains("stored \(photo)") }
        let children = try FilePath("/proc/\(tracer.pid)/task/\(tracer.pid)/children").bytes
        let agent = try #require(Int32(String(decoding: children, as: UTF8.self).split(separator: " ").first ?? ""))
        kill(agent, SIGTERM)
        #expect(try await tracer.finished().code == (command == "run" ? 0 : 128 + SIGTERM))
        #expect(try await home.photo(photo)?.state == "uploaded")
        #expect(try await home.photo(video)?.state == "pending")
    }

    @Test(arguments: ["run", "sync"])
    func `a file of a terabyte that was never written is refused unread, and named`(command: String) async throws {
        let video = try video(size: 1 << 40)
        let photo = try drop(1)[0]
        let agent = try home.start([command, "--verbose"])
        try await agent.logged { $0.contains("holes") }
        try await agent.logged { $0.contains(": stored(") || $0.contains("stored \(photo)") }
        agent.send(SIGTERM)
        let code = try await agent.finished().code
        // A pass may have come to its end before the signal.
        #expect(command == "run" ? code == 0 : [3, 128 + SIGTERM].contains(code))
        #expect(try await home.photo(photo)?.state == "uploaded")
        #expect(try await home.photo(video)?.state == "failed")
    }

    /// Nothing is in hand, and what counts as stored is.
    private func expectAtRest(known photos: [FilePath]) async throws {
        let entries = try await home.photos(at: home.gallery)
        #expect(entries.allSatisfy { ["uploaded", "pending"].contains($0.state) })
        #expect(Set(entries.map(\.path)).isSubset(of: photos.map(\.string)))
        #expect(entries.count { $0.state == "uploaded" } == (try home.store.objects().count))
        #expect(try home.store.staged() == [])
        #expect(try await !home.overview().agent.running)
    }
}
