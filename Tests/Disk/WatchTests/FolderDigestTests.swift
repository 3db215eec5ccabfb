import FoundationEssentials
import Glibc
import SyncCore
import SystemPackage
import Testing

@testable import SyncWatch

@Suite struct FolderDigestTests {
    private let tree: WatchedTree
    private let scanner = FileTreeScanner()

    init() throws {
        tree = try WatchedTree()
        for folder in ["a/b", "@eaDir"] { try tree.makeFolder(folder) }
        for file in ["1.jpg", "2.jpg", "a/3.jpg", "a/b/4.jpg", "@eaDir/5.jpg"] { try tree.write(file) }
    }

    private func scan(known: [FilePath: SHA256Digest] = [:]) throws -> [FilePath: ScannedFolder] {
        var folders: [FilePath: ScannedFolder] = [:]
        try scanner.scan(root: tree.root, from: tree.root, known: { known[$0] }) { folders[$0.path] = $0 }
        return folders
    }

    @Test func `a folder that is as it was is visited without its files, and so are those below it`() throws {
        let first = try scan()
        #expect(first.count == 3 && first.values.allSatisfy { $0.digest != nil && !$0.isUnchanged })
        let again = try scan(known: first.compactMapValues(\.digest))
        #expect(Set(again.keys) == Set(first.keys))
        #expect(again.values.allSatisfy { $0.isUnchanged && $0.files.isEmpty })
        try tree.write("a/3.jpg", "longer")
        let last = try scan(known: first.compactMapValues(\.digest))
        #expect(last.filter { !$0.value.isUnchanged }.map(\.value.files.count) == [1])
        #expect(last["a"]?.isUnchanged == false)
    }

    @Test(
        arguments: [
            "content", "time", "new file", "removed", "renamed", "mode", "new folder", "hidden file", "file in @eaDir",
        ])
    func `whatever changes in a folder changes its digest`(what: String) throws {
        try tree.write(".hidden.jpg")
        let before = try #require(try scan()[""]?.digest)
        #expect(try scan()[""]?.digest == before)
        switch what {
        case "content": try tree.write("1.jpg", "other")
        case "time": #expect(utimensat(AT_FDCWD, tree.path("1.jpg").string, nil, 0) == 0)
        case "new file": try tree.write("3.jpg")
        case "removed": try tree.remove(tree.path("2.jpg"))
        case "renamed": try tree.move(tree.path("2.jpg"), to: tree.path("3.jpg"))
        case "mode": #expect(chmod(tree.path("1.jpg").string, 0o640) == 0)
        case "new folder": try tree.makeFolder("c")
        case "hidden file": try tree.write(".hidden.jpg", "other")
        default: try tree.write("@eaDir/6.jpg")
        }
        // What a device makes of photos is nobody's.
        #expect((try scan()[""]?.digest == before) == (what == "file in @eaDir"))
    }

    @Test(arguments: ["link", "hidden folder", "pipe"])
    func `a folder has none where something else counts, too`(what: String) throws {
        switch what {
        case "link": try tree.makeLink("link.jpg", to: tree.path("1.jpg"))
        case "hidden folder": try tree.makeFolder(".cache")
        default: #expect(mkfifo(tree.path("pipe").string, 0o600) == 0)
        }
        let folders = try scan()
        #expect(folders[""]?.digest == nil && folders["a"]?.digest != nil)
        #expect(folders[""]?.files.count == 2)
    }

    @Test func `two folders of one content are two`() throws {
        let folders = try scan()
        #expect(Set(folders.values.compactMap(\.digest)).count == 3)
    }
}
