import Foundation
import Glibc
import SyncTestSupport
import SystemPackage
import Testing

/// One agent per ledger.
struct SecondAgentTests {
    private let home: AgentHome

    init() throws { home = try AgentHome() }

    @Test(arguments: ["run", "sync"])
    func `a second agent ends with 75 and names the first`(command: String) async throws {
        let agent = try await home.startAgent()
        let second = try await home.run(command)
        #expect(second.code == 75)
        #expect(second.complaint.contains("process \(agent.pid)"))
        #expect(second.output == [])
    }

    @Test func `status and a dry run work while an agent does`() async throws {
        let agent = try await home.startAgent()
        let overview = try await home.overview()
        #expect(overview.agent.running && overview.agent.pid == agent.pid && overview.agent.since != nil)
        #expect(overview.folders.map(\.watching) == ["inotify", "inotify", "inotify"])
        let forecast = try await home.run("sync", "--dry-run")
        #expect(forecast.code == 0 && forecast.text.contains("0 files to store"))
    }

    @Test(
        arguments: [("run", "agent.lock"), ("sync", "agent.lock"), ("cleanup", "cleanup.lock")])
    func `a link in the place of a lock is refused, and what it leads to stays as it is`(command: String, name: String)
        async throws
    {
        let precious = try home.tree.write("precious", to: "home/precious")
        let lock = try home.tree.makeFolder("state/sync-agent").appending(name)
        #expect(symlink(precious.string, lock.string) == 0)
        let finished = try await home.run(command)
        #expect(finished.code == 77)
        #expect(finished.complaint.contains("\(lock) is a symbolic link"))
        #expect(try home.tree.read("home/precious") == Array("precious".utf8))
    }

    @Test func `a killed agent leaves no lock behind`() async throws {
        let agent = try await home.startAgent()
        agent.send(SIGKILL)
        _ = try await agent.finished()
        #expect(try await !home.overview().agent.running)
        #expect(try await home.run("sync").code == 0)
        _ = try await home.startAgent()
    }

    @Test func `an agent whose ledger is taken away ends, says so, and the next one stores what came meanwhile`()
        async throws
    {
        try home.gallery.appending("a.jpg").create(SamplePhoto.unique(1))
        let agent = try await home.startAgent()
        try await agent.stored(atLeast: 1)
        // In one step: the agent may write into the folder while it is removed.
        try home.tree.path("state/sync-agent").move(to: home.tree.path("away"))
        try home.tree.path("away").remove()
        try home.gallery.appending("b.jpg").create(SamplePhoto.unique(2))
        let finished = try await agent.finished()
        #expect(finished.code == 1)
        #expect(finished.complaint.contains("start again"))
        let next = try await home.startAgent()
        #expect(try await next.outcome(of: home.gallery.appending("b.jpg")) == .stored)
        #expect(try await next.outcome(of: home.gallery.appending("a.jpg")) == .alreadyStored)
    }

    @Test(arguments: [false, true])
    func `whoever watches the status of a ledger that is taken away is told, and not that everything is safe`(
        replaced: Bool
    ) async throws {
        try home.gallery.appending("a.jpg").create(SamplePhoto.unique(1))
        _ = try await home.pass()
        let watch = try home.start(["status", "--watch"])
        _ = try await eventually("the status") {
            watch.progress.value.outputLines.contains { $0.hasPrefix("Everything is safe") } ? () : nil
        }
        try home.tree.path("state/sync-agent").move(to: home.tree.path("away"))
        if replaced { _ = try await home.run("rebuild") }
        let finished = try await watch.finished()
        #expect(finished.code == 1)
        #expect(finished.complaint.contains("start again"), "\(finished)")
    }

    @Test func `a dry run tells what would be stored, and nothing is stored or remembered`() async throws {
        let photo = home.gallery.appending("a.jpg")
        try photo.create(SamplePhoto.unique(1))
        let forecast = try await home.run("sync", "--dry-run")
        #expect(forecast.code == 0)
        #expect(forecast.text.contains("would store \(photo) ") && forecast.text.contains("1 file to store"))
        #expect(try await home.photo(photo) == nil)
        #expect(try home.store.objects().isEmpty)
    }

    @Test func `several commands may be the first to open a new ledger`() async throws {
        let codes = try await withThrowingTaskGroup(of: Int32?.self) { group in
            for _ in 1...8 { group.addTask { try await home.run("status").code } }
            return try await group.reduce(into: [Int32?]()) { $0.append($1) }
        }
        #expect(codes == Array(repeating: 0, count: 8))
    }
}
