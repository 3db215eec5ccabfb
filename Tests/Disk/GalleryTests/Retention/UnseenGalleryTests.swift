import Foundation
import SyncEngine
import SyncLedger
import SyncTestSupport
import SyncWatch
import SystemPackage
import Testing

/// What could not be looked at is told: that nothing is due there is not known.
@Suite struct UnseenGalleryTests {
    private var bench: RetentionBench

    init() throws {
        bench = try RetentionBench()
    }

    @Test func `a link to a file of events is told, and what it leads to is left alone`() async throws {
        let events = bench.event("e1", photo: try RetentionBench.photo(1))
        for (name, text) in ["events": "[\(events)]", "other": "[17]"] {
            try bench.tree.write(text, to: "elsewhere/\(name).json")
            try FileManager.default.createSymbolicLink(
                atPath: bench.gallery.appending("\(name).json").string,
                withDestinationPath: bench.tree.path("elsewhere/\(name).json").string)
        }
        let link = bench.gallery.appending("events.json")
        #expect(try await bench.retention().preview(olderThan: 90).errors.named.map(\.file) == [link])
        let summary = try await bench.cleanUp()
        #expect((summary.deleted, summary.skipped.count) == (0, 0))
        #expect(summary.errors.named.map(\.file) == [link])
        let reason = try #require(summary.errors.named.first?.reason)
        #expect(reason.hasPrefix("it is a symbolic link, which is not followed"))
        #expect(try String(decoding: bench.tree.read("elsewhere/events.json"), as: UTF8.self) == "[\(events)]")
    }

    @Test(arguments: [false, true])
    mutating func `a folder that cannot be read is told, and its neighbours are cleaned`(
        isAgentAtWork: Bool
    ) async throws {
        try bench.tree.makeFolder("gallery/sub")
        try bench.write("[\(bench.event("e1", photo: RetentionBench.photo(1)))]", to: "one.json")
        try bench.write("[\(bench.event("e2", photo: RetentionBench.photo(2)))]", to: "sub/two.json")
        bench.unreadable = "sub"
        if isAgentAtWork {
            try await bench.sync()
            bench.isAgentAtWork = true
        }
        #expect(try await bench.retention().preview(olderThan: 90).errors.named.map(\.file) == [bench.gallery])
        let summary = try await bench.cleanUp()
        #expect(summary.deleted == 1 && !bench.exists("one.json"))
        #expect(try bench.read("sub/two.json").contains("e2"))
        #expect(summary.errors.named.map(\.file) == [bench.gallery])
        #expect(summary.errors.named.map { $0.reason.contains("gallery/sub: input/output error") } == [true])

        bench.unreadable = nil
        bench.isAgentAtWork = false
        #expect(try await bench.cleanUp().errors.isEmpty)
        #expect(!bench.exists("sub/two.json"))
    }

    @Test func `a gallery that is not there is told`() async throws {
        try bench.write("[\(bench.event("e1", photo: RetentionBench.photo(1)))]", to: "one.json")
        try await bench.sync()
        try FileManager.default.moveItem(atPath: bench.gallery.string, toPath: bench.gallery.string + ".away")
        let summary = try await bench.cleanUp()
        #expect(summary.errors.named.map(\.file).contains(bench.gallery))
        #expect(summary.deleted == 0)
    }

    @Test mutating func `a gallery that the agent has not come to yet is told`() async throws {
        try bench.write("[\(bench.event("e1", photo: RetentionBench.photo(1)))]", to: "one.json")
        bench.isAgentAtWork = true
        let summary = try await bench.cleanUp()
        #expect(summary.errors.named.map(\.file) == [bench.gallery])
        #expect(summary.errors.named.map { $0.reason.contains("nobody has looked at it yet") } == [true])
        #expect(bench.exists("one.json"))
    }

    @Test mutating func `a file that an agent has not seen whole yet is told as one that waits`() async throws {
        try bench.write("[\(bench.event("e2"))]", to: "good.json")
        try await bench.sync()
        try bench.write("[\(bench.event("e1"))]", to: "new.json")
        let file = bench.gallery.appending("new.json")
        let stamp = try #require(try FileTreeScanner().stamp(of: file))
        try bench.ledger.hold(
            [SettledFile(folder: bench.folder.id, path: "new.json", stamp: stamp)], for: .seconds(600),
            drive: { _ in .known }, stillThere: { _ in true }, at: bench.time.now)
        bench.isAgentAtWork = true
        for summary in [try await bench.retention().preview(olderThan: 90), try await bench.cleanUp()] {
            #expect((summary.deleted, summary.errors.count) == (1, 0))
            #expect(summary.skipped.named.map(\.file) == [file])
            let reasons = summary.skipped.named.map(\.reason)
            #expect(reasons == ["the file is still being written; the next cleanup reads it"])
        }
        // The agent finds it whole, and so does a cleanup that looks by itself.
        bench.isAgentAtWork = false
        let summary = try await bench.cleanUp()
        #expect((summary.deleted, summary.skipped.count) == (1, 0))
        #expect(try bench.read("new.json") == "[\(bench.bare("e1"))]")
    }
}
