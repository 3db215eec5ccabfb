import Foundation
import Glibc
import SyncCore
import SyncTestSupport
import SystemPackage
import Testing

/// `projects …`, and the agent beside an app that rewrites `projects.json` all the time.
struct ProjectCommandTests {
    private struct Listing: Decodable {
        struct Project: Decodable {
            var id: String
            var state: String
            var key: String?
            var versions: Int
        }

        var projects: [Project]
    }

    private struct Details: Decodable {
        struct Version: Decodable { var key: String }

        var id: String
        var state: String
        var history: [Version]
    }

    private struct Deletion: Decodable {
        struct Project: Decodable {
            var id: String
            var state: String
            var errors: [String]
        }

        var projects: [Project]
        var unknown: [String]
    }

    private struct Export: Decodable {
        var saved: Int
        var withoutImage: [String]
    }

    private struct Migration: Decodable {
        var dryRun: Bool
        var copied: Int
        var removed: Int
    }

    private static func record(_ id: String, _ status: String = "Completed", request: String? = nil) -> String {
        let created = Int(Date().timeIntervalSince1970) - 3_600
        return """
            {"id": "\(id)", "templateId": "t-\(id)", "templateName": "Oil painting", "createdAt": \(created), \
            "status": "\(status)", "requestId": "\(request ?? id)"}
            """
    }

    private let home: AgentHome
    private var list: FilePath { home.projects.appending("projects.json") }

    init() throws {
        home = try AgentHome()
        for (number, id) in ["aa", "bb", "cc"].enumerated() {
            try home.projects.appending("\(id).jpg").create(try SamplePhoto.unique(number))
        }
    }

    /// Writes the list whole and in one step.
    private func write(_ records: [String]) throws {
        try Data("[\(records.joined(separator: ",\n"))]".utf8).write(to: URL(filePath: list.string), options: .atomic)
    }

    private func answer<Value: Decodable>(_ finished: Finished, code: Int32 = 0) throws -> Value {
        #expect(finished.code == code, "\(finished.complaint)")
        return try JSONDecoder().decode(Value.self, from: Data(finished.output))
    }

    /// Earlier lists left out.
    private func stored() throws -> Set<String> {
        let keys = try home.store.objects().map(\.key).filter {
            $0.hasPrefix("users/ana/projects/") && !$0.contains("/projects/versions/")
        }
        return Set(keys.map { String($0.dropFirst("users/ana/projects/".count)) })
    }

    @Test func `images that are left out on purpose are counted and named, and not everything is called safe`()
        async throws
    {
        try write([Self.record("aa"), Self.record("bb", request: "aa"), Self.record("dd", "Failed")])
        try home.projects.appending("dd.jpg").create(try SamplePhoto.unique(7))
        let pass = try await home.run("sync")
        #expect(pass.code == 0 && pass.text.contains("3 left out"), "\(pass.text)")
        let status = try await home.run("status")
        #expect(!status.text.contains("Everything is safe"))
        for reason in ["a duplicate of project aa", "no record in projects.json", "its project failed"] {
            #expect(pass.text.contains(reason) && status.text.contains(reason), "\(reason)")
        }
        try write([Self.record("aa"), Self.record("bb"), Self.record("cc"), Self.record("dd")])
        #expect(try await home.run("sync").code == 0)
        #expect(try await home.run("status").text.contains("Everything is safe"))
    }

    @Test func `projects are listed, shown, exported, deleted and moved`() async throws {
        try write([Self.record("aa"), Self.record("bb"), Self.record("none", "Failed")])
        // A stray image is skipped, and holds nothing up.
        #expect(try await home.pass().pending == 0)
        #expect(try await home.photo(home.projects.appending("cc.jpg"))?.state == "skipped")
        let all: Listing = try answer(await home.run("projects", "list", "--json"))
        #expect(Set(all.projects.map { "\($0.id) \($0.state)" }) == ["aa uploaded", "bb uploaded", "none skipped"])

        try home.projects.appending("aa.jpg").create(try SamplePhoto.unique(7))
        #expect(try await home.pass().uploaded >= 1)
        let shown: Details = try answer(await home.run("projects", "show", "aa", "--json"))
        #expect((shown.id, shown.state, shown.history.count) == ("aa", "uploaded", 1))

        let zip = home.tree.path("out.zip")
        let export: Export = try answer(await home.run("projects", "export", "--zip", zip.string, "--json"))
        #expect((export.saved, export.withoutImage) == (2, ["none"]))
        let archive = try Data(contentsOf: URL(filePath: zip.string))
        #expect(archive.starts(with: Data("PK".utf8)))

        let unasked = try await home.run("projects", "delete", "aa")
        #expect(unasked.code == 64 && unasked.complaint.contains("--yes"))
        let deleted: Deletion = try answer(await home.run("projects", "delete", "--yes", "aa", "--json"))
        #expect(deleted.projects.map { "\($0.id) \($0.state)" } == ["aa deleted"])
        #expect(try stored() == ["bb.jpg", "projects.json"])
        #expect(try !String(contentsOfFile: list.string, encoding: .utf8).contains("aa"))

        let new = home.tree.path("home/New")
        let planned: Migration = try answer(
            await home.run("projects", "migrate", "--dry-run", home.projects.string, new.string, "--json"))
        #expect((planned.dryRun, planned.copied, planned.removed) == (true, 3, 0))
        let moved: Migration = try answer(
            await home.run("projects", "migrate", home.projects.string, new.string, "--json"))
        #expect((moved.dryRun, moved.copied, moved.removed) == (false, 3, 3))
        #expect(access(home.projects.string, F_OK) != 0)
    }

