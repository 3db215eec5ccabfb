import Foundation
import SyncCore
import SyncLedger
import SyncTestSupport
import SyncWatch
import SystemPackage
import Testing

@testable import SyncEngine

/// Scans of folders in which nothing has changed.
@Suite struct KnownFolderTests {
    private let tree: TemporaryTree
    private let ledger: Ledger
    private let folder: FolderRecord

    init() throws {
        tree = try TemporaryTree()
        for name in ["a.jpg", "trip/b.jpg", "trip/day/c.jpg"] { try tree.write("photo \(name)", to: "gallery/\(name)") }
        ledger = try Ledger.inMemory()
        folder = try ledger.register([WatchedFolder(kind: .gallery, path: tree.path("gallery"))])[0]
    }

    private func scan() throws -> FolderScan.Summary {
        try FolderScan(ledger: ledger, scanner: FileTreeScanner(), settle: .zero).run(
            folder, from: folder.path, at: Date(timeIntervalSinceNow: 1))
    }

    private var known: Int {
        get throws { try ledger.knownDirectories(of: folder.id, below: "").count }
    }

    @Test func `nothing is compared that is as it was, and what changes is found`() throws {
        #expect(try scan().queued == 3 && known == 0)
        #expect(try scan().filesSeen == 3 && known == 3)
        let quiet = try scan()
        #expect(quiet.filesSeen == 3 && quiet.queued == 0 && quiet.missing == 0)
        try tree.write("new", to: "gallery/trip/d.jpg")
        #expect(try scan().queued == 1 && known == 2)
        try FileManager.default.removeItem(atPath: tree.path("gallery/trip/day/c.jpg").string)
        let last = try scan()
        #expect(last.missing == 1 && last.filesSeen == 3)
        try FileManager.default.removeItem(atPath: tree.path("gallery/trip").string)
        #expect(try scan().missing == 2)
    }

    @Test func `a photo that was said to be gone, and is there, is found again`() throws {
        for _ in 1...3 { _ = try scan() }
        _ = try ledger.markGone(folder.id, path: "trip/b.jpg", at: Date())
        #expect(try known == 2)
        #expect(try scan().queued == 1)
    }

    @Test func `a folder that is moved is found under its new name`() throws {
        for _ in 1...3 { _ = try scan() }
        try FileManager.default.moveItem(
            atPath: tree.path("gallery/trip").string, toPath: tree.path("gallery/rome").string)
        let moved = try scan()
        #expect(moved.moved == 2 && moved.missing == 0)
        #expect(try scan().filesSeen == 3 && known == 3)
    }
}
