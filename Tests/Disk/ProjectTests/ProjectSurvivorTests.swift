import Foundation
import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

/// What becomes of the duplicates of a project that is deleted.
@Suite struct ProjectSurvivorTests {
    private static let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")

    private func bench() async throws -> ProjectBench {
        let bench = try ProjectBench()
        for id in ["a", "b", "c"] { try bench.write("image \(id).", to: "\(id).jpg") }
        try bench.list(["a", "b", "c"].map { ProjectBench.record($0, template: $0 + "t", request: "one request") })
        try await bench.pass()
        #expect(try bench.states() == ["a": "uploaded", "b": "duplicate", "c": "duplicate"])
        return bench
    }

    private func remove(_ id: String, in bench: ProjectBench) async throws {
        let remover = bench.makeRemover()
        let outcomes = try await remover.remove(try await remover.find(id, in: [bench.folder]))
        #expect(outcomes.map(\.failures) == [[]])
    }

    @Test func `the survivor of a project that is deleted is stored`() async throws {
        let bench = try await bench()
        try await remove("a", in: bench)
        try await bench.pass()
        #expect(try bench.states() == ["b": "uploaded", "c": "duplicate"])
        #expect(bench.stored == ["b.jpg", "projects.json"])
        try await remove("b", in: bench)
        try await bench.pass()
        try await bench.pass()
        #expect(try bench.states() == ["c": "uploaded"])
        #expect(bench.stored == ["c.jpg", "projects.json"])
        #expect(try bench.ledger.check() == [])
    }

    @Test func `the survivor of a project that the app deletes is stored`() async throws {
        let bench = try await bench()
        try FileManager.default.removeItem(atPath: bench.folder.appending("a.jpg").string)
        try bench.list(["b", "c"].map { ProjectBench.record($0, template: $0 + "t", request: "one request") })
        try await bench.pass()
        try await bench.pass()
        #expect(try bench.states() == ["a": "unrecorded", "b": "uploaded", "c": "duplicate"])
        #expect(bench.stored == ["a.jpg", "b.jpg", "projects.json"])
        // A replay is none.
        try bench.write("image d.", to: "d.jpg")
        try bench.list(["c", "d"].map { ProjectBench.record($0, template: $0 + "t", request: "one request") })
        try await bench.pass()
        try await bench.pass()
        #expect(try bench.states()["c"] == "uploaded")
        #expect(try bench.states()["d"] == "duplicate")
    }

    @Test func `to delete a project leaves one whose id looks the same`() async throws {
        let bench = try ProjectBench()
        for id in [Self.composed, Self.decomposed] { try bench.write("image \(id.utf8.count).", to: "\(id).jpg") }
        try bench.list([Self.composed, Self.decomposed].map { ProjectBench.record($0) })
        try await bench.pass()
        #expect(bench.stored.count == 3)
        try await remove(Self.composed, in: bench)
        try await bench.pass()
        #expect(bench.stored.map(\.inBytes) == ["\(Self.decomposed).jpg".inBytes, "projects.json"])
        let files = try bench.tree.files(below: "projects").map(\.inBytes)
        #expect(files.contains("\(Self.decomposed).jpg".inBytes) && !files.contains("\(Self.composed).jpg".inBytes))
        let list = try ProjectList(Array(try bench.tree.read("projects/projects.json")))
        #expect(list.records.map(\.id.inBytes) == [Self.decomposed.inBytes])
        #expect(try bench.entries().map(\.record.id.inBytes) == [Self.decomposed.inBytes])
    }
}

/// What becomes of the duplicates of a project whose image is broken: in these tests, one without a full stop.
@Suite struct ProjectBrokenOriginalTests {
    private func list(_ ids: [String], in bench: ProjectBench) throws {
        try bench.list(ids.map { ProjectBench.record($0, template: $0 + "t", request: "one request") })
    }

    @Test func `a duplicate is stored where the image of the original is broken, now or later`() async throws {
        let bench = try ProjectBench()
        try bench.write("image a", to: "a.jpg")
        try bench.write("image b.", to: "b.jpg")
        try list(["a", "b"], in: bench)
        try await bench.pass()
        try await bench.pass()
        #expect(bench.stored.contains("b.jpg"))
        #expect(try bench.states() == ["a": "failed", "b": "uploaded"])
    }

    @Test func `two broken images of one request fail both, and end`() async throws {
        let bench = try ProjectBench()
        try bench.write("image a", to: "a.jpg")
        try bench.write("image b", to: "b.jpg")
        try list(["a", "b"], in: bench)
        try await bench.pass()
        try await bench.pass()
        #expect(try bench.states() == ["a": "failed", "b": "failed"])
        #expect(bench.stored.filter { $0.hasSuffix(".jpg") } == [])
    }
}
