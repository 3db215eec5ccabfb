import Glibc
import SyncTestSupport
import SystemPackage
import Testing

/// A bucket that cannot be used. No server is needed for these.
struct S3FailureTests {
    private static let keys = [
        "AWS_ACCESS_KEY_ID": "AKIATESTTESTTEST0001", "AWS_SECRET_ACCESS_KEY": "no-secret-at-all",
    ]

    private func home(_ port: SilentPort, environment: [String: String]) throws -> AgentHome {
        let home = try AgentHome(
            store: "{type: s3, bucket: photos, region: us-east-1, endpoint: 'http://127.0.0.1:\(port.number)'}",
            environment: environment)
        try home.gallery.appending("a.jpg").create(SamplePhoto.unique(1))
        return home
    }

    @Test func `without credentials a pass ends with 77, says where it looked, and sends nothing`() async throws {
        let port = try SilentPort(listens: true)
        let home = try home(port, environment: [:])
        let finished = try await home.run("sync")
        #expect(finished.code == 77)
        #expect(finished.complaint.contains("AWS_ACCESS_KEY_ID") && finished.complaint.contains(".aws/credentials"))
        #expect(!port.wasVisited)
        #expect(try await home.overview().totals.pending == 1)
    }

    @Test func `a server that refuses connections ends a pass with 69 and is named; no photo loses a try to it`()
        async throws
    {
        let port = try SilentPort(listens: false)
        let home = try home(port, environment: Self.keys)
        let finished = try await home.run("sync")
        #expect(finished.code == 69)
        #expect(finished.complaint.contains("http://127.0.0.1:\(port.number)"))
        let overview = try await home.overview()
        #expect(overview.totals.pending == 1 && overview.totals.failed == 0)
        #expect(!finished.complaint.contains("no-secret-at-all"))
    }

    @Test func `a proxy that is down ends a pass with 69, and the variables to correct are named`() async throws {
        let server = try SilentPort(listens: true)
        let proxy = try SilentPort(listens: false)
        let way = ["http_proxy": "http://ana:hidden@127.0.0.1:\(proxy.number)", "no_proxy": "none.example"]
        let home = try home(server, environment: Self.keys.merging(way) { $1 })
        let finished = try await home.run("sync")
        #expect(finished.code == 69)
        #expect(finished.complaint.contains("correct https_proxy or http_proxy"))
        #expect(!finished.complaint.contains("hidden"))
        #expect(!server.wasVisited)
    }

    @Test func `a server that takes connections and never answers holds up neither status nor the end of the agent`()
        async throws
    {
        let port = try SilentPort(listens: true)
        let home = try home(port, environment: Self.keys)
        let agent = try await home.startAgent()
        let status = try await home.run("status")
        #expect(status.code == 0 && status.text.contains("not reachable"))
        #expect(port.wasVisited)
        agent.send(SIGTERM)
        #expect(try await agent.finished().code == 0)
    }

    @Test func `status asks a server that does not answer once`() async throws {
        let port = try SilentPort(listens: true)
        let status = try await home(port, environment: Self.keys).run("status")
        #expect(status.code == 0 && status.text.contains("not reachable"))
        #expect(port.wasVisited && !port.wasVisited)
    }

    @Test func `a server that never answers does not hold up the list of shares`() async throws {
        let port = try SilentPort(listens: true)
        let home = try home(port, environment: Self.keys)
        let gallery = try await ShownGallery.shown(by: home, ["serve"])
        try await gallery.signIn()
        let page = try await gallery.ask("/shares", "-m", "40")
        #expect(page.code == 200 && page.text.contains("no answer within"))
        #expect(port.wasVisited)
        gallery.process.send(SIGTERM)
        #expect(try await gallery.process.finished().code == 0)
    }

    @Test func `an agent whose server is away goes on watching, says so, and stops when asked`() async throws {
        let port = try SilentPort(listens: false)
        let home = try home(port, environment: Self.keys)
        let agent = try await home.startAgent()
        try await agent.logged { $0.contains("the store cannot be used, uploads wait") }
        try home.gallery.appending("b.jpg").create(SamplePhoto.unique(2))
        _ = try await home.photos(at: home.gallery) { $0.map(\.state) == ["pending", "pending"] }
        agent.send(SIGTERM)
        #expect(try await agent.finished().code == 0)
        // Until here it is nobody else's.
        withExtendedLifetime(port) {}
    }
}
