import Foundation
import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct ProjectStoringTests {
    @Test func `completed projects are stored with their metadata, and the list after them`() async throws {
        let bench = try ProjectBench()
        for id in ["a", "b", "z"] { try bench.write("image \(id).", to: "\(id).jpg") }
        try bench.write("{}", to: "a-metadata.json")
        try bench.list([
            ProjectBench.record("a"), ProjectBench.record("b", "Failed"), ProjectBench.record("z", request: "r"),
            ProjectBench.record("again", age: 60, request: "r"),
        ])
        try bench.write("image again.", to: "again.jpg")
        try await bench.pass()
        #expect(bench.stored == ["a-metadata.json", "a.jpg", "projects.json", "z.jpg"])
        let puts = bench.store.calls.filter { $0.operation == .put }.map(\.key)
        #expect(puts.last == "users/ana/projects/projects.json")
        #expect(puts.count == 4)
        #expect(try bench.states() == ["a": "uploaded", "b": "skipped", "z": "uploaded", "again": "duplicate"])
        #expect(try bench.status("again.jpg")?.error == "a duplicate of project z")
        #expect(
            try bench.entries().map(\.record.id)
                == ["again", "z", "b", "a"].sorted { left, right in
                    left == "again" || (right != "again" && left < right)
                })
    }

    @Test func `of two projects of one image, that one counts whose image is there, also when it comes later`()
        async throws
    {
        let bench = try ProjectBench()
        try bench.list([
            ProjectBench.record("a", request: "r"), ProjectBench.record("b", age: 60, request: "r"),
        ])
        try await bench.pass()
        #expect(try bench.states() == ["a": "pending", "b": "duplicate"])
        try bench.write("image b.", to: "b.jpg")
        try await bench.pass()
        #expect(bench.stored == ["b.jpg", "projects.json"])
        #expect(try bench.states() == ["a": "duplicate", "b": "uploaded"])
        try bench.write("image a.", to: "a.jpg")
        try await bench.pass()
        #expect(try bench.states() == ["a": "duplicate", "b": "uploaded"])
    }

    @Test func `a folder without a list stores what is in it`() async throws {
        let bench = try ProjectBench()
        try bench.write("image a.", to: "a.jpg")
        try bench.write("{}", to: "deeper/projects.json")
        try await bench.pass()
        #expect(bench.stored == ["a.jpg", "deeper/projects.json"])
    }

    @Test func `an image without a record is skipped, and is stored as soon as it has one`() async throws {
        let bench = try ProjectBench()
        try bench.write("image a.", to: "a.jpg")
        try bench.list([])
        try await bench.pass()
        #expect(bench.stored == ["projects.json"])
        let stray = try #require(try bench.status("a.jpg"))
        #expect((stray.state, stray.error) == (.skipped, "no record in projects.json"))
        #expect(try !bench.ledger.isAnythingUnsynced())
        try bench.list([ProjectBench.record("a")])
        try await bench.pass()
        #expect(bench.stored == ["a.jpg", "projects.json"])
    }

    @Test func `a record that cannot be used is told as such wherever its project is, until it is right`() async throws
    {
        let bench = try ProjectBench()
        let good = ProjectBench.record("a")
        let bad = [
            (good.replacing(#""templateId": "a""#, with: #""templateId": null"#), "it has no templateId"),
            (good.replacing("Completed", with: "Done"), "its status is none of Processing, Completed and Failed"),
            (good.replacing(#""templateId""#, with: #""template""#), "it has no templateId"),
        ]
        try bench.write("image a.", to: "a.jpg")
        for (record, problem) in bad {
            let reason = "its record in projects.json cannot be used: \(problem)"
            try bench.list([record])
            try await bench.pass()
            let image = try #require(try bench.status("a.jpg"))
            #expect((image.state, image.error) == (.skipped, reason))
            // Whoever has not read the list itself tells the same.
            let other = ProjectListSync(ledger: bench.ledger, time: bench.clock.source, logger: bench.words.logger)
            for listSync in [bench.listSync, other] {
                let listing = ProjectListing(
                    ledger: bench.ledger, listSync: listSync, now: { [clock = bench.clock] in clock.now })
                let entries = try listing.entries(in: [bench.folder])
                #expect(entries.map(\.state) == [.skipped] && entries.map(\.reason) == [reason])
                #expect(entries.map(\.record.templateName) == ["T a"])
            }
        }
        try bench.list([])
        try await bench.pass()
        #expect(try bench.status("a.jpg")?.error == "no record in projects.json")
        #expect(try bench.states().isEmpty)
        try bench.list([good])
        try await bench.pass()
        #expect(try bench.states() == ["a": "uploaded"])
        try bench.list([bad[0].0])
        let stored = try #require(try bench.entries().first)
        #expect(stored.state == .unrecorded && stored.reason?.hasSuffix("it has no templateId") == true)
    }

    @Test func `an image in the making is stored when it is whole`() async throws {
        let bench = try ProjectBench()
        try bench.write("image half", to: "a.jpg")
        try bench.list([
            ProjectBench.record("a", "Processing", age: 60), ProjectBench.record("b", "Processing", age: 60),
        ])
        try await bench.pass()
        #expect(bench.stored == ["projects.json"])
        #expect(try bench.states() == ["a": "pending", "b": "pending"])
        #expect(try bench.status("a.jpg")?.error == "its project is still processing, and the image is not whole yet")
        #expect(try !bench.ledger.isAnythingUnsynced())
        #expect(try bench.ledger.unfinishedProjectImages() == 1)
        try bench.write("image whole.", to: "a.jpg")
        try await bench.pass()
        #expect(bench.stored == ["a.jpg", "projects.json"])
        #expect(try bench.states() == ["a": "uploaded", "b": "pending"])
    }

    @Test func `a project that processes for more than 24 h is dropped and told once, until it is completed`()
        async throws
    {
        let bench = try ProjectBench()
        try bench.write("image half", to: "a.jpg")
        try bench.list([ProjectBench.record("a", "Processing", age: 23 * 3_600)])
        try await bench.pass()
        #expect(try bench.status("a.jpg")?.state == .pending)
        bench.clock.jump(.seconds(2 * 3_600))
        for _ in 1...2 {
            try bench.listSync.giveUp(in: bench.folder)
            try await bench.pass()
        }
        #expect(bench.words.all.count { $0.contains("project a has been processing for more than 24 h") } == 1)
        #expect(try bench.status("a.jpg")?.state == .skipped)
        #expect(try bench.states() == ["a": "dropped"])
        try bench.write("image whole.", to: "a.jpg")
        try bench.list([ProjectBench.record("a", age: 23 * 3_600)])
        try await bench.pass()
        #expect(try bench.states() == ["a": "uploaded"])
    }

    @Test(
        arguments: ["[{\"id\": \"a\", ", "", "[{}, x]", "\u{0}\u{0}"])
    func `a list that is half-written or damaged keeps its last good state, and is told once`(text: String) async throws
    {
        let bench = try ProjectBench()
        try bench.write("image a.", to: "a.jpg")
        try bench.list([ProjectBench.record("a"), ProjectBench.record("b")])
        try await bench.pass()
        let good = try bench.content("projects.json")
        // A list is looked at once a second.
        bench.clock.jump(.seconds(2))
        try bench.write(text, to: "projects.json")
        try bench.write("image b.", to: "b.jpg")
        try bench.write("image new.", to: "new.jpg")
        for _ in 1...3 { try await bench.pass() }
        #expect(try bench.content("projects.json") == good)
        #expect(try bench.status("projects.json")?.state == .failed)
        // What it said before counts.
        #expect(try bench.states() == ["a": "uploaded", "b": "uploaded"])
        #expect(try bench.status("new.jpg")?.state == .pending)
        #expect(bench.words.all.count { $0.contains("what it said before counts") } == 1)
        try bench.list([ProjectBench.record("a"), ProjectBench.record("b"), ProjectBench.record("new")])
        try await bench.pass()
        #expect(try bench.states().values.allSatisfy { $0 == "uploaded" })
        #expect(try bench.content("projects.json")?.contains("\"new\"") == true)
    }

    @Test func `a list that is gone keeps its last good state`() async throws {
        let bench = try ProjectBench()
        try bench.list([ProjectBench.record("a", "Failed")])
        try await bench.pass()
        unlink(bench.folder.appending("projects.json").string)
        // A list is looked at once a second.
        bench.clock.jump(.seconds(2))
        try bench.write("image a.", to: "a.jpg")
        try bench.write("image b.", to: "b.jpg")
        try await bench.pass()
        #expect(try bench.status("a.jpg")?.state == .skipped)
        #expect(try bench.status("b.jpg")?.state == .pending)
        #expect(bench.words.all.count { $0.contains("it is gone") } == 1)
    }

    @Test func `a link in the list's place is named as one`() throws {
        let bench = try ProjectBench()
        try bench.list([ProjectBench.record("a")])
        let (list, elsewhere) = (bench.folder.appending("projects.json"), bench.folder.appending("elsewhere.json"))
        #expect(rename(list.string, elsewhere.string) == 0)
        #expect(symlink(elsewhere.string, list.string) == 0)
        guard case .refused(let reason, _) = ProjectListFile(in: bench.folder).read(unless: nil) else {
            Issue.record("a link was read")
            return
        }
        #expect(reason == "it is a symbolic link, which is not followed; put the file itself there")
    }

    @Test func `a bad record is named, and the others are stored`() async throws {
        let bench = try ProjectBench()
        try bench.write("image a.", to: "a.jpg")
        try bench.list([#"{"id": "odd"}"#, ProjectBench.record("a")])
        try await bench.pass()
        #expect(bench.stored == ["a.jpg", "projects.json"])
        try bench.list([ProjectBench.record("a"), #"{"id": "odd"}"#])
        try await bench.pass()
        #expect(bench.words.all.count == 1)
        #expect(bench.words.all.allSatisfy { $0.hasSuffix("record 1 (odd) is left out: it has no templateId") })
    }
}
