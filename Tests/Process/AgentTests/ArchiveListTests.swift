import Foundation
import Glibc
import SyncTestSupport
import SystemPackage
import Testing

/// `archive list` and `archive download`, over what `cleanup` has archived.
struct ArchiveListTests {
    private struct Listing: Decodable {
        struct Photo: Decodable {
            var key: String
            var profile: String
            var eventId: String
            var eventType: String?
            var createdAt: String
            var archivedAt: String?
            var size: Int
            var storageClass: String
            var badge: String?
            var title: String?
            var width: Int?
            var height: Int?
        }

        var photos: [Photo]
        var next: String?
    }

    private struct Saved: Decodable {
        struct Restore: Decodable {
            var jobId: String?
        }

        var saved: Int
        var alreadyThere: Int
        var archived: Int
        var retrieving: Int
        var failed: [[String: String]]
        var restore: Restore?
    }

    private static let types = ["taskResponse", "profileCreated"]

    /// A home in which six photos of two profiles are archived, the newest being `e5`.
    private func makeHome(more: String = "") async throws -> AgentHome {
        let home = try AgentHome(restoring: 1, more: more)
        let events = try (0..<6).map { index in
            let photo = Data(try SamplePhoto.unique(index)).base64EncodedString()
            return """
                {"id":"e\(index)","profileId":"p\(index % 2)","eventType":"\(Self.types[index % 2])",\
                "createdAt":"2025-0\(1 + index / 2)-1\(index)T08:15:00Z","taskTitle":"Title \(index)","photoData":"\(photo)"}
                """
        }
        try home.gallery.appending("events.json").create(Array("[\(events.joined(separator: ","))]".utf8))
        // An empty folder would be taken for a drive that is not mounted.
        try home.gallery.appending("plain.jpg").create(SamplePhoto.unique(7))
        _ = try await home.pass()
        let cleanup = try await home.run("cleanup")
        #expect(cleanup.code == 0, "\(cleanup.complaint)")
        return home
    }

    private func list(_ home: AgentHome, _ arguments: String...) async throws -> Listing {
        try await decode(home, ["archive", "list", "--json"] + arguments)
    }

    private func download(_ home: AgentHome, _ arguments: String..., code: Int32 = 0) async throws -> Saved {
        try await decode(home, ["archive", "download", "--json"] + arguments, code: code)
    }

    private func decode<Answer: Decodable>(
        _ home: AgentHome, _ arguments: [String], code: Int32 = 0
    ) async throws -> Answer {
        let finished = try await home.start(arguments).finished()
        #expect(finished.code == code, "\(finished.complaint)")
        return try JSONDecoder().decode(Answer.self, from: Data(finished.output))
    }

    private func forgetLedger(_ home: AgentHome) throws {
        try FileManager.default.removeItem(atPath: home.tree.path("state").string)
    }

    // MARK: List

