import Foundation
import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import SyncWatch
import SystemPackage
import Testing

/// What a scan meets and nobody stores, although it may be a photo.
@Suite struct LeftOutEntryTests {
    private static let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0] + [UInt8](repeating: 1, count: 60)

    private let tree: TemporaryTree
    private let ledger: Ledger
    private let folder: FolderRecord

    init() throws {
        tree = try TemporaryTree()
        try tree.makeFolder("gallery")
        ledger = try Ledger.inMemory()
        folder = try ledger.register([WatchedFolder(kind: .gallery, path: tree.path("gallery"))])[0]
    }

    private func leftOut(after: TimeInterval = 0) throws -> [String] {
        let scan = FolderScan(ledger: ledger, scanner: FileTreeScanner(), settle: .zero)
        _ = try scan.run(folder, from: folder.path, at: Date(timeIntervalSinceNow: after))
        let summary = try ledger.leftOut(naming: 99)
        #expect(summary.count == summary.items.count)
        return summary.items.map { $0.path.relative(to: folder.path).string }
    }

    private func link(_ name: String, to target: FilePath) throws {
        try FileManager.default.createSymbolicLink(
            atPath: tree.path("gallery").appending(name).string, withDestinationPath: target.string)
    }

    @Test func `a link to a photo or to a folder elsewhere is left out, and named`() throws {
        try tree.write(Self.jpeg, to: "elsewhere/a.jpg")
        try tree.write(Self.jpeg, to: "gallery/own.jpg")
        try tree.write("words", to: "elsewhere/notes.txt")
        try link("photo.jpg", to: tree.path("elsewhere/a.jpg"))
        try link("album", to: tree.path("elsewhere"))
        try link("notes.txt", to: tree.path("elsewhere/notes.txt"))
        try link("own twin.jpg", to: tree.path("gallery/own.jpg"))
        try link("broken.jpg", to: tree.path("nowhere.jpg"))
        #expect(try leftOut() == ["album", "photo.jpg"])
        try FileManager.default.removeItem(atPath: tree.path("gallery/album").string)
        #expect(try leftOut() == ["photo.jpg"])
    }

    @Test func `a picture under a name that programs use counts once it is older than a day`() throws {
        try tree.write(Self.jpeg, to: "gallery/deep/a.jpg.part")
        try tree.write(Self.jpeg, to: "gallery/.hidden.jpg")
        try tree.write("not a picture, and long enough to be looked at", to: "gallery/b.part")
        #expect(try leftOut() == [])
        #expect(try leftOut(after: 90_000) == [".hidden.jpg", "deep/a.jpg.part"])
    }
}
