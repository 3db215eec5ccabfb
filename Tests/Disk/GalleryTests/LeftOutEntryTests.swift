import Foundation
import SyncCore
import SyncLedger
import SyncTestSupport
import SyncWatch
import SystemPackage
import Testing

@testable import SyncEngine

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

    private func leftOut(settle: Duration = .zero) throws -> [String] {
        let scan = FolderScan(ledger: ledger, scanner: FileTreeScanner(), settle: settle)
        // A moment later: the clock of files is coarser.
        _ = try scan.run(folder, from: folder.path, at: Date(timeIntervalSinceNow: 1))
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

    @Test(arguments: [WatchedFolder.Kind.gallery, .vacations])
    func `a link to a JSON file is left out, and named, where events may be in it`(kind: WatchedFolder.Kind) throws {
        let ledger = try Ledger.inMemory()
        let folder = try ledger.register([WatchedFolder(kind: kind, path: tree.path("gallery"))])[0]
        for name in ["t.json", "t.jsonl"] { try tree.write("[]", to: "elsewhere/\(name)") }
        try tree.write("[]", to: "gallery/own.json")
        try link("s.json", to: tree.path("elsewhere/t.json"))
        try link("S.NDJSON", to: tree.path("elsewhere/t.jsonl"))
        try link("twin.json", to: tree.path("gallery/own.json"))
        try link("broken.json", to: tree.path("nowhere.json"))
        let scan = FolderScan(ledger: ledger, scanner: FileTreeScanner(), settle: .zero)
        _ = try scan.run(folder, from: folder.path, at: Date(timeIntervalSinceNow: 1))
        let items = try ledger.leftOut(naming: 9).items
        let names = items.map(\.path.lastComponent?.string)
        #expect(names == (kind == .gallery ? ["S.NDJSON", "s.json"] : []))
        #expect(items.allSatisfy { $0.reason == "a symbolic link: links are not followed" })
    }

    @Test func `a picture under a name that programs use counts once it is quiet`() throws {
        try tree.write(Self.jpeg, to: "gallery/deep/a.jpg.part")
        try tree.write(Self.jpeg, to: "gallery/.hidden.jpg")
        try tree.write("not a picture, and long enough to be looked at", to: "gallery/b.part")
        #expect(try leftOut(settle: .seconds(3_600)) == [])
        // An agent looks at them again.
        let scan = FolderScan(ledger: ledger, scanner: FileTreeScanner(), settle: .seconds(3_600))
        let mixed = try scan.run(folder, from: folder.path, at: Date()).mixed
        #expect(Set(mixed) == [folder.path, tree.path("gallery/deep")])
        #expect(try leftOut() == [".hidden.jpg", "deep/a.jpg.part"])
    }

    @Test func `a picture that only has this program's name in its own counts, what the program is at does not`() throws
    {
        try tree.write(Self.jpeg, to: "gallery/.sync-agent-trip.jpg")
        try tree.write(Self.jpeg, to: "gallery/.a.jpg.sync-agent-part")
        #expect(try leftOut() == [".sync-agent-trip.jpg"])
    }

    @Test func `a folder under such a name counts when pictures are in it, however deep`() throws {
        for folder in [".hidden/2024/June", "~old", "Paris.tmp", "back~"] {
            try tree.write(Self.jpeg, to: "gallery/\(folder)/a.jpg")
        }
        try tree.write("words", to: "gallery/.git/config")
        try tree.makeFolder("gallery/.empty")
        #expect(try leftOut() == [".hidden", "Paris.tmp", "back~", "~old"])
    }

    @Test(
        arguments: ["@eaDir", ".Trash-1000", ".Trashes", ".thumbnails", ".@__thumb"])
    func `what devices make of photos, and what was thrown away, is not missed`(name: String) throws {
        try tree.write(Self.jpeg, to: "gallery/\(name)/a.jpg")
        #expect(try leftOut() == [])
    }

    @Test(
        arguments: [
            Array("new\nline.jpg".utf8), Array("-rf.jpg".utf8), Array("end.jpg ".utf8),
            [0xFF, 0xFE, 0x2E, 0x6A, 0x70, 0x67],
            [UInt8](repeating: 0x79, count: 251) + Array(".jpg".utf8), Array("#recycle".utf8), Array("lost+found".utf8),
        ])
    func `odd names are stored as any other`(name: [UInt8]) throws {
        let component = try #require(FilePath.Component(platformString: name.map { CChar(bitPattern: $0) } + [0]))
        for place in [folder.path.appending(component), folder.path.appending("below").appending(component)] {
            try FileManager.default.createDirectory(
                atPath: folder.path.appending("below").string, withIntermediateDirectories: true)
            let file = try FileDescriptor.open(place, .writeOnly, options: .create, permissions: .ownerReadWrite)
            _ = try file.closeAfter { try file.writeAll(Self.jpeg) }
        }
        #expect(try leftOut() == [])
        #expect(try ledger.overview().totals[.pending].files == 2)
    }

    @Test func `what a hint tells of is left out as by a scan, and in its directory alone`() throws {
        for place in ["a.jpg.part", "below/b.jpg.part", "below/deep/c.jpg.part"] {
            try tree.write(Self.jpeg, to: "gallery/\(place)")
        }
        let scan = FolderScan(ledger: ledger, scanner: FileTreeScanner(), settle: .zero)
        let now = Date(timeIntervalSinceNow: 1)
        func noteOthers(in directory: FilePath) throws {
            try scan.noteOthers(in: [(folder, directory)], reviewing: [folder], at: now)
        }
        func names() throws -> [String] {
            try ledger.leftOut(naming: 9).items.map { $0.path.relative(to: folder.path).string }
        }
        try noteOthers(in: tree.path("gallery/below"))
        #expect(try names() == ["below/b.jpg.part"])
        try noteOthers(in: folder.path)
        #expect(try names() == ["a.jpg.part", "below/b.jpg.part"])
        _ = try scan.run(folder, from: tree.path("gallery/below"), at: now)
        let told = try names()
        #expect(told == ["a.jpg.part", "below/b.jpg.part", "below/deep/c.jpg.part"])
        #expect(try leftOut() == told)
        try FileManager.default.removeItem(atPath: tree.path("gallery/a.jpg.part").string)
        try noteOthers(in: folder.path)
        #expect(try names() == ["below/b.jpg.part", "below/deep/c.jpg.part"])
        try FileManager.default.removeItem(atPath: tree.path("gallery/below").string)
        _ = try scan.noteGone([tree.path("gallery/below")], in: folder, at: now)
        #expect(try names() == [])
    }

    @Test func `what has got its name is no longer left out, and no scan is needed for that`() throws {
        let part = try tree.write(Self.jpeg, to: "gallery/a.jpg.part")
        try tree.write(Self.jpeg, to: "gallery/b.jpg.part")
        #expect(try leftOut() == ["a.jpg.part", "b.jpg.part"])
        try FileManager.default.moveItem(atPath: part.string, toPath: tree.path("gallery/a.jpg").string)
        try ledger.reviewLeftOutEntries(of: folder.id, isThere: FileTreeScanner().isThere)
        #expect(try ledger.leftOut(naming: 9).items.map(\.path.lastComponent?.string) == ["b.jpg.part"])
    }
}
