import Foundation
import SyncCore
import SyncEngine
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

/// What is read for a ZIP file of photos, and what it says of those that are not in it.
@Suite struct PhotoZipTests {
    private let tree: TemporaryTree
    private let store = CuttingStore()
    private let disk = BlockingPool(name: "test", threads: 1)

    init() throws {
        tree = try TemporaryTree()
    }

    private func zip(_ photos: [PhotoZip.Photo], photo: Int = 64 << 20, whole: Int64 = 4 << 30) -> PhotoZip {
        PhotoZip(
            of: photos, from: store, disk: disk, within: .init(photo: photo, whole: whole), leavingOut: [],
            now: Date(timeIntervalSince1970: 0))
    }

    private func file(_ name: String, _ bytes: [UInt8]) throws -> PhotoZip.Photo {
        try tree.write(bytes, to: name)
        return .init(source: .file(tree.path(name)), name: name, modified: Date(timeIntervalSince1970: 1e9))
    }

    private func object(_ name: String, _ bytes: [UInt8]) async throws -> PhotoZip.Photo {
        let key = try ObjectKey("users/ana/photos/\(name)")
        try await store.store(bytes, at: key)
        return .init(
            source: .object(key, size: Int64(bytes.count)), name: name, modified: Date(timeIntervalSince1970: 1e9))
    }

    /// - Parameter first: runs when the first piece has come.
    private func all(of zip: PhotoZip, afterFirst first: () throws -> Void = {}) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let piece = await zip.next() {
            if bytes.isEmpty { try first() }
            #expect(piece.count <= 256 << 10)
            bytes += piece
        }
        return bytes
    }

    private func has(_ bytes: [UInt8], _ part: [UInt8]) -> Bool { Data(bytes).range(of: Data(part)) != nil }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes.suffix(2_000), as: UTF8.self) }

    @Test func `a file of many pieces comes whole, and so does an object`() async throws {
        let (one, other): ([UInt8], [UInt8]) = (.noise(700_001), .noise(600_000, seed: 2))
        let photos = [try file("a.jpg", one), try await object("b.jpg", other)]
        let bytes = try await all(of: zip(photos))
        #expect(has(bytes, one) && has(bytes, other))
        #expect(!text(bytes).contains("left-out.txt"))
    }

    @Test func `nothing is read of what has no room, and a smaller one still comes`() async throws {
        let photos = [
            try await object("a.jpg", .noise(3_000)), try await object("b.jpg", .noise(9_000)),
            try await object("c.jpg", .noise(1_000)),
        ]
        let bytes = try await all(of: zip(photos, whole: 1 << 20 + 8_000))
        #expect(store.ranges.count == 2)
        #expect(text(bytes).contains("\nb.jpg: there is no room for it"))
    }

    @Test func `what is too large, gone, a pipe or a folder is told of`() async throws {
        let large = try file("large.jpg", .noise(2 << 20))
        var others: [PhotoZip.Photo] = []
        for name in ["gone.jpg", "pipe.jpg", "folder.jpg"] {
            others.append(
                .init(source: .file(tree.path(name)), name: name, modified: Date(timeIntervalSince1970: 0)))
        }
        try tree.path("folder.jpg").makeFolder(.ownerReadWriteExecute)
        #expect(mkfifo(tree.path("pipe.jpg").string, 0o600) == 0)
        let bytes = try await all(of: zip([large] + others, photo: 1 << 20))
        #expect(text(bytes).contains("\nlarge.jpg: it has more than 1 MiB: save it from its own page\n"))
        for name in ["gone.jpg", "pipe.jpg", "folder.jpg"] {
            #expect(text(bytes).contains("\n\(name): it cannot be read now\n"), "\(name)")
        }
    }

    @Test(arguments: [0, 300_000]) func `a file that changes while it is sent is told of, and what follows it comes`(
        left: Int
    ) async throws {
        let (first, second): ([UInt8], [UInt8]) = (.noise(900_000), .noise(1_000, seed: 2))
        let photos = [try file("a.jpg", first), try file("b.jpg", second)]
        let bytes = try await all(of: zip(photos)) {
            #expect(truncate(tree.path("a.jpg").string, left) == 0)
        }
        #expect(text(bytes).contains("\na.jpg: it has changed while it was sent, and is damaged in this file\n"))
        #expect(has(bytes, second))
        #expect(bytes.count > 901_000)
    }

    @Test func `a file that is replaced while it is sent comes as it was`() async throws {
        let first: [UInt8] = .noise(900_000)
        let bytes = try await all(of: zip([try file("a.jpg", first)])) {
            try FileManager.default.removeItem(atPath: tree.path("a.jpg").string)
            try tree.write(.noise(900_001, seed: 2), to: "a.jpg")
        }
        #expect(has(bytes, first) && !text(bytes).contains("left-out.txt"))
    }

    @Test func `a long name that another photo has stays within what disks take`() async throws {
        let name = String(repeating: "é", count: 125) + ".jpg"
        let key = try ObjectKey("users/ana/photos/a.jpg")
        try await store.store([1], at: key)
        let photo = PhotoZip.Photo(
            source: .object(key, size: 1), name: name, modified: Date(timeIntervalSince1970: 0))
        let bytes = try await all(of: zip([photo, photo]))
        #expect(text(bytes).contains(String(repeating: "é", count: 123) + " (2).jpg"))
        #expect(!text(bytes).contains("left-out.txt"))
    }
}
