import Foundation
import SyncCore
import SyncLedger
import SyncPhotos
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

/// What is in a file when its events are cut, and not what was in it once, says what is told.
@Suite struct RetentionEditTests {
    private var bench: RetentionBench

    init() throws {
        bench = try RetentionBench()
    }

    private enum Edit: String, CaseIterable, Sendable {
        case date, profile, id, shape
    }

    private func edited(_ edit: Edit, photo: String?) -> String {
        switch edit {
        case .date: bench.event("e1", age: 10, photo: photo)
        case .profile: bench.event("e1", profile: "p2", photo: photo)
        case .id: bench.event("e2", photo: photo)
        case .shape:
            bench.event("e1", photo: photo).replacing("createdAt", with: "created").replacing("\"id\"", with: "\"i\"")
        }
    }

    @Test(arguments: Edit.allCases, [true, false])
    private mutating func `what an edit after the last look has kept is not told as deleted, and stays due`(
        edit: Edit, hasPhoto: Bool
    ) async throws {
        let photo = hasPhoto ? try RetentionBench.photo(1) : nil
        try bench.write(bench.event("e1", photo: photo), to: "one.json")
        try await bench.sync()
        let text = edited(edit, photo: photo)
        try bench.write(text, to: "one.json")
        bench.takesInFirst = false
        let summary = try await bench.cleanUp()
        #expect((summary.archived, summary.deleted) == (0, 0))
        #expect(summary.skipped.named.map(\.event) + summary.errors.named.map(\.event) == ["e1"])
        #expect(try bench.read("one.json") == text)
        #expect(try bench.ledger.event("e1")?.retention == .kept)
        #expect(try bench.ledger.dueEventCount(createdBefore: bench.time.now.addingTimeInterval(-90 * 86_400)) == 1)
        #expect(try await bench.retention().preview(olderThan: 90).deleted == 0)
    }

    @Test mutating func `what an edit has kept at the very moment of the cut is not told as deleted`() async throws {
        bench.takesInFirst = false
        try bench.write("[\(bench.event("e1"))]", to: "one.json")
        try await bench.sync()
        let text = "[\(bench.event("e1", age: 10))]"
        let (gallery, isFirst) = (bench.gallery, Lock(true))
        // The plan is made; the file is another one when it is read for the cut.
        let summary = try await bench.retention().run(olderThan: 90) { _ in
            guard
                isFirst.withLock({ first in
                    defer { first = false }; return first
                })
            else { return }
            try? Data(text.utf8).write(to: URL(filePath: gallery.appending("one.json").string))
        }
        #expect((summary.deleted, summary.errors.count, summary.skipped.count) == (0, 0, 1))
        #expect(try bench.read("one.json") == text)
        #expect(try bench.ledger.event("e1")?.retention == .kept)
    }

    @Test func `a date that was corrected counts without a sync in between`() async throws {
        let photo = try RetentionBench.photo(1)
        try bench.write(bench.event("e1", photo: photo), to: "one.json")
        try await bench.sync()
        try bench.write(bench.event("e1", age: 10, photo: photo), to: "one.json")
        #expect(try await bench.cleanUp() == RetentionSummary())
        #expect(try bench.read("one.json") == bench.event("e1", age: 10, photo: photo))
        #expect(try bench.ledger.dueEventCount(createdBefore: bench.time.now.addingTimeInterval(-50 * 86_400)) == 0)
    }

    @Test func `an old event that nobody has seen is cleaned up`() async throws {
        try bench.write(
            "[\(bench.event("e1", photo: try RetentionBench.photo(1))),\(bench.event("e2", age: 5))]", to: "a.json")
        #expect(try await bench.retention().preview(olderThan: 90).deleted == 1)
        let summary = try await bench.cleanUp()
        #expect((summary.archived, summary.deleted, summary.errors.count) == (1, 1, 0))
        #expect(try bench.isArchived("e1"))
        #expect(try bench.read("a.json") == "[\(bench.event("e2", age: 5))]")
        try await bench.sync()
        #expect(try await bench.cleanUp() == RetentionSummary())
        #expect(try bench.ledger.check() == [])
    }

