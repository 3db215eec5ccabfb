import Foundation
import Glibc
import SyncCore
import SyncLedger
import SyncPhotos
import SyncTestSupport
import SyncWatch
import SystemPackage
import Testing

@testable import SyncEngine

@Suite struct RetentionPassTests {
    private let bench: RetentionBench

    init() throws {
        bench = try RetentionBench()
    }

    @Test func `the photo is archived with what is known of it, and the text is gone`() async throws {
        try bench.write(bench.event("e1", photo: RetentionBench.photo(1)), to: "one.json")
        try await bench.sync()
        let summary = try await bench.cleanUp()
        #expect((summary.archived, summary.deleted) == (1, 1))
        #expect(summary.skipped.isEmpty && summary.errors.isEmpty)
        #expect(!bench.exists("one.json"))
        #expect(try bench.isArchived("e1"))
        let info = try #require(bench.memory.info(try bench.key("e1")))
        let created = Date(timeIntervalSince1970: bench.start.timeIntervalSince1970 - 91 * 86_400)
        #expect(info.contentType == "image/jpeg")
        let expected = [
            "user": "u1", "profile": "p1", "event-id": "e1", "event-type": "taskResponse",
            "original-created-at": created.formatted(.iso8601), "archived-at": bench.start.formatted(.iso8601),
            "task-title": RetentionBench.title, "width": "200", "height": "136",
        ]
        #expect(info.metadata.merging(expected) { $1 } == info.metadata)
        let record = try #require(try bench.ledger.retentionRecords(limit: 1).first)
        #expect(try record.photo?.key == bench.key("e1"))
        #expect(info.metadata["sha256"] == record.photo.map { "\($0.sha256)" })
        #expect(try bench.ledger.event("e1")?.retention == .archived)
        #expect(try bench.ledger.check() == [])
        #expect(try await bench.cleanUp() == RetentionSummary())
    }

