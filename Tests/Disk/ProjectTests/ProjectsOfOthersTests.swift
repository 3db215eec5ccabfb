import Foundation
import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import Testing

/// Projects folders of two machines that store in the same place.
@Suite struct ProjectsOfOthersTests {
    /// Two machines with one image of the project `a`, which the catalogue of the first one names.
    private func besideOther() async throws -> ProjectBench {
        let other = try ProjectBench()
        try other.list([ProjectBench.record("a")])
        try other.write("image a.", to: "a.jpg")
        try await other.pass()
        try await other.writeCatalog()
        let bench = try ProjectBench(memory: other.memory)
        try bench.list([ProjectBench.record("a")])
        try bench.write("image a.", to: "a.jpg")
        try bench.write("{}", to: "a-metadata.json")
        try await bench.pass()
        return bench
    }

    private func asked(_ bench: ProjectBench) async throws -> [ProjectRemover.Target] {
        try await bench.makeRemover().weighed(try await bench.makeRemover().find("a", in: [bench.folder]))
    }

    private func unasked(_ bench: ProjectBench) async throws -> [ProjectRemover.Outcome] {
        let remover = bench.makeRemover()
        return try await remover.remove(try await remover.find("a", in: [bench.folder]))
    }

    private func projectObjects(_ bench: ProjectBench) throws -> [String] {
        try ["a-metadata.json", "a.jpg"].filter { try bench.content($0) != nil }
    }

    @Test func `what the catalogue of another machine names stays in the store, and is told`() async throws {
        let bench = try await besideOther()
        #expect(try projectObjects(bench) == ["a-metadata.json", "a.jpg"])
        let targets = try await asked(bench)
        let image = try bench.key("a.jpg")
        #expect(targets.map(\.needed) == [[image]] && targets.map(\.keys.count) == [1])
        let outcomes = try await bench.makeRemover().remove(targets)
        #expect(outcomes.map(\.failures) == [[]])
        #expect(outcomes.map(\.target.needed) == [[image]])
        #expect(try projectObjects(bench) == ["a.jpg"])
        #expect(try bench.tree.files(below: "projects") == ["projects.json"])
        // It is no longer this machine's, or its own catalogue would name it.
        #expect(try bench.status("a.jpg") == nil)
        #expect(try bench.ledger.check() == [])
    }

    @Test func `where a catalogue of another machine cannot be read, nothing of a project is deleted`() async throws {
        let bench = try await besideOther()
        let segments = bench.memory.keys.filter { $0.rawValue.hasPrefix("users/ana/catalog/") }
        #expect(!segments.isEmpty)
        for segment in segments { bench.memory.damage(segment) }
        let targets = try await asked(bench)
        let outcomes = try await bench.makeRemover().remove(targets)
        let failure = try #require(outcomes.first?.failures.first)
        #expect(failure.hasPrefix("whether another machine needs what is stored of it is not known"))
        #expect(try bench.states()["a"] == "uploaded")
        // Also where that shows only when somebody has said yes.
        #expect(try await unasked(bench).map(\.failures.count) == [1])
        #expect(try projectObjects(bench) == ["a-metadata.json", "a.jpg"])
        #expect(try bench.tree.files(below: "projects").contains("a.jpg"))
    }

    @Test(arguments: ["sub/x.jpg", "extra.json"])
    func `a file without versions takes the place of its own machine's, and of no other machine's`(name: String)
        async throws
    {
        func text(_ number: Int) -> String { name.hasSuffix(".json") ? #"{"n": \#(number)}"# : "image \(number)." }
        let other = try ProjectBench()
        for number in 1...2 {
            try other.write(text(number), to: name)
            try await other.pass()
            #expect(try other.content(name) == text(number))
        }
        try await other.writeCatalog()
        let bench = try ProjectBench(memory: other.memory)
        try bench.write(text(3), to: name)
        try await bench.pass()
        #expect(try bench.content(name) == text(2))
        let refused = try #require(try bench.status(name))
        #expect(refused.state != .uploaded)
        #expect(refused.why?.contains("another machine has stored another file under this name") == true)
        // The first one still may.
        try other.write(text(4), to: name)
        try await other.pass()
        #expect(try other.content(name) == text(4))
        #expect(try bench.ledger.check() == [] && other.ledger.check() == [])
    }
}
