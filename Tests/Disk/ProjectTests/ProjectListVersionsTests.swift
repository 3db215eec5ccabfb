import Foundation
import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import Testing

/// `projects.json` in the store, and projects that it does not name any more.
@Suite struct ProjectListVersionsTests {
    private func bench(_ ids: [String]) async throws -> ProjectBench {
        let bench = try ProjectBench()
        for id in ids { try bench.write("image \(id).", to: "\(id).jpg") }
        try bench.list(ids.map { ProjectBench.record($0) })
        try await bench.pass()
        return bench
    }

    @Test func `the list that a reset one replaces stays, however often it is written after it`() async throws {
        let bench = try await bench(["a", "b", "c"])
        let whole = try #require(try bench.content("projects.json"))
        try bench.list([])
        try await bench.pass(versions: 1)
        #expect(try bench.content("projects.json") == "[]")
        #expect(bench.lists == [whole])
        for number in 0..<4 {
            try bench.write("image n.", to: "n\(number).jpg")
            try bench.list((0...number).map { ProjectBench.record("n\($0)", template: "t\($0)") }.suffix(1))
            try await bench.pass(versions: 1)
        }
        #expect(bench.lists.contains(whole))
        #expect(bench.lists.count <= 3)
    }

    @Test func `so many earlier lists stay as are to be kept`() async throws {
        let bench = try await bench(["a"])
        for number in 1...6 {
            try bench.list((0...number).map { ProjectBench.record("a\($0)") })
            try await bench.pass(versions: 3)
        }
        // With the longest, and the last one that names a project.
        #expect((3...5).contains(bench.lists.count))
    }

    @Test func `stored projects that the list does not name are listed`() async throws {
        let bench = try await bench(["a", "b"])
        try bench.list([ProjectBench.record("a")])
        try await bench.pass()
        #expect(try bench.states() == ["a": "uploaded", "b": "unrecorded"])
        #expect(try bench.ledger.unrecordedProjects(in: bench.folder) == ["b"])
        #expect(bench.stored == ["a.jpg", "b.jpg", "projects.json"])
    }

    @Test func `to delete a project that is called like the list leaves earlier lists`() async throws {
        let bench = try await bench(["projects", "a"])
        try bench.list([ProjectBench.record("projects")])
        try await bench.pass()
        #expect(bench.lists.count == 1)
        let targets = try await bench.makeRemover().find("projects", in: [bench.folder])
        #expect(try await bench.makeRemover().remove(targets).map(\.failures) == [[]])
        #expect(bench.lists.count == 1)
        #expect(!bench.stored.contains("projects.jpg"))
    }
}
