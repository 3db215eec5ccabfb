import Foundation
import Glibc
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

/// Pages that follow what happens.
struct GalleryEventTests {
    @Test func `whoever follows a page is told when it would show something else`() async throws {
        let home = try AgentHome(restoring: 0, more: #"serve: {enabled: true, listen: "127.0.0.1:0"}"#)
        let agent = try home.start(["run"])
        let line = try await agent.logged { $0.contains("the gallery is at ") }
        let port = try #require(line.split(separator: "http://127.0.0.1:").last?.prefix { $0 != "/" })
        let file = home.tree.path("state/sync-agent/gallery.url")
        let address = try await eventually("the address of the gallery") { () -> String? in
            let text = String(decoding: (try? file.bytes) ?? [], as: UTF8.self)
            return text.hasSuffix("\n") ? String(text.dropLast()) : nil
        }
        let jar = ["-s", "-b", home.tree.path("jar").string, "-c", home.tree.path("jar").string]
        let events = "http://127.0.0.1:\(port)/events?page="
        func ask(_ url: String, _ options: [String] = []) async throws -> String {
            String(decoding: try await Tool.run("/usr/bin/curl", jar + options + [url], home: home), as: UTF8.self)
        }
        let code = ["-o", "/dev/null", "-w", "%{http_code}"]
        #expect(try await ask(events + "vacations", code) == "401")
        _ = try await ask(address)
        #expect(try await ask(events + "photo", code) == "404")
        let output = home.tree.path("events")
        let follower = try ChildProcess(
            "/usr/bin/curl", jar + ["-N", "-o", output.string, events + "vacations"], environment: home.environment)
        func told() -> String { String(decoding: (try? output.bytes) ?? [], as: UTF8.self) }
        _ = try await eventually("the stream to begin") { told().hasPrefix("retry:") ? true : nil }
        #expect(!told().contains("changed"))
        for number in 0..<2 { try home.photo(number).create(SamplePhoto.taken(number)) }
        _ = try await eventually("the change to be told") { told().contains("data: changed\n\n") ? true : nil }
        // Each of them makes a page again and again.
        var more: [ChildProcess] = []
        for number in 0..<7 {
            let place = home.tree.path("more-\(number)")
            more.append(
                try ChildProcess(
                    "/usr/bin/curl", jar + ["-N", "-o", place.string, events + "shares"], environment: home.environment)
            )
            _ = try await eventually("the stream to begin") {
                ((try? place.bytes) ?? []).isEmpty ? nil : true
            }
        }
        #expect(try await ask(events + "status", code) == "503")
        for process in [follower] + more {
            process.send(SIGTERM)
            _ = try await process.finished()
        }
        agent.send(SIGTERM)
        #expect(try await agent.finished().code == 0)
    }
}
