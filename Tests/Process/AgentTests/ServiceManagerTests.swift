import Foundation
import Glibc
import SyncTestSupport
import SystemPackage
import Testing

/// What systemd is told (sd_notify(3)).
struct ServiceManagerTests {
    @Test(
        arguments: ["in the file system", "in the abstract name space"])
    func `the service manager hears that the agent is ready once it watches, and that it stops`(place: String)
        async throws
    {
        let home = try AgentHome()
        let address =
            place.contains("abstract") ? "@sync-agent-test-\(UUID())" : home.tree.path("notify").string
        let manager = try NotifySocket(address)
        let agent = try home.start(["run"], environment: ["NOTIFY_SOCKET": address])
        try await manager.received("READY=1")
        #expect(try await home.overview().folders.allSatisfy { $0.watching == "inotify" })
        let photo = home.gallery.appending("new folder/a.jpg")
        try photo.create(SamplePhoto.unique(1))
        #expect(try await agent.outcome(of: photo) == .stored)

        agent.send(SIGTERM)
        try await manager.received("STOPPING=1")
        #expect(try await agent.finished().code == 0)
        #expect(manager.messages.value.map { $0.prefix { $0 != "=" } } == ["READY", "STOPPING"])
    }

    @Test func `a service manager that does not listen stops nothing`() async throws {
        let home = try AgentHome()
        let agent = try await home.startAgent(environment: ["NOTIFY_SOCKET": home.tree.path("nobody").string])
        agent.send(SIGTERM)
        #expect(try await agent.finished().code == 0)
    }

    @Test func `lines for the journal carry their level, and no time of their own`() async throws {
        let home = try AgentHome()
        let agent = try await home.startAgent(environment: ["JOURNAL_STREAM": "8:1"])
        #expect(try await agent.logged { $0.contains("watching") } == "<5>watching 3 folders")
    }
}
