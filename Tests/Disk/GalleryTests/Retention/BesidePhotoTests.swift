import Foundation
import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

/// Files of events in two folders that are the same, byte by byte, and name a photo beside them.
@Suite struct BesidePhotoTests {
    private let bench: RetentionBench

    init() throws {
        bench = try RetentionBench()
    }

    /// - Parameter second: the photo in the second folder; `nil` for none.
    private func write(_ first: [UInt8], _ second: [UInt8]?) throws {
        try bench.write(bench.event("1", photo: "pic.jpg"), to: "h.json")
        try bench.write(bench.event("1", photo: "pic.jpg"), to: "sub/h.json")
        try replace("pic.jpg", by: first)
        if let second { try replace("sub/pic.jpg", by: second) }
    }

    private func replace(_ photo: String, by bytes: [UInt8]) throws {
        try bench.tree.write(bytes, to: "gallery/\(photo)")
    }

    private static func good() throws -> [UInt8] { try RetentionBench.jpeg(1) }
    private static func other() throws -> [UInt8] { try RetentionBench.jpeg(2, of: "orientation-1.jpg") }
    private static func truncated() throws -> [UInt8] {
        let photo = try other()
        return Array(photo.prefix(photo.count / 2))
    }

    /// How many photos there are in the archive.
    private var archived: Int { bench.memory.keys.count { $0.rawValue.hasPrefix("gallery-archive/") } }

    @Test(arguments: [true, false], [true, false])
    func `a photo of the same name in another folder does not let the text of one go that is stored nowhere`(
        isSynced: Bool, isThere: Bool
    ) async throws {
        try write(try Self.good(), isThere ? try Self.truncated() : nil)
        if isSynced { try await bench.sync() }
        for expected in [(1, 1), (0, 0)] {
            let summary = try await bench.cleanUp()
            #expect((summary.archived, summary.deleted) == expected)
            #expect(summary.errors.named.map(\.file) == [bench.gallery.pushing("sub/h.json")])
            #expect(try bench.files() == ["sub/h.json"])
        }
        #expect(archived == 1)
        // Mended, it is archived, too.
        try replace("sub/pic.jpg", by: try Self.other())
        try await bench.sync()
        let summary = try await bench.cleanUp()
        #expect((summary.archived, summary.deleted, summary.errors.count) == (1, 1, 0))
        #expect(archived == 2)
        #expect(try bench.ledger.check() == [])
    }

    @Test(arguments: [true, false])
    func `two photos of one name are two events, and both are archived`(isSynced: Bool) async throws {
        try write(try Self.good(), try Self.other())
        if isSynced {
            try await bench.sync()
            let photos = try bench.ledger.events(withID: "1").compactMap(\.photoMD5)
            #expect(Set(photos).count == 2)
        }
        let summary = try await bench.cleanUp()
        #expect((summary.archived, summary.deleted, summary.errors.count) == (2, 2, 0))
        #expect(try bench.files() == [])
        #expect(archived == 2)
        #expect(try bench.ledger.events(withID: "1").map(\.retention) == [.archived, .archived])
        #expect(try bench.ledger.check() == [])
    }

    @Test(arguments: [true, false])
    func `the same photo in both folders is archived once`(isSynced: Bool) async throws {
        try write(try Self.good(), try Self.good())
        if isSynced {
            try await bench.sync()
            #expect(try bench.ledger.events(withID: "1").map(\.photoState) == [.stored])
        }
        let summary = try await bench.cleanUp()
        #expect((summary.archived, summary.errors.count) == (1, 0))
        #expect(try bench.files() == [])
        #expect(archived == 1)
        #expect(try bench.ledger.check() == [])
    }

    @Test func `a photo that another one has replaced since counts as it lies there`() async throws {
        try write(try Self.good(), try Self.good())
        try await bench.sync()
        try replace("sub/pic.jpg", by: try Self.other())
        let first = try await bench.cleanUp()
        #expect((first.archived, first.deleted, first.errors.count) == (0, 0, 1))
        #expect(try bench.files().count == 1)
        let second = try await bench.cleanUp()
        #expect((second.archived, second.deleted, second.errors.count) == (1, 1, 0))
        #expect(try bench.files() == [])
        #expect(archived == 2)
    }

    @Test func `an event whose photo is beside one file and in another goes from both`() async throws {
        try bench.write(bench.event("1", photo: "pic.jpg"), to: "h.json")
        try replace("pic.jpg", by: try Self.good())
        try await bench.sync()
        try bench.write(bench.event("1", photo: Data(try Self.good()).base64EncodedString()), to: "sub/h.json")
        try await bench.sync()
        #expect(try bench.ledger.events(withID: "1").map(\.photoState) == [.stored])
        let summary = try await bench.cleanUp()
        #expect((summary.archived, summary.errors.count, summary.skipped.count) == (1, 0, 0))
        #expect(try bench.files() == [])
        #expect(try bench.ledger.check() == [])
    }

    @Test func `a file that does not hold an event as it was read is read again, as it lies there`() async throws {
        var bench = bench
        // Nobody has seen that it was edited.
        bench.takesInFirst = false
        try bench.write(bench.event("1", photo: try RetentionBench.photo(1)), to: "h.json")
        try await bench.sync()
        try bench.write(bench.event("1", age: 92, photo: try RetentionBench.photo(1)), to: "h.json")
        let summary = try await bench.cleanUp()
        #expect((summary.deleted, summary.skipped.count) == (0, 1))
        var states: [PhotoState] = []
        try bench.ledger.photos(at: bench.gallery.appending("h.json")) { states.append($0.state) }
        #expect(states == [.pending])
    }

    /// A photo in the file, one beside it, and one that is missing there.
    @Test(arguments: ["inside", "beside", "missing"])
    func `a dry run names what is known to have failed, and the cleanup does nothing else`(place: String) async throws {
        let damaged = Data(try Self.truncated())
        try bench.write(
            bench.event("1", photo: place == "inside" ? damaged.base64EncodedString() : "pic.jpg"), to: "h.json")
        if place == "beside" { try replace("pic.jpg", by: Array(damaged)) }
        try bench.write(bench.event("2", photo: try RetentionBench.photo(2)), to: "good.json")
        try await bench.sync()
        let forecast = try await bench.retention().preview(olderThan: 90)
        let summary = try await bench.cleanUp()
        for result in [forecast, summary] {
            #expect((result.archived, result.deleted, result.errors.count) == (1, 1, 1))
            #expect(result.errors.named.map(\.event) == ["1"])
            #expect(result.errors.named.map(\.file) == [bench.gallery.appending("h.json")])
        }
        if place != "beside" { #expect(forecast.errors == summary.errors) }
        #expect(try bench.files() == ["h.json"])
    }

    @Test(arguments: [true, false])
    func `what was stored of a photo is archived when it is gone, not when a damaged one has its place`(
        isGone: Bool
    ) async throws {
        try bench.write(bench.event("1", photo: "pic.jpg"), to: "h.json")
        try replace("pic.jpg", by: try Self.good())
        try await bench.sync()
        if isGone {
            try FileManager.default.removeItem(atPath: bench.gallery.appending("pic.jpg").string)
        } else {
            try replace("pic.jpg", by: try Self.truncated())
        }
        let summary = try await bench.cleanUp()
        #expect((summary.archived, summary.deleted, summary.errors.count) == (isGone ? (1, 1, 0) : (0, 0, 1)))
        #expect(try bench.files() == (isGone ? [] : ["h.json"]))
    }
}
