import Foundation
import SyncCore
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

/// From files as the apps write them to the archive: what is deleted is proven, and nothing else is deleted.
@Suite struct EventShapeRetentionTests {
    private let bench: RetentionBench

    init() throws {
        bench = try RetentionBench()
    }

    private func nested(_ id: String?, age: Double = 100, photo: String, more: String = "") -> String {
        let created = Int(bench.start.timeIntervalSince1970 - age * 86_400)
        let id = id.map { #""id":"\#($0)","# } ?? ""
        return """
            {\(id)"userId":"u1","profileId":"p1","eventType":"taskResponse","createdAt":\(created)\(more),\
            "eventData":{"taskResponse":{"_0":{"taskTitle":"\(RetentionBench.title)","photoData":"\(photo)",\
            "textResponse":"\(RetentionBench.text)"}}}}
            """
    }

    private func isArchived(_ id: String, age: Double = 100) throws -> Bool {
        bench.memory.content(try bench.key(id, age: age)) != nil
    }

    @Test func `the photo in the data of an event is archived with its title before its text goes`() async throws {
        try bench.write(nested("e1", photo: try RetentionBench.photo(1)), to: "nested.json")
        try await bench.sync()
        #expect(try bench.ledger.event("e1")?.photoState == .stored)
        let summary = try await bench.cleanUp()
        #expect((summary.archived, summary.deleted, summary.errors.count) == (1, 1, 0))
        #expect(try isArchived("e1"))
        #expect(bench.memory.info(try bench.key("e1", age: 100))?.metadata["task-title"] == RetentionBench.title)
        #expect(!bench.exists("nested.json"))
    }

    @Test func `an image in another field is never deleted, and the file is no safe one`() async throws {
        let event = nested("e1", photo: "", more: #","snapshot":"\#(try RetentionBench.photo(1))""#)
        try bench.write("[\(event)]", to: "one.json")
        try await bench.sync()
        var found: PhotoStatus?
        try bench.ledger.photos(at: bench.gallery.appending("one.json")) { found = $0 }
        let status = try #require(found)
        #expect(status.state == .failed)
        #expect(status.why?.contains("holds an image elsewhere") == true)
        #expect(try await bench.cleanUp().deleted == 0)
        #expect(try bench.read("one.json") == "[\(event)]")
    }

    @Test(arguments: ["lines", "map", "wrapped", "name", "UTF-16", "Firestore"])
    func `each shape of a file comes into the archive, and what is not due stays`(shape: String) async throws {
        let (old, young) = (try RetentionBench.photo(1), try RetentionBench.photo(2))
        func event(_ id: String?, _ age: Double) -> String { nested(id, age: age, photo: age > 90 ? old : young) }
        let name = "e1.json"
        var expected: [UInt8]?
        switch shape {
        case "lines":
            try bench.write("\(event("e1", 100))\n\(event("e2", 5))\n", to: name)
            expected = Array("\(event("e2", 5))\n".utf8)
        case "map":
            try bench.write("{\"e1\": \(event(nil, 100)), \"e2\": \(event(nil, 5))}", to: name)
            expected = Array("{\"e2\": \(event(nil, 5))}".utf8)
        case "wrapped":
            try bench.write("{\"galleryEvents\": [\(event("e1", 100)), \(event("e2", 5))]}", to: name)
            expected = Array("{\"galleryEvents\": [\(event("e2", 5))]}".utf8)
        case "UTF-16":
            func utf16(_ text: String) -> [UInt8] {
                "\u{FEFF}\(text)".utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
            }
            try bench.tree.write(utf16("[\(event("e1", 100)),\(event("e2", 5))]"), to: "gallery/\(name)")
            expected = utf16("[\(event("e2", 5))]")
        case "Firestore":
            let created = Int(bench.start.timeIntervalSince1970 - 100 * 86_400)
            let stamp = #"{"_seconds":\#(created),"_nanoseconds":0}"#
            try bench.write(event("e1", 100).replacing("\(created)", with: stamp), to: name)
        default: try bench.write(event(nil, 100), to: name)
        }
        try await bench.sync()
        let summary = try await bench.cleanUp()
        #expect((summary.archived, summary.deleted, summary.errors.count) == (1, 1, 0))
        #expect(try isArchived("e1"))
        if let expected {
            #expect(try bench.tree.read("gallery/\(name)") == expected)
        } else {
            #expect(!bench.exists(name))
        }
        try await bench.sync()
        #expect(try await bench.cleanUp() == RetentionSummary())
        #expect(try bench.ledger.check() == [])
    }

    // MARK: Ids that are used again

    @Test func `a corrected date is the one that counts`() async throws {
        let photo = try RetentionBench.photo(1)
        try bench.write(bench.event("e1", photo: photo), to: "one.json")
        try await bench.sync()
        let corrected = bench.event("e1", age: 10, photo: photo)
        try bench.write(corrected, to: "one.json")
        // Before anybody has read it again, too.
        #expect(try await bench.cleanUp().deleted <= 1)
        #expect(try bench.read("one.json") == corrected)
        try await bench.sync()
        #expect(try await bench.cleanUp().deleted == 0)
        #expect(try bench.read("one.json") == corrected)
        #expect(try bench.ledger.dueEventCount(createdBefore: bench.time.now.addingTimeInterval(-50 * 86_400)) == 0)
    }

    @Test(arguments: ["profile", "photo", "date"])
    func `an id that is used again is another event, and stays until its own time`(change: String) async throws {
        try bench.write("[\(bench.event("e1", photo: try RetentionBench.photo(1)))]", to: "one.json")
        try await bench.sync()
        #expect(try await bench.cleanUp().archived == 1)
        let again =
            switch change {
            case "profile": bench.event("e1", age: 10, profile: "p2", photo: try RetentionBench.photo(1))
            case "photo": bench.event("e1", age: 10, photo: try RetentionBench.photo(2))
            default: bench.event("e1", age: 10, photo: try RetentionBench.photo(1))
            }
        try bench.write(again, to: "two.json")
        try await bench.sync()
        #expect(try await bench.cleanUp() == RetentionSummary())
        #expect(try bench.read("two.json") == again)
        #expect(try bench.ledger.events(withID: "e1").map(\.retention) == [.archived, .kept])
        // Its own time.
        await bench.time.advance(by: .seconds(85 * 86_400))
        #expect(try await bench.cleanUp().archived == 1)
        #expect(!bench.exists("two.json"))
        #expect(try bench.ledger.retentionRecords(limit: 9).map(\.eventID) == ["e1", "e1"])
        #expect(try bench.ledger.check() == [])
    }

    @Test func `two photos under one id are both archived, the second under a key of its own`() async throws {
        let (one, two) = (try RetentionBench.photo(1), try RetentionBench.photo(2, of: "sampling-1x1.jpg"))
        try bench.write("[\(bench.event("e1", photo: one)),\(bench.event("e1", photo: two))]", to: "one.json")
        try await bench.sync()
        let summary = try await bench.cleanUp()
        #expect((summary.archived, summary.deleted, summary.errors.count) == (2, 2, 0))
        let archived = bench.memory.keys.filter { $0.rawValue.hasPrefix("gallery-archive/") }.map(\.lastSegment)
        #expect(archived.count == 2)
        #expect(archived.contains("e1.jpg"))
        #expect(archived.contains { $0.hasPrefix("e1-") && $0.utf8.count == "e1-12345678.jpg".utf8.count })
        #expect(!bench.exists("one.json"))
    }

    @Test func `ids that look alike and differ in bytes are two events`() async throws {
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        let young = bench.event(decomposed, age: 5, photo: try RetentionBench.photo(2))
        try bench.write("[\(bench.event(composed, photo: try RetentionBench.photo(1))),\(young)]", to: "one.json")
        try await bench.sync()
        let summary = try await bench.cleanUp()
        #expect((summary.archived, summary.deleted) == (1, 1))
        #expect(Array(try bench.read("one.json").utf8) == Array("[\(young)]".utf8))
    }

    @Test func `a file whose name is the id is read again under its new name`() async throws {
        try bench.write(nested(nil, photo: try RetentionBench.photo(1)), to: "e1.json")
        try await bench.sync()
        let (old, new) = (bench.gallery.appending("e1.json"), bench.gallery.appending("e2.json"))
        try FileManager.default.moveItem(atPath: old.string, toPath: new.string)
        try await bench.sync()
        #expect(try bench.ledger.event("e2")?.photoState == .stored)
        #expect(try await bench.cleanUp().archived >= 1)
        #expect(try isArchived("e2"))
        #expect(!bench.exists("e2.json"))
    }
}