    @Test func `a folder with a project that is half deleted is not moved`() async throws {
        try write([Self.record("aa")])
        _ = try await home.pass()
        let stored = try home.store.objects().map(\.key)
        try list.create(Array("[{".utf8))
        let refused: Deletion = try answer(await home.run("projects", "delete", "--yes", "aa", "--json"), code: 3)
        #expect(refused.projects.map(\.state) == ["kept"])
        #expect(try home.store.objects().map(\.key) == stored)
        // As a process leaves it that was killed.
        try await home.changeLedger(
            "INSERT INTO project_deletions (folder, project_id) VALUES (CAST('\(home.projects)' AS BLOB), 'aa')")
        let new = home.tree.path("home/New").string
        let migration = try await home.run("projects", "migrate", home.projects.string, new)
        #expect(migration.code == 1 && migration.complaint.contains("projects delete aa"))
        try write([Self.record("aa")])
        #expect(try await home.run("projects", "delete", "--yes", "aa").code == 0)
        #expect(try await home.run("projects", "migrate", home.projects.string, new).code == 0)
    }

    @Test(.enabled(if: !Tool.strace.isMissing, "needs strace"), arguments: 1...5)
    func `a project is called deleted only when its folder could be listed`(number: Int) async throws {
        try write([Self.record("aa")])
        _ = try await home.pass()
        let image = home.projects.appending("aa.jpg")
        let options =
            [
                "-f", "-qq", "-P", home.projects.string, "-e", "trace=getdents64",
                "-e", "inject=getdents64:error=EIO:when=\(number)+", "-o", home.tree.path("trace").string, "--",
                AgentBinary.path.string,
            ] + ["projects", "delete", "aa", "--yes"]
        let deletion = try await ChildProcess(
            FilePath(Tool.strace.rawValue), options, environment: home.environment
        ).finished()
        let isGone = access(image.string, F_OK) != 0
        #expect(deletion.code != 0 || isGone, "\(deletion)")
        #expect([0, 66].contains(try await home.run("projects", "delete", "aa", "--yes").code))
        #expect(access(image.string, F_OK) != 0)
    }

    @Test func `an image whose project is still processing is no failure`() async throws {
        try home.projects.appending("aa.jpg").create(try SamplePhoto.truncated(1))
        try write([Self.record("aa", "Processing"), Self.record("bb"), Self.record("cc")])
        #expect(try await home.pass().pending == 1)
        #expect(try await home.overview().lastSyncAt != nil)
        try home.projects.appending("aa.jpg").create(try SamplePhoto.unique(1))
        try write([Self.record("aa"), Self.record("bb"), Self.record("cc")])
        #expect(try await home.pass().pending == 0)
        #expect(try stored() == ["aa.jpg", "bb.jpg", "cc.jpg", "projects.json"])
    }

    @Test func `an app that rewrites the list again and again while the agent runs loses nothing`() async throws {
        try write([])
        let agent = try await home.startAgent()
        let count = 50
        for number in 0..<count {
            let records = (0...number).map { Self.record("p\($0)", request: "r\($0 / 2 * 2)") }
            let image = home.projects.appending("p\(number).jpg")
            try image.create(try SamplePhoto.unique(100 + number))
            if number.isMultiple(of: 5) {
                // In place, and cut off until the agent has been at work beside it.
                let bytes = Array("[\(records.joined(separator: ",\n"))]".utf8)
                try list.create(Array(bytes.prefix(bytes.count / 2)))
                let other = home.gallery.appending("\(number).jpg")
                try other.create(try SamplePhoto.unique(500 + number))
                #expect(try await agent.outcome(of: other) == .stored)
                try list.create(bytes)
            } else {
                try write(records)
            }
            // Some at once, then the agent comes to see one of them; on a slow machine before its record was there, too.
            if number.isMultiple(of: 4) { try await agent.comesToStore(image) }
        }
        let expected = Set(stride(from: 0, to: count, by: 2).map { "p\($0).jpg" } + ["projects.json"])
        let onDisk = try Data(contentsOf: URL(filePath: list.string))
        var seen: Set<String> = []
        try await eventually("the last state in the store", seen: { "\(seen.symmetricDifference(expected))" }) {
            seen = try stored()
            guard seen == expected else { return nil as Void? }
            let object = try home.store.objects().first { $0.key == "users/ana/projects/projects.json" }
            return try object.map { try home.store.bytes(of: $0) } == Array(onDisk) ? () : nil
        }
        agent.send(SIGTERM)
        #expect(try await agent.finished().code == 0)
        let all: Listing = try answer(await home.run("projects", "list", "--json"))
        #expect(all.projects.count == count)
        #expect(all.projects.count { $0.state == "uploaded" } == count / 2)
        #expect(all.projects.count { $0.state == "duplicate" } == count / 2)
        #expect(try home.store.isSound())
    }
}
