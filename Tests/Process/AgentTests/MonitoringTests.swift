import Foundation
import Glibc
import SyncTestSupport
import SystemPackage
import Testing

/// What monitoring gets to see of passes.
struct MonitoringTests {
    private func check(_ home: AgentHome) async throws -> (code: Int32?, words: String) {
        let finished = try await home.run("status", "--check")
        #expect(finished.text.split(separator: "\n").count == 1 && finished.complaint.isEmpty)
        return (finished.code, String(finished.text.split(separator: "|").first ?? ""))
    }

    @Test func `status --check ends with the code of its word`() async throws {
        let home = try AgentHome()
        try home.gallery.appending("a.jpg").create(SamplePhoto.unique(1))
        #expect(try await check(home).code == 1)
        #expect(try await home.run("sync").code == 0)
        #expect(try await check(home) == (0, "SYNC-AGENT OK - 1 photo stored, 0 waiting "))
        try home.gallery.appending("b.jpg").create(SamplePhoto.truncated(2))
        #expect(try await home.run("sync").code == 3)
        #expect(try await check(home) == (1, "SYNC-AGENT WARNING - 1 cannot be stored "))
        try home.configure("user: ana\nwatch: no list")
        let (code, words) = try await check(home)
        #expect(code == 3 && words.hasPrefix("SYNC-AGENT UNKNOWN - "))
    }

    @Test func `a folder that is configured beside an agent is not called safe before it was looked at`() async throws {
        let home = try AgentHome()
        try home.gallery.appending("a.jpg").create(SamplePhoto.unique(1))
        #expect(try await home.run("sync").code == 0)
        let agent = try await home.startAgent()
        let added = try home.tree.makeFolder("home/Added")
        try added.appending("b.jpg").create(SamplePhoto.unique(2))
        let config = String(decoding: try home.tree.read("config.yaml"), as: UTF8.self)
        try home.configure(config.replacing("watch:\n", with: "watch:\n  - {kind: gallery, path: \(added)}\n"))
        let (code, words) = try await check(home)
        #expect(code == 1 && words.contains("\(added): it was not looked at yet; start the agent again"), "\(words)")
        let status = try await home.run("status").text
        #expect(status.contains("Not safe yet") && !status.contains("Everything is safe"), "\(status)")
        let problems = try await home.overview().folders.map(\.problem)
        #expect(problems.count == 4 && problems[0]?.contains("not looked at yet") == true)
        #expect(problems.dropFirst().allSatisfy { $0 == nil })
        #expect(
            try await home.run("doctor", "--json").text.contains(
                "the agent at work does not know it as it is configured"))
        agent.send(SIGTERM)
        #expect(try await agent.finished().code == 0)
        #expect(try await home.run("sync").code == 0)
        #expect(try await check(home) == (0, "SYNC-AGENT OK - 2 photos stored, 0 waiting "))
        #expect(try await home.run("status").text.contains("Everything is safe, as of the last pass at "))
    }

    @Test func `where the ledger cannot be read, doctor does not say that a store that is not there never was`()
        async throws
    {
        let home = try AgentHome()
        func examine() async throws -> DoctorAnswer {
            let finished = try await home.run("doctor", "--json")
            return try JSONDecoder().decode(DoctorAnswer.self, from: Data(finished.output))
        }
        // Where there is no ledger, there was no store.
        let before = try await examine()
        #expect(before["ledger"]?.state == "ok" && before["store"]?.state == "ok")
        try home.tree.write(String(repeating: "no ledger ", count: 1_000), to: "state/sync-agent/ledger.sqlite")
        let answer = try await examine()
        #expect(answer["ledger"]?.state == "wrong" && answer["store"]?.state == "limited", "\(answer)")
        #expect(answer["store"]?.remedy?.contains("ledger") == true)
    }

    @Test func `a good pass is heard, and one after which a photo has failed is not`() async throws {
        let server = try RecordingServer(statuses: [200])
        let home = try AgentHome(more: "notify: {heartbeat: 'http://127.0.0.1:\(server.port)/t0k3n'}")
        try home.gallery.appending("a.jpg").create(SamplePhoto.unique(1))
        #expect(try await home.run("sync").code == 0)
        #expect(server.requests.map(\.target) == ["/t0k3n"])
        try home.gallery.appending("b.jpg").create(SamplePhoto.truncated(2))
        #expect(try await home.run("sync").code == 3)
        #expect(server.requests.count == 1)
        await server.stop()
        // The port of a server that has ended may be another test's by now.
        let silent = try SilentPort(listens: false)
        let config = String(decoding: try home.tree.read("config.yaml"), as: UTF8.self)
        try home.configure(config.replacing(":\(server.port)/", with: ":\(silent.number)/"))
        try home.gallery.appending("b.jpg").remove()
        let unheard = try await home.run("sync")
        withExtendedLifetime(silent) {}
        #expect(unheard.code == 0)
        #expect(unheard.complaint.contains("the heartbeat is not heard: notify.heartbeat cannot be reached"))
        #expect(!unheard.complaint.contains("t0k3n"))
    }

    @Test func `the agent writes its metrics after a pass, and tells a photo that fails once, whatever restarts`()
        async throws
    {
        let tree = try TemporaryTree()
        let (metrics, told) = (tree.path("agent.prom"), tree.path("told"))
        let home = try AgentHome(
            more: """
                metrics: {textfile: '\(metrics)'}
                notify: {command: [sh, -c, 'echo "$SYNC_AGENT_KIND $SYNC_AGENT_OVER" >> \(told)']}
                """)
        try home.gallery.appending("a.jpg").create(SamplePhoto.unique(1))
        try home.gallery.appending("b.jpg").create(SamplePhoto.truncated(2))
        for _ in 1...2 {
            if let old = try? tree.read("agent.prom"), !old.isEmpty { try metrics.remove() }
            let agent = try await home.startAgent()
            _ = try await eventually("the metrics", seen: { "none" }) {
                let text = (try? tree.read("agent.prom")).map { String(decoding: $0, as: UTF8.self) } ?? ""
                return text.contains("state=\"failed\"} 1\n") && text.contains("sync_agent_uploads_total 1\n")
                    ? text : nil
            }
            // The shell makes the file before it writes.
            try await eventually("the notice", seen: { "none" }) {
                ((try? tree.read("told")) ?? []).isEmpty ? nil : ()
            }
            agent.send(SIGTERM)
            _ = try await agent.finished()
        }
        #expect(try String(decoding: tree.read("told"), as: UTF8.self) == "photoFailed false\n")
    }
}