    @Test func `of five events the two that are due go, and the file is otherwise as it was`() async throws {
        let (photo, young) = (try RetentionBench.photo(1), try RetentionBench.photo(2))
        let kept = [bench.event("y1", age: 10), bench.event("y2", age: 20, photo: young), bench.event("y3", age: 89.9)]
        let due = [bench.event("d1", photo: photo), bench.event("d2", age: 200)]
        try bench.write("[ \(kept[0]),\n\(due[0]) , \(kept[1]),\n\n\(due[1]),\(kept[2])]\n", to: "five.json")
        try await bench.sync()
        let summary = try await bench.cleanUp()
        #expect((summary.archived, summary.deleted) == (1, 2))
        #expect(
            try bench.read("five.json")
                == "[ \(kept[0]) , \(kept[1]),\n\n\(bench.bare("d2", age: 200)),\(kept[2])]\n")
        // What is left is known to be bare: nothing is due, before the file is read again and after it.
        #expect(try await bench.cleanUp() == RetentionSummary())
        try await bench.sync()
        #expect(try await bench.cleanUp() == RetentionSummary())
        #expect(try bench.ledger.check() == [])
    }

    @Test func `text goes from every file that holds the event`() async throws {
        let (a, b) = (bench.event("a", photo: try RetentionBench.photo(1)), bench.event("b"))
        try bench.write("[\(a),\(b)]", to: "first.json")
        try bench.write("[\(b), \(a), \(a)]", to: "replay.json")
        try bench.write(bench.event("a"), to: "deep/er/without photo.json")
        try await bench.sync()
        let summary = try await bench.cleanUp()
        #expect((summary.archived, summary.deleted) == (1, 2))
        #expect(try bench.files() == [])
        #expect(try bench.files(with: "secret") == [])
        #expect(try bench.read("first.json") == "[\(bench.bare("b"))]")
        #expect(!bench.exists("deep/er/without photo.json"))
        #expect(try bench.leftovers() == [])
    }

    @Test func `a photo that only a second event with the same id has is archived too`() async throws {
        try bench.write(bench.event("e1", photo: try RetentionBench.photo(1)), to: "a.json")
        let other = bench.event("e1", photo: try RetentionBench.photo(2))
        try await bench.sync()
        try bench.write(other, to: "b.json")
        try await bench.sync()
        let summary = try await bench.cleanUp()
        #expect((summary.archived, summary.deleted, summary.errors.count) == (2, 2, 0))
        #expect(try bench.ledger.events(withID: "e1").map(\.retention) == [.archived, .archived])
    }

    @Test func `each form of a photo comes into the archive`() async throws {
        let photo = try RetentionBench.photo(3)
        try bench.write(
            bench.event("url", photo: "data:image/jpeg;base64,\(try RetentionBench.photo(1))"), to: "url.json")
        try bench.write(bench.event("beside", photo: "photo.jpg"), to: "x/beside.json")
        try bench.tree.write(try RetentionBench.jpeg(2), to: "gallery/x/photo.jpg")
        try bench.write(bench.event("escaped", photo: photo.replacing("/", with: "\\/")), to: "escaped.json")
        try bench.write(bench.event("null", photo: "<null>"), to: "null.json")
        try await bench.sync()
        let summary = try await bench.cleanUp()
        #expect((summary.archived, summary.deleted, summary.errors.count) == (3, 4, 0))
        for id in ["url", "beside", "escaped"] { #expect(try bench.isArchived(id)) }
        #expect(try bench.files() == [])
        #expect(bench.exists("x/photo.jpg"))
        #expect(try bench.read("null.json") == bench.bare("null"))
    }

    @Test func `a telephone number waits for its profile, which then stands in the key`() async throws {
        let number = "+1 (778) 814-3739"
        try bench.write(bench.event("e1", profile: number, photo: try RetentionBench.photo(1)), to: "one.json")
        try await bench.sync()
        let first = try await bench.cleanUp()
        #expect(
            first.skipped.named.map(\.reason) == ["no profile for +17788143739: add it with sync-agent profiles add"])
        #expect(try bench.files() == ["one.json"])
        #expect(try bench.ledger.event("e1")?.retentionProblem == first.skipped.named[0].reason)
        _ = try bench.ledger.addProfile(
            uuid: "5b2c", phone: PhoneNumber(e164: "+17788143739"), name: nil, at: bench.time.now)
        #expect(try await bench.cleanUp().archived == 1)
        #expect(try bench.isArchived("e1", profile: "5b2c"))
        #expect(bench.memory.keys.allSatisfy { !$0.rawValue.contains("8143739") })
    }

    /// `00` is dialled for the `+` nearly everywhere, with and without `share.phone_region`.
    @Test func `a number behind 00 waits for its profile like one behind a plus`() async throws {
        let number = "0017788143739"
        try bench.write(bench.event("e1", profile: number, photo: try RetentionBench.photo(1)), to: "one.json")
        try await bench.sync()
        let summary = try await bench.cleanUp()
        #expect((summary.archived, summary.deleted) == (0, 0))
        #expect(
            summary.skipped.named.map(\.reason) == [
                "no profile for +17788143739: add it with sync-agent profiles add"
            ])
        #expect(try bench.files() == ["one.json"])
        #expect(bench.memory.keys.allSatisfy { !$0.rawValue.contains("7788143739") })
    }

    /// `share.phone_region` is not set.
    @Test(arguments: ["7788143739", "015112345678", "4915112345678"])
    func `digits that may be somebody's number wait, and the next step is named`(profile: String) async throws {
        try bench.write(
            bench.event("e1", profile: profile, photo: try RetentionBench.photo(1)), to: "one.json")
        try await bench.sync()
        let summary = try await bench.cleanUp()
        #expect((summary.archived, summary.deleted) == (0, 0))
        #expect(summary.skipped.named.first?.reason.contains("set share.phone_region") == true)
        #expect(try bench.files() == ["one.json"])
        #expect(bench.memory.keys.allSatisfy { !$0.rawValue.contains(profile) })
    }

    @Test(arguments: ["(778) 814-3739", "tel:4711", "+1 555 0100 ext. 7", "778-814-3739 x5"])
    func `what may be a telephone number and cannot be read stands in no key`(profile: String) async throws {
        try bench.write(
            bench.event("e1", profile: profile, photo: try RetentionBench.photo(1)).replacing("+1 555", with: "＋1 555"),
            to: "one.json")
        try await bench.sync()
        let summary = try await bench.cleanUp()
        #expect(summary.skipped.count == 1 && summary.archived == 0)
        #expect(try bench.files() == ["one.json"])
        #expect(bench.memory.keys.allSatisfy { $0.rawValue.hasPrefix("users/ana/photos/") })
    }

    @Test func `an id that is a UUID is in lower case in the key, and a few digits are an id`() async throws {
        let uuid = "5B2C1F6E-0D0C-4D52-9C57-0F6E4B6B7A10"
        try bench.write(bench.event("e1", profile: uuid, photo: try RetentionBench.photo(1)), to: "one.json")
        try bench.write(bench.event("e2", profile: "778814", photo: try RetentionBench.photo(2)), to: "two.json")
        try await bench.sync()
        #expect(try await bench.cleanUp().archived == 2)
        #expect(try bench.isArchived("e1", profile: uuid.lowercased()))
        #expect(try bench.isArchived("e2", profile: "778814"))
    }

    @Test func `ids that an object cannot tell are skipped with the reason`() async throws {
        let id = String(repeating: "é", count: 100)
        let event = bench.event(id, profile: id, photo: try RetentionBench.photo(1))
        try bench.write(event, to: "one.json")
        try await bench.sync()
        #expect(
            try await bench.cleanUp().skipped.named.map(\.reason) == [
                "its ids are too long for the metadata of an object"
            ])
        #expect(try bench.read("one.json") == event)
    }

    @Test func `an agent that sees a batch rewrite the file does not disturb the next one`() async throws {
        let events = (0..<4).map { bench.event("e\($0)", age: Double(200 - $0)) }
        try bench.write("[\(events.joined(separator: ","))]", to: "all.json")
        try await bench.sync()
        let (ledger, folder) = (bench.ledger, bench.folder)
        let later = Date(timeIntervalSinceNow: 3_600)
        let summary = try await bench.retention(batchSize: 2).run(olderThan: 90) { count in
            // The second batch is read, and none of its texts are deleted yet: the agent sees what the first one did.
            guard count == 3 else { return }
            _ = try? FolderScan(ledger: ledger, scanner: FileTreeScanner(), settle: .zero).run(
                folder, from: folder.path, at: later)
        }
        #expect(summary.errors.named == [] && summary.deleted == 4)
        #expect(try bench.files() == [])
    }

    @Test func `a file of a folder that is no gallery any more is left as it is`() async throws {
        let event = bench.event("e1")
        try bench.write(event, to: "one.json")
        try await bench.sync()
        _ = try bench.ledger.register([WatchedFolder(kind: .vacations, path: bench.gallery)])
        let summary = try await bench.cleanUp()
        #expect(summary.skipped.named.map(\.file) == [bench.gallery.appending("one.json")])
        #expect(try bench.read("one.json") == event)
    }

    @Test func `an event whose file is gone and whose photo was never stored is due no more`() async throws {
        try bench.write("[\(bench.event("e1", photo: Data("no photo".utf8).base64EncodedString()))]", to: "one.json")
        try await bench.sync()
        try FileManager.default.removeItem(atPath: bench.gallery.appending("one.json").string)
        try bench.write("x", to: "other.txt")
        try await bench.sync()
        let summary = try await bench.cleanUp()
        #expect(summary.deleted == 1 && summary.archived == 0 && summary.skipped.isEmpty)
        #expect(try bench.ledger.event("e1")?.retention == .deleted)
        #expect(try bench.ledger.dueEventCount(createdBefore: bench.time.now) == 0)
    }

    @Test func `an id in escapes in something damaged keeps its text`() async throws {
        try bench.write("[\(bench.event("é")),\(bench.event("other", age: 1))]", to: "one.json")
        try await bench.sync()
        let damaged = "[\(bench.event("other", age: 1)),{\"id\": \"\\u00e9\", \"text\": \"\(RetentionBench.text)\"}]"
        try bench.write(damaged, to: "one.json")
        let summary = try await bench.cleanUp()
        #expect(summary.errors.named.map(\.event) == ["é"])
        #expect(try bench.read("one.json") == damaged)
    }

    @Test func `a gallery whose last file a cleanup has removed is empty, and no unmounted drive`() async throws {
        try bench.write(bench.event("e1", photo: try RetentionBench.photo(1)), to: "last.json")
        try await bench.sync()
        #expect(try await bench.cleanUp().deleted == 1)
        #expect(!bench.exists("last.json"))
        #expect(try bench.ledger.knownFileCount(bench.folder.id) == 0)
        let scan = FolderScan(ledger: bench.ledger, scanner: FileTreeScanner(), settle: .zero)
        #expect(try scan.run(bench.folder, from: bench.folder.path, at: bench.time.now).problems.isEmpty)
    }

    @Test func `of very many events that are left a thousand are named, and all counted`() async throws {
        let events = (0..<1_005).map { bench.event("e\($0)", profile: "+1778814\(1_000 + $0)") }
        try bench.write("[\(events.joined(separator: ","))]", to: "all.json")
        try await bench.sync()
        let skipped = try await bench.cleanUp().skipped
        #expect(skipped.count == 1_005 && skipped.named.count == 1_000)
        #expect(skipped.reasons.count == 100)
        #expect(try bench.ledger.event("e1004")?.retentionProblem != nil)
    }

    @Test func `titles stay behind when they are not to be kept, and long ones are cut`() async throws {
        let long = bench.event("long", photo: try RetentionBench.photo(1))
            .replacing(RetentionBench.title, with: String(repeating: "é", count: 2_000))
        try bench.write(long, to: "long.json")
        try await bench.sync()
        try await bench.cleanUp()
        let title = try #require(bench.memory.info(try bench.key("long"))?.metadata["task-title"])
        #expect(title.allSatisfy { $0 == "é" } && (100..<700).contains(title.count))
        try bench.write(bench.event("untold", photo: try RetentionBench.photo(2)), to: "untold.json")
        try await bench.sync()
        _ = try await bench.retention(keepsTitles: false).run(olderThan: 90)
        #expect(bench.memory.info(try bench.key("untold"))?.metadata["task-title"] == nil)
        #expect(try bench.isArchived("untold"))
    }

    @Test func `what cannot be archived keeps its text, and the others go on`() async throws {
        let cut = Data(try RetentionBench.jpeg(1).prefix(700)).base64EncodedString()
        let taken = bench.event("taken", photo: try RetentionBench.photo(2))
        let damaged = bench.event("damaged", photo: cut)
        try bench.write(
            "[\(damaged),\(taken),\(bench.event("good", photo: try RetentionBench.photo(3)))]", to: "all.json")
        try await bench.sync()
        try await bench.memory.store(Array("somebody else's".utf8), at: try bench.key("taken"))
        let summary = try await bench.cleanUp()
        #expect((summary.archived, summary.deleted) == (1, 1))
        #expect(summary.errors.named.map(\.event).sorted() == ["damaged", "taken"])
        #expect(!summary.errors.named.contains { $0.reason.contains("secret") })
        #expect(try bench.read("all.json") == "[\(damaged),\(taken)]")
        #expect(bench.memory.content(try bench.key("taken")) == Array("somebody else's".utf8))
        #expect(try bench.ledger.event("taken")?.retentionProblem != nil)
        #expect(try bench.ledger.dueEventCount(createdBefore: bench.time.now) == 2)
    }

    @Test(arguments: [60, 100, 160])
    func `a file that was cut off meanwhile may still hold the text: it is named and kept`(bytes: Int) async throws {
        let whole = bench.event("e1")
        try bench.write(whole, to: "one.json")
        try await bench.sync()
        let rest = String(whole.prefix(bytes))
        try bench.write(rest, to: "one.json")
        #expect(try await bench.cleanUp().errors.named.map(\.event) == ["e1"])
        #expect(try bench.read("one.json") == rest)
        try bench.write("[]", to: "one.json")
        #expect(try await bench.cleanUp().deleted == 1)
    }

    @Test func `a photo whose file is gone comes from the pool`() async throws {
        try bench.write(bench.event("e1", photo: try RetentionBench.photo(1)), to: "one.json")
        try await bench.sync()
        try FileManager.default.removeItem(atPath: bench.gallery.appending("one.json").string)
        // Nobody has looked yet: it may have been renamed.
        #expect(try await bench.cleanUp().skipped.count == 1)
        #expect(try !bench.isArchived("e1"))
        try bench.write("x", to: "other.txt")
        try await bench.sync()
        #expect(try await bench.cleanUp().archived == 1)
        #expect(try bench.isArchived("e1"))
        #expect(bench.memory.info(try bench.key("e1"))?.metadata["width"] == "200")
    }

    @Test func `a photo that was stored with its place is archived without it once places stay here`() async throws {
        let photo = try RetentionBench.photo(1, of: "camera-nikon.jpg")
        try bench.write(bench.event("e1", photo: photo), to: "one.json")
        try await bench.sync()
        try FileManager.default.removeItem(atPath: bench.gallery.appending("one.json").string)
        try bench.write("x", to: "other.txt")
        try await bench.sync()
        func hasPosition(_ key: ObjectKey) throws -> Bool {
            try #require(bench.memory.content(key)).firstRange(of: Array("WGS-84".utf8)) != nil
        }
        #expect(try hasPosition(try #require(bench.memory.keys.first)))
        var later = bench
        later.policy.stripLocation = true
        #expect(try await later.retention().run(olderThan: 90).archived == 1)
        #expect(try !hasPosition(try bench.key("e1")))
    }

    @Test func `a file that comes back after its events were signed off is cleaned up too`() async throws {
        try bench.write(
            "[\(bench.event("e1", photo: try RetentionBench.photo(1))),\(bench.event("e2", age: 1))]", to: "a.json")
        try await bench.sync()
        let (file, away) = (bench.gallery.appending("a.json"), bench.tree.path("away.json"))
        #expect(rename(file.string, away.string) == 0)
        try bench.write("x", to: "other.txt")
        try await bench.sync()
        #expect(try await bench.cleanUp().archived == 1)
        #expect(rename(away.string, file.string) == 0)
        try await bench.sync()
        #expect(try await bench.cleanUp().deleted == 1)
        #expect(try bench.read("a.json") == "[\(bench.event("e2", age: 1))]")
    }

    @Test func `a store that is away ends the pass, and what was proven before is signed off`() async throws {
        for number in 0..<9 {
            try bench.write(bench.event("e\(number)", photo: try RetentionBench.photo(number)), to: "\(number).json")
        }
        try await bench.sync()
        bench.store.add(StoreFault(.put, numbers: 4...Int.max, .failBefore(.unreachable)))
        let summary = try await bench.cleanUp()
        #expect(summary.outage?.code == .unreachable)
        #expect((summary.archived, summary.deleted) == (3, 3))
        #expect(try bench.files().count == 6)
        let other = try RetentionBench(following: bench)
        #expect(try await other.cleanUp().archived == 6)
        #expect(try bench.files() == [])
    }

    @Test func `a photo that the store denies keeps its event, and no other one`() async throws {
        for number in 0..<3 {
            try bench.write(bench.event("e\(number)", photo: try RetentionBench.photo(number)), to: "\(number).json")
        }
        try await bench.sync()
        bench.store.add(StoreFault(.put, key: try bench.key("e0").rawValue, .failBefore(.accessDenied)))
        let summary = try await bench.cleanUp()
        #expect(summary.outage == nil && summary.archived == 2 && summary.errors.count == 1)
        #expect(try bench.files() == ["0.json"])
    }

    @Test func `batches follow each other until nothing is due`() async throws {
        for number in 0..<7 {
            try bench.write(bench.event("e\(number)", photo: number == 3 ? "none.jpg" : nil), to: "\(number).json")
        }
        try await bench.sync()
        let summary = try await bench.retention(batchSize: 2).run(olderThan: 90)
        #expect((summary.deleted, summary.errors.count) == (6, 1))
    }

    @Test func `a look at what would be done does nothing`() async throws {
        let file =
            "[\(bench.event("e1", photo: try RetentionBench.photo(1))),\(bench.event("e2", profile: "+1 778 814 3739"))]"
        try bench.write(file, to: "a.json")
        try await bench.sync()
        let keys = bench.memory.keys
        let summary = try await bench.retention().preview(olderThan: 90)
        #expect((summary.archived, summary.deleted, summary.skipped.count) == (1, 1, 1))
        #expect(try bench.read("a.json") == file)
        #expect(bench.memory.keys == keys)
        #expect(try bench.ledger.event("e2")?.triedAt == nil)
    }
}
