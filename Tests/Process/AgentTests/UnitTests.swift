import Foundation
import SyncTestSupport
import SystemPackage
import Testing

/// What goes with a photo is stored, told and brought back with it.
struct UnitTests {
    private typealias Fields = [String: Any]

    private static let xmp = #"<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF/></x:xmpmeta>"#

    private func entry(_ home: AgentHome, _ path: FilePath) async throws -> Fields {
        let finished = try await home.run("status", "--json", path.string)
        let answer = try JSONSerialization.jsonObject(with: Data(finished.output)) as? Fields
        return try #require((answer?["files"] as? [Fields])?.first)
    }

    @Test func `sidecars are stored beside their photo, which names them, and come back with it`() async throws {
        let home = try AgentHome()
        let photo = home.gallery.appending("a.jpg")
        try photo.create(SamplePhoto.taken(0))
        for name in ["a.xmp", "a.jpg.xmp"] {
            try home.gallery.pushing(FilePath(name)).create(Array((Self.xmp + name).utf8) + [0x3E])
        }
        try home.gallery.appending("b.txt").create(Array("text".utf8))
        let pass = try await home.pass()
        #expect(pass.uploaded == 3 && pass.failed == 0)

        let parts = try #require(try await entry(home, photo)["parts"] as? [Fields])
        #expect(parts.map { $0["role"] as? String } == ["sidecar", "sidecar"])
        #expect(parts.map { $0["state"] as? String } == ["uploaded", "uploaded"])
        let owner = try #require(try await entry(home, home.gallery.appending("a.xmp"))["partOf"] as? Fields)
        #expect(owner["path"] as? String == photo.string)

        let output = home.tree.path("back")
        let finished = try await home.run("restore", "--yes", "--wait", "--output", output.string, photo.string)
        #expect(finished.code == 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: output.string).sorted()
        #expect(names == ["a.jpg", "a.jpg.xmp", "a.xmp"])
        let back = try Data(contentsOf: URL(filePath: output.appending("a.xmp").string))
        #expect(Array(back) == Array((Self.xmp + "a.xmp").utf8) + [0x3E])
    }

    @Test func `a pattern, and the day of the photo, bring what belongs to it, too`() async throws {
        let home = try AgentHome()
        try home.gallery.appending("a.jpg").create(SamplePhoto.taken(0))
        try home.gallery.appending("a.xmp").create(Array(Self.xmp.utf8))
        #expect(try await home.pass().uploaded == 2)
        let day = try #require(try await entry(home, home.gallery.appending("a.jpg"))["takenAt"] as? String).prefix(10)
        for names in [
            [home.gallery.appending("*.jpg").string], [home.gallery.string, "--from", "\(day)", "--to", "\(day)"],
        ] {
            let output = home.tree.path("back")
            try? FileManager.default.removeItem(atPath: output.string)
            let finished = try await home.start(["restore", "--yes", "--output", output.string] + names).finished()
            #expect(finished.code == 0)
            let files = try FileManager.default.subpathsOfDirectory(atPath: output.string)
            let found = Set(files.compactMap { FilePath($0).lastComponent?.string })
            #expect(found.isSuperset(of: ["a.jpg", "a.xmp"]))
        }
        // Its own bytes are what is stored of it; of the photo they are not.
        let whole = try await home.start(["restore", "--yes", "--original", home.gallery.appending("a.xmp").string])
            .finished()
        #expect(whole.code == 0)
    }

    @Test func `half a sidecar is named, and its photo is safe all the same`() async throws {
        let home = try AgentHome()
        try home.gallery.appending("a.jpg").create(SamplePhoto.taken(0))
        try home.gallery.appending("a.xmp").create(Array(Self.xmp.utf8.dropLast(5)))
        let finished = try await home.run("sync", "--json")
        let pass = try JSONDecoder().decode(PassAnswer.self, from: Data(finished.output))
        #expect(finished.code == 3 && pass.uploaded == 1 && pass.failed == 1)
        #expect(try await home.photo(home.gallery.appending("a.xmp"))?.error?.contains("ends within") == true)
    }
}