    @Test func `a machine that knows nothing but the store lists all of it, page by page`() async throws {
        let home = try await makeHome()
        try forgetLedger(home)
        let all = try await list(home)
        #expect(all.photos.map(\.eventId) == ["e5", "e4", "e3", "e2", "e1", "e0"])
        #expect(all.next == nil)
        let first = try #require(all.photos.first)
        #expect(first.key == "gallery-archive/ana/p1/2025/03/e5.jpg")
        #expect((first.profile, first.eventType, first.createdAt) == ("p1", "profileCreated", "2025-03-15T08:15:00Z"))
        #expect((first.title, first.storageClass, first.badge) == ("Title 5", "STANDARD", nil))
        #expect(first.size > 100 && first.width != nil && first.height != nil && first.archivedAt != nil)
        var seen: [String] = []
        var page = try await list(home, "--limit", "4")
        seen += page.photos.map(\.eventId)
        page = try await list(home, "--limit", "4", "--after", #require(page.next))
        seen += page.photos.map(\.eventId)
        #expect(page.next == nil)
        #expect(seen == all.photos.map(\.eventId))
        #expect(!FileManager.default.fileExists(atPath: home.tree.path("state").string))
    }

    @Test func `filters narrow it, also beside a running agent`() async throws {
        let home = try await makeHome()
        let agent = try await home.startAgent()
        #expect(try await list(home, "--profile", "p0").photos.map(\.eventId) == ["e4", "e2", "e0"])
        #expect(try await list(home, "--type", "taskResponse").photos.map(\.eventId) == ["e4", "e2", "e0"])
        let days = try await list(home, "--from", "2025-02-01", "--to", "2025-03-14")
        #expect(days.photos.map(\.eventId) == ["e4", "e3", "e2"])
        let table = try await home.run("archive", "list", "--limit", "1")
        #expect(table.text.contains("2025-03-15 08:15  p1"))
        #expect(table.text.contains("--after gallery-archive/ana/p1/2025/03/e5.jpg"))
        agent.send(SIGTERM)
        #expect(try await agent.finished().code == 0)
    }

    @Test func `a ledger that is damaged where profiles stand costs their names`() async throws {
        let home = try await makeHome()
        let whole = try await list(home)
        try await home.changeLedger("DROP TABLE profile_merges")
        #expect(try await list(home).photos.map(\.eventId) == whole.photos.map(\.eventId))
        let table = try await home.run("archive", "list")
        #expect(table.code == 0)
        #expect(table.complaint.contains("names of profiles cannot be shown"))
    }

    @Test(arguments: ["state/sync-agent/ledger.sqlite", "state/sync-agent"])
    func `a ledger that cannot be opened is told, and no list is made without it`(locked: String) async throws {
        let home = try await makeHome()
        _ = try await home.run("sync")
        let place = home.tree.path(locked)
        let mode: mode_t = locked.hasSuffix("ledger.sqlite") ? 0o600 : 0o700
        for command in [["list"], ["download", "--output", home.tree.path("out").string]] {
            try place.setMode(0)
            let finished = try await home.runBoundByPermissions(["archive"] + command)
            try place.setMode(mode)
            #expect(finished.code == 77 && finished.complaint.contains("Permission denied"), "\(finished)")
            #expect(finished.text.isEmpty)
        }
    }

    @Test func `a page after what is not there is an unknown path, and a date that does not exist is usage`()
        async throws
    {
        let home = try await makeHome()
        let gone = try await home.run("archive", "list", "--after", "gallery-archive/ana/p1/2025/03/gone.jpg")
        #expect(gone.code == 66)
        #expect(try await home.run("archive", "list", "--after", "../etc").code == 64)
        #expect(try await home.run("archive", "list", "--from", "2025-02-30").code == 64)
    }

    @Test func `a contact sheet has all pictures in it, and replaces nothing unasked`() async throws {
        let home = try await makeHome()
        let sheet = home.tree.path("sheet.html")
        #expect(try await home.run("archive", "list", "--html", sheet.string).code == 0)
        let text = String(decoding: try home.tree.read("sheet.html"), as: UTF8.self)
        #expect(text.components(separatedBy: "data:image/jpeg;base64,").count == 7)
        #expect(text.contains("Title 5"))
        #expect(try await home.run("archive", "list", "--html", sheet.string, "--limit", "1").code == 1)
        #expect(String(decoding: try home.tree.read("sheet.html"), as: UTF8.self) == text)
        #expect(try await home.run("archive", "list", "--html", sheet.string, "--limit", "1", "--force").code == 0)
        #expect(try home.tree.read("sheet.html").count < text.utf8.count)
        // A path that was mistyped.
        let settings = try home.tree.read("config.yaml")
        let refused = try await home.run(
            "archive", "list", "--html", home.tree.path("config.yaml").string, "--limit", "1", "--force")
        #expect(refused.code == 64 && refused.complaint.contains("no contact sheet"), "\(refused)")
        #expect(try home.tree.read("config.yaml") == settings)
    }

    // MARK: Download

    @Test func `all that can be read is saved, into a folder and into an archive that Python reads`() async throws {
        let home = try await makeHome()
        let folder = home.tree.path("out")
        #expect(try await download(home, "--output", folder.string).saved == 6)
        #expect(try await download(home, "--output", folder.string).alreadyThere == 6)
        let names = try home.tree.files(below: "out")
        #expect(names.first == "2025-01-10_p0_e0.jpg")
        let zip = home.tree.path("out.zip")
        #expect(try await download(home, "--zip", zip.string).saved == 6)
        let script = """
            import sys, zipfile, os
            z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None
            for n in z.namelist(): assert z.read(n) == open(os.path.join(sys.argv[2], n), "rb").read(), n
            print(sorted(z.namelist()) == sorted(os.listdir(sys.argv[2])))
            """
        let python = try await ChildProcess(
            "/usr/bin/python3", ["-c", script, zip.string, folder.string], environment: ["PATH": "/usr/bin:/bin"]
        ).finished()
        #expect(python.text == "True\n", "\(python.complaint)")
        // Nothing hidden is left.
        #expect(try home.tree.files().allSatisfy { !$0.contains("sync-agent-part") && !$0.contains("scratch") })
    }

    @Test func `what is archived is left out, then asked for, then saved`() async throws {
        let home = try await makeHome(more: AgentHome.archivesAtOnce)
        _ = try await home.pass()
        #expect(try await list(home).photos.allSatisfy { $0.badge == "archived" && $0.storageClass == "DEEP_ARCHIVE" })
        let sheet = home.tree.path("sheet.html")
        #expect(try await home.run("archive", "list", "--html", sheet.string).code == 0)
        #expect(!String(decoding: try home.tree.read("sheet.html"), as: UTF8.self).contains("data:image/jpeg"))

        let folder = home.tree.path("out").string
        let none = try await download(home, "--output", folder)
        #expect((none.saved, none.archived, none.restore?.jobId) == (0, 6, nil))
        let costly = try await home.run("archive", "download", "--output", folder, "--restore", "--max-cost", "0")
        #expect(costly.code == 1)
        #expect(try await home.restores().isEmpty)
        let asked = try await download(home, "--output", folder, "--restore", "--tier", "bulk")
        #expect((asked.saved, asked.restore?.jobId) == (0, "1"))
        _ = try await home.refreshed { $0.state == "ready" }
        #expect(try await download(home, "--output", folder).saved == 6)
    }

    @Test func `a store that is not there is said to be unreachable`() async throws {
        let home = try await makeHome()
        try FileManager.default.removeItem(atPath: home.store.root.string)
        #expect(try await home.run("archive", "list").code == 69)
        #expect(try await home.run("archive", "download", "--output", home.tree.path("out").string).code == 69)
    }
}
