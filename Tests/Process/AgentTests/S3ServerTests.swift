import Foundation
import Glibc
import SyncTestSupport
import SystemPackage
import Testing

/// The program against a real S3 server: the one that `scripts/test-servers` starts.
struct S3ServerTests {
    @Test(arguments: S3Server.available)
    func `a pass stores photos in the bucket, and a second one sends nothing`(server: S3Server) async throws {
        try await server.makeBucket()
        let home = try server.home()
        for number in 0..<5 { try home.gallery.appending("\(number).jpg").create(SamplePhoto.unique(number)) }
        try home.vacations.appending("twin.jpg").create(SamplePhoto.unique(0))
        try home.projects.appending("projects.json").create(Array("[]".utf8))

        let first = try await home.pass()
        #expect(first.uploaded == 6 && first.alreadyStored == 1)
        let known = try await home.photos(at: home.tree.path("home"))
        #expect(known.allSatisfy { $0.state == "uploaded" })
        let keys = try await server.keys()
        #expect(Set(keys) == Set(known.compactMap(\.key).map { "backup/\($0)" }))
        #expect(keys.count == 6)

        let second = try await home.pass()
        #expect(second.uploaded == 0 && second.alreadyStored == 0 && second.bytesSent == 0)
    }

    @Test(arguments: S3Server.available)
    func `what another machine has stored is found in the bucket, and not sent again`(server: S3Server) async throws {
        try await server.makeBucket()
        let (first, second) = (try server.home(), try server.home())
        for home in [first, second] { try home.gallery.appending("a.jpg").create(SamplePhoto.unique(1)) }
        #expect(try await first.pass().uploaded == 1)
        let answer = try await second.pass()
        #expect(answer.uploaded == 0 && answer.alreadyStored == 1)
        #expect(try await server.keys().count == 1)
    }

    @Test(
        arguments: S3Server.available)
    func `an agent stores what is dropped, and another agent after kill -9 finishes the rest`(server: S3Server)
        async throws
    {
        try await server.makeBucket()
        let home = try server.home()
        let agent = try await home.startAgent()
        for number in 0..<12 { try home.gallery.appending("\(number).jpg").create(SamplePhoto.unique(number)) }
        try await agent.stored(atLeast: 3)
        agent.send(SIGKILL)
        _ = try await agent.finished()
        let there = try await server.keys().count
        #expect(agent.outcomes.count { $0.kind == .stored } <= there, "what is logged is there")
        let answer = try await home.pass()
        let left = 12 - there
        #expect((left - 3...left).contains(answer.uploaded), "what was in flight may have come after the look, no more")
        #expect(try await server.keys().count == 12)
    }

    @Test(arguments: S3Server.available)
    func `init makes a bucket, takes one that is there, and makes none beside a configuration`(server: S3Server)
        async throws
    {
        let home = try server.home()
        let options = [
            "init", "--store", "s3", "--bucket", server.bucket, "--endpoint", server.endpoint, "--create-bucket",
        ]
        let refused = try await home.start(options).finished()
        #expect(refused.code == 78 && refused.complaint.contains("exists already and was left as it is"))
        let config = home.tree.path("new.yaml").string
        let first = try await home.start(options + ["--config", config]).finished()
        #expect(first.code == 0, "\(first.complaint)")
        #expect(
            first.text.contains("s3://\(server.bucket)/ at \(server.endpoint): created, and public access is blocked"))
        #expect(try await server.keys().isEmpty)
        let second = try await home.start(options + ["--config", home.tree.path("other.yaml").string]).finished()
        #expect(second.code == 0 && second.text.contains("is there already, and was left as it is"), "\(second.text)")
        #expect(try await home.start(["--config", config, "sync"]).finished().code == 0)
    }

    @Test func `where servers are required, they are there`() {
        #expect(
            !S3Server.available.isEmpty || !S3Server.isRequired,
            "SYNC_AGENT_TEST_S3_ENDPOINT is not set: run the tests by scripts/test")
    }

    @Test(arguments: S3Server.available)
    func `a bucket that does not exist ends a pass with 69 and is named`(server: S3Server) async throws {
        let home = try server.home()
        try home.gallery.appending("a.jpg").create(SamplePhoto.unique(1))
        let finished = try await home.run("sync")
        #expect(finished.code == 69)
        #expect(finished.complaint.contains("\(server.bucket) does not exist"))
        #expect(try await home.overview().totals.pending == 1)
    }
}

/// The S3 server of the environment, and a bucket of its own there.
struct S3Server: Sendable, CustomTestStringConvertible {
    private static let environment = ProcessInfo.processInfo.environment

    /// The one that there is, if there is one.
    static var available: [S3Server] {
        environment["SYNC_AGENT_TEST_S3_ENDPOINT"].map { [S3Server(endpoint: $0)] } ?? []
    }
    /// Whether its absence is a failure: in CI, and where one says so.
    static let isRequired = environment["CI"] == "true" || environment["SYNC_AGENT_REQUIRED_SERVERS"] != nil

    let bucket = "agent-\(UUID())".lowercased()
    let endpoint: String

    var testDescription: String { endpoint }

    func home(more: String = "") throws -> AgentHome {
        try AgentHome(
            store: "{type: s3, bucket: \(bucket), region: us-east-1, endpoint: '\(endpoint)', prefix: backup}",
            more: more,
            environment: credentials)
    }

    let credentials = [
        "AWS_ACCESS_KEY_ID": "AKIATESTTESTTEST0001", "AWS_SECRET_ACCESS_KEY": "no-secret-at-all",
    ]

    // moto checks no signature, and curl needs none of ours to look at what the program did.
    func makeBucket() async throws { _ = try await curl("-X", "PUT") }

    /// All keys but those that tell of machines.
    func keys() async throws -> [String] {
        let answer = try await curl("-G", "-d", "list-type=2", signed: true).text
        return answer.split(separator: "<Key>").dropFirst().map { String($0.prefix { $0 != "<" }) }
            .filter { !$0.tellsOfMachine }
    }

    /// An object as curl gets it.
    /// - Parameter key: below the prefix.
    func bytes(of key: String) async throws -> [UInt8] {
        try await curl(of: "/backup/\(key)", signed: true).output
    }

    /// - Parameter key: below the prefix.
    func delete(_ key: String) async throws { _ = try await curl("-X", "DELETE", of: "/backup/\(key)", signed: true) }

    private func curl(_ arguments: String..., of path: String = "", signed: Bool = false) async throws -> Finished {
        let signature = [
            "--aws-sigv4", "aws:amz:us-east-1:s3", "--user", "AKIATESTTESTTEST0001:no-secret-at-all",
        ]
        let finished = try await ChildProcess(
            "/usr/bin/curl",
            ["-sSf", "--noproxy", "*"] + (signed ? signature : []) + arguments + ["\(endpoint)/\(bucket)\(path)"],
            environment: ["PATH": "/usr/bin:/bin"]
        ).finished()
        guard finished.code == 0 else { throw UnexpectedEnd(finished: finished) }
        return finished
    }
}
