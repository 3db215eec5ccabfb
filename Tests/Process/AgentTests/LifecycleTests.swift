import Foundation
import SyncTestSupport
import SystemPackage
import Testing

/// `sync-agent lifecycle`: rules in a store that others use too, and stores without rules.
struct LifecycleTests {
    private struct Answer: Decodable {
        struct Rule: Decodable {
            var id: String
            var state: String
            var largerThan: Int64?
        }

        struct Floor: Decodable {
            var bytes: Int64?
            var configuredBytes: Int64
        }

        var mode: String
        var carriedOutBy: String
        var floor: Floor
        var rules: [Rule]
        var foreign: Int
        var applied: Bool
    }

    private static let foreign = [
        """
        <Rule><ID>theirs-tag</ID><Filter><Tag><Key>a</Key><Value>b</Value></Tag></Filter><Status>Enabled</Status>\
        <Expiration><Days>9</Days></Expiration></Rule>
        """,
        """
        <Rule><ID>theirs-size</ID><Filter><And><Prefix>raw/</Prefix><ObjectSizeGreaterThan>7</ObjectSizeGreaterThan>\
        <ObjectSizeLessThan>99</ObjectSizeLessThan></And></Filter><Status>Disabled</Status><Transition><Days>3</Days>\
        <StorageClass>GLACIER</StorageClass></Transition></Rule>
        """,
        """
        <Rule><ID>theirs-old</ID><Filter/><Status>Enabled</Status><NoncurrentVersionTransition><NoncurrentDays>3\
        </NoncurrentDays><StorageClass>GLACIER</StorageClass></NoncurrentVersionTransition></Rule>
        """,
    ]
    private static let document =
        "<LifecycleConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\(foreign.joined())"
        + "</LifecycleConfiguration>"

    private func home(_ server: ScriptedS3Server) throws -> AgentHome {
        try AgentHome(
            store: "{type: s3, bucket: \(server.bucket), region: \(server.region), endpoint: '\(server.endpoint)'}",
            environment: server.environment)
    }

    private func answer(_ finished: Finished) throws -> Answer {
        try JSONDecoder().decode(Answer.self, from: Data(finished.output))
    }

    @Test func `rules are written once, beside those of others, which stay byte for byte`() async throws {
        try await ScriptedS3Server.run { server in
            server.lifecycle = Self.document
            let home = try home(server)
            let before = try answer(await home.run("lifecycle", "show", "--json"))
            #expect(before.foreign == 3 && before.rules.count == 5)
            #expect(before.rules.allSatisfy { $0.state == "missing" })
            #expect(before.carriedOutBy == "store" && before.floor.bytes == 131_072)

            let trial = try await home.run("lifecycle", "apply", "--dry-run")
            #expect(trial.code == 0 && trial.text.contains("+ sync-agent-photos-ana"))
            #expect(trial.text.contains("3 rules of others"))
            #expect(server.lifecycle == Self.document)

            let first = try answer(await home.run("lifecycle", "apply", "--json"))
            #expect(first.applied && first.rules.allSatisfy { $0.state == "active" })
            let written = try #require(server.lifecycle)
            for rule in Self.foreign { #expect(written.contains(rule)) }

            let second = try await home.run("lifecycle", "apply")
            #expect(second.code == 0 && second.text.contains("Nothing to do"))
            #expect(server.requests(.putBucketLifecycleConfiguration).count == 1)
            #expect(server.lifecycle == written)
        }
    }

    @Test func `another setting changes our rule in its place, and turning archiving off takes it away`() async throws {
        try await ScriptedS3Server.run { server in
            server.lifecycle = Self.document
            let home = try home(server)
            #expect(try await home.run("lifecycle", "apply").code == 0)
            let configuration = String(decoding: try home.tree.read("config.yaml"), as: UTF8.self)
            try home.configure(configuration + "tiers: {archive_after_days: 30}")
            let changed = try await home.run("lifecycle", "apply")
            #expect(changed.code == 0 && changed.text.contains("~ sync-agent-photos-ana"))
            try home.configure(configuration + "tiers: {mode: 'off'}")
            let off = try await home.run("lifecycle", "apply")
            #expect(off.code == 0 && off.text.contains("- sync-agent-photos-ana"))
            let left = try answer(await home.run("lifecycle", "show", "--json"))
            #expect(left.rules.map(\.id) == ["sync-agent-shares", "sync-agent-uploads"] && left.foreign == 3)
        }
    }

    @Test func `a store that does not know rules ends it with 1, and the way out is named`() async throws {
        try await ScriptedS3Server.run { server in
            let none = Fault.answer(ScriptedAnswer(501, "NotImplemented"))
            server.script(none, on: .getBucketLifecycleConfiguration, numbers: 1...9)
            let home = try home(server)
            for command in ["show", "apply"] {
                let finished = try await home.run("lifecycle", command)
                #expect(finished.code == 1 && finished.complaint.contains("tiers.mode: agent"))
            }
            let configuration = String(decoding: try home.tree.read("config.yaml"), as: UTF8.self)
            try home.configure(configuration + "tiers: {mode: agent}")
            let finished = try await home.run("lifecycle", "show")
            #expect(finished.code == 0 && finished.text.contains("by agent   sync-agent-photos-ana"))
            #expect(try await home.run("lifecycle", "apply").code == 0)
        }
    }

    @Test func `rules that may not be written end it with 77`() async throws {
        try await ScriptedS3Server.run { server in
            server.script(
                .answer(ScriptedAnswer(403, "AccessDenied")), on: .putBucketLifecycleConfiguration, numbers: 1...9)
            let home = try home(server)
            #expect(try await home.run("lifecycle", "apply").code == 77)
        }
    }

    @Test func `the embedded store takes its rules from the configuration, and there is nothing to write`() async throws
    {
        let home = try AgentHome()
        let shown = try await home.run("lifecycle", "show")
        #expect(shown.code == 0 && shown.text.contains("by agent   sync-agent-photos-ana"))
        for line in shown.text.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
        let finished = try await home.run("lifecycle", "apply", "--json")
        let answer = try answer(finished)
        #expect(finished.code == 0 && !answer.applied && answer.carriedOutBy == "agent")
    }

    @Test(arguments: S3Server.available)
    func `a server that keeps no limit of size is told of`(server: S3Server) async throws {
        try await server.makeBucket()
        let home = try server.home()
        let finished = try await home.run("lifecycle", "apply")
        // moto drops them.
        #expect(finished.code == 0)
        #expect(finished.complaint.contains("sync-agent-photos-ana: this store keeps no limit of size"))
        let configuration = String(decoding: try home.tree.read("config.yaml"), as: UTF8.self)
        try home.configure(configuration + "tiers: {minimum_archive_bytes: 0}")
        #expect(try await home.run("lifecycle", "apply").code == 0)
        #expect(try answer(await home.run("lifecycle", "show", "--json")).rules.allSatisfy { $0.state == "active" })
    }
}