    @Test(arguments: ["{\"id\": \"x\", \"createdAt\": 17", "[{\"id\": ", "no JSON at all"], [true, false])
    func `a file that cannot be told is named by each cleanup, and left as it is`(text: String, isSynced: Bool)
        async throws
    {
        try bench.write(text, to: "bad.json")
        try bench.write("[\(bench.event("e1"))]", to: "good.json")
        if isSynced { try await bench.sync() }
        for _ in 0..<2 {
            let summary = try await bench.cleanUp()
            #expect(summary.errors.named.map(\.file) == [bench.gallery.appending("bad.json")])
            #expect(try bench.read("bad.json") == text)
        }
        #expect(try bench.read("good.json") == "[\(bench.bare("e1"))]")
        // What still looks like events has failed, and is told as that.
        if isSynced, try bench.ledger.overview().totals[.failed].files == 0 {
            #expect(try bench.ledger.leftOut(naming: 9).items.map(\.path.lastComponent?.string) == ["bad.json"])
        }
    }

    @Test mutating func `what would keep a first cleanup from an event is told, and nothing is done`() async throws {
        try bench.write("[\(bench.event("e1"))]", to: "open.json")
        try bench.write("[\(bench.event("e2"))]", to: "good.json")
        try await bench.sync()
        bench.writing = [bench.gallery.appending("open.json")]
        let retention = try bench.retention()
        let due = try bench.ledger.dueEvents(createdBefore: retention.cutoff(days: 90), after: nil, limit: 9)
        #expect(Set(due.map(\.event.eventID)) == ["e1", "e2"])
        let obstacles = try await retention.obstacles(to: due)
        let told = due.filter { obstacles[$0.event.id] == "the file is still being written; the next cleanup reads it" }
        #expect(obstacles.count == 1 && told.map(\.event.eventID) == ["e1"])
        #expect(due.allSatisfy { $0.event.triedAt == nil })
    }

    @Test(arguments: [true, false], [true, false])
    mutating func `a file that is still being written is no damaged one, and its neighbours are cleaned up`(
        isKnown: Bool, isAgentAtWork: Bool
    ) async throws {
        let half = "[\(bench.event("e1").prefix(60))"
        try bench.write(isKnown ? "[\(bench.event("e1"))]" : half, to: "half.json")
        try bench.write("[\(bench.event("e2"))]", to: "good.json")
        if isKnown || isAgentAtWork { try await bench.sync() }
        try bench.write(half, to: "half.json")
        bench.isAgentAtWork = isAgentAtWork && isKnown
        let file = bench.gallery.appending("half.json")
        bench.writing = [file]
        let forecast = try await bench.retention().preview(olderThan: 90)
        #expect((forecast.deleted, forecast.errors.count) == (1, 0))
        #expect(forecast.skipped.named.map(\.file) == [file])
        let summary = try await bench.cleanUp()
        #expect((summary.deleted, summary.errors.count) == (1, 0))
        #expect(summary.skipped.named.map(\.file) == [file])
        #expect(summary.skipped.named.first?.reason == "the file is still being written; the next cleanup reads it")
        #expect(try bench.read("half.json") == half)
        #expect(try bench.read("good.json") == "[\(bench.bare("e2"))]")
        bench.writing = []
        #expect(try await bench.cleanUp().errors.named.map(\.file) == [file])
    }

    @Test mutating func `of a file that a program goes on writing no event is cut, and none is archived`() async throws
    {
        let (whole, photo) = ("[\(bench.event("e1")),\(bench.event("e2"))]", try RetentionBench.photo(1))
        try bench.write("[\(bench.event("e1"))]", to: "log.json")
        try bench.write("[\(bench.event("e3", photo: photo))]", to: "log2.json")
        try await bench.sync()
        // Opened, written to and closed: it is whole at this moment.
        try bench.write(whole, to: "log.json")
        try bench.write("[\(bench.event("e3", photo: photo)) ]", to: "log2.json")
        // A minute old, by the clock of the test.
        bench.settle = .seconds(600)
        let files = ["log.json", "log2.json"].map { bench.gallery.appending($0) }
        let forecast = try await bench.retention().preview(olderThan: 90)
        #expect((forecast.archived, forecast.deleted, forecast.errors.count) == (0, 0, 0))
        #expect(Set(forecast.skipped.named.compactMap(\.file)) == Set(files))
        let summary = try await bench.cleanUp()
        #expect((summary.archived, summary.deleted, summary.errors.count) == (0, 0, 0))
        #expect(Set(summary.skipped.named.compactMap(\.file)) == Set(files))
        #expect(
            Set(summary.skipped.named.map(\.reason)) == ["the file is still being written; the next cleanup reads it"])
        #expect(try bench.read("log.json") == whole)
        #expect(try !bench.isArchived("e3"))
        bench.settle = .zero
        #expect(try await bench.cleanUp().deleted == 3)
        #expect(try bench.files() == [])
    }

    @Test func `an element that is no event is named beside those that are, by place and without its words`()
        async throws
    {
        let odd = #"{"createdAt": 1700000000, "eventType": "x", "text": "\#(RetentionBench.text)"}"#
        try bench.write("[\(bench.event("e1")),\(odd)]", to: "a.json")
        let summary = try await bench.cleanUp()
        #expect(summary.deleted == 1)
        #expect(summary.errors.named.count == 1)
        #expect(summary.errors.named.first?.reason.contains("#2 id is missing") == true)
        #expect(summary.errors.named.first?.reason.contains("secret") == false)
        #expect(try bench.read("a.json") == "[\(bench.bare("e1")),\(odd)]")
    }

    @Test func `an event that may stand in what was damaged since stays due, whoever read the file`() async throws {
        try bench.write("[\(bench.event("e1")),\(bench.event("e2", age: 1))]", to: "one.json")
        try await bench.sync()
        let damaged = "[\(bench.event("e2", age: 1)),{\"id\": \"e1\", \"text\": \"\(RetentionBench.text)\"}]"
        try bench.write(damaged, to: "one.json")
        try await bench.sync()
        let summary = try await bench.cleanUp()
        #expect(summary.deleted == 0 && summary.errors.named.map(\.event) == ["e1"])
        #expect(try bench.read("one.json") == damaged)
        #expect(try bench.ledger.event("e1")?.retention == .kept)
    }

    // MARK: Photos that are more than a picture

    private enum Extra: String, CaseIterable, Sendable {
        case secondPicture, film, gainMap
    }

    private static func photo(with extra: Extra) throws -> [UInt8] {
        let picture = try RetentionBench.jpeg(1)
        switch extra {
        case .secondPicture: return picture + (try RetentionBench.jpeg(2))
        case .film: return picture + Array("\0\0\0\u{18}ftypmp42".utf8) + [UInt8](repeating: 7, count: 5_000)
        case .gainMap:
            let name = Array("http://ns.adobe.com/xmp/extension/\0".utf8) + [UInt8](repeating: 65, count: 80)
            return picture.prefix(2) + [0xFF, 0xE1, 0, UInt8(name.count + 2)] + name + picture.dropFirst(2)
        }
    }

    @Test(arguments: Extra.allCases)
    private func `a photo that holds more than a picture is archived with every byte before it leaves its file`(
        extra: Extra
    )
        async throws
    {
        let photo = try Self.photo(with: extra)
        try bench.write(bench.event("e1", photo: Data(photo).base64EncodedString()), to: "one.json")
        try await bench.sync()
        let summary = try await bench.cleanUp()
        #expect((summary.archived, summary.errors.count) == (1, 0))
        #expect(bench.memory.content(try bench.key("e1")) == photo)
        #expect(!bench.exists("one.json"))
    }

    @Test mutating func `a HEIC with a gain map is archived with every byte, and one without it reduced`() async throws
    {
        let executable = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        bench.pictures = PictureWorkers(besides: FilePath(executable))
        bench.policy.maximumDimension = 64
        for (id, name) in [("e1", "gain-map.heic"), ("e2", "mirrored.heic")] {
            let photo = try RetentionBench.fixture("kinds/\(name)")
            try bench.write(bench.event(id, photo: Data(photo).base64EncodedString()), to: "\(id).json")
        }
        try await bench.sync()
        let summary = try await bench.cleanUp()
        #expect((summary.archived, summary.errors.count) == (2, 0))
        #expect(bench.memory.content(try bench.key("e1")) == (try RetentionBench.fixture("kinds/gain-map.heic")))
        #expect(bench.memory.content(try bench.key("e2"))?.starts(with: [0xFF, 0xD8, 0xFF]) == true)
        bench.pictures.close()
    }

    @Test mutating func `where it may not be stored unchanged, the element stays and is named`() async throws {
        let photo = try Self.photo(with: .secondPicture)
        let event = bench.event("e1", photo: Data(photo).base64EncodedString())
        try bench.write(event, to: "one.json")
        try await bench.sync()
        bench.policy.stripLocation = true
        let summary = try await bench.cleanUp()
        #expect(summary.deleted == 0 && summary.errors.named.map(\.event) == ["e1"])
        #expect(try bench.read("one.json") == event)
    }

    @Test(arguments: [false, true])
    func `what takes the place of an emptied file at the very moment of its removal stays`(
        isFollowed: Bool
    ) async throws {
        try bench.write("[\(bench.event("e1", photo: RetentionBench.photo(1)))]", to: "one.json")
        try await bench.sync()
        let (theirs, later) = ("[\(bench.event("e2", age: 10))]", "[\(bench.event("e3", age: 10))]")
        let (file, other) = (bench.gallery.appending("one.json"), bench.gallery.appending("other"))
        let system = FileRewriteCalls()
        let putTheirs: @Sendable (FilePath) throws -> Void = { path in
            guard path == file else { return }
            try theirs.write(toFile: other.string, atomically: false, encoding: .utf8)
            try system.rename(other, file)
        }
        var calls = system
        calls.rename = { old, new in
            try putTheirs(old)
            try system.rename(old, new)
        }
        calls.remove = { path in
            try putTheirs(path)
            try system.remove(path)
        }
        calls.renameIfFree = { old, new in
            if isFollowed { try later.write(toFile: file.string, atomically: false, encoding: .utf8) }
            return try system.renameIfFree(old, new)
        }
        let summary = try await bench.cleanUp(calls: calls)
        #expect(try bench.read("one.json") == (isFollowed ? later : theirs))
        let hidden = try FileManager.default.contentsOfDirectory(atPath: bench.gallery.string).filter {
            $0 != "one.json"
        }
        #expect(try hidden.map(bench.read) == (isFollowed ? [theirs] : []))
        #expect(summary.errors.named.map { $0.reason.contains(hidden.first ?? "") } == (isFollowed ? [true] : []))
    }

    @Test(arguments: ["link", "folder", "fifo"])
    func `what is no file and takes the place of one that is rewritten stays`(kind: String) async throws {
        let later = try bench.event("e2", age: 1, photo: RetentionBench.photo(2))
        try bench.write("[\(bench.event("e1", photo: RetentionBench.photo(1))),\(later)]", to: "one.json")
        try await bench.sync()
        let file = bench.gallery.appending("one.json")
        let system = FileRewriteCalls()
        var calls = system
        let isThere = Lock(false)
        calls.exchange = { one, other in
            if isThere.withLock({
                let was = $0; $0 = true; return !was
            }) {
                try system.remove(file)
                switch kind {
                case "link":
                    try FileManager.default.createSymbolicLink(atPath: file.string, withDestinationPath: "else.json")
                case "folder":
                    try FileManager.default.createDirectory(atPath: file.string, withIntermediateDirectories: false)
                default: try #require(mkfifo(file.string, 0o600) == 0)
                }
            }
            return try system.exchange(one, other)
        }
        let summary = try await bench.cleanUp(calls: calls)
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.gallery.string) == ["one.json"])
        #expect(try FileStatus.find(file)?.kind != .file)
        #expect(summary.deleted == 0)
    }

    @Test func `a link that takes the place of an emptied file at that moment stays`() async throws {
        try bench.write("[\(bench.event("e1", photo: RetentionBench.photo(1)))]", to: "one.json")
        try await bench.sync()
        let file = bench.gallery.appending("one.json")
        let system = FileRewriteCalls()
        var calls = system
        calls.rename = { old, new in
            if old == file {
                try system.remove(file)
                try FileManager.default.createSymbolicLink(atPath: file.string, withDestinationPath: "elsewhere.json")
            }
            try system.rename(old, new)
        }
        try await bench.cleanUp(calls: calls)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: file.string) == "elsewhere.json")
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.gallery.string) == ["one.json"])
    }
}
