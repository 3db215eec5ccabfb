import SystemPackage
import Testing

@testable import SyncWatch

@Suite struct WatchTreeTests {
    var tree = WatchTree()
    let access = FolderAccess(nil)

    /// 1 is the root, with `a` (2) → `b` (3) → `c` (4), and `d` (5).
    init() {
        tree.insertRoot(1, access: access)
        _ = tree.place(2, named: "a", under: 1, access: access)
        _ = tree.place(3, named: "b", under: 2, access: access)
        _ = tree.place(4, named: "c", under: 3, access: access)
        _ = tree.place(5, named: "d", under: 1, access: access)
    }

    @Test(arguments: [(1, ""), (2, "a"), (4, "a/b/c"), (5, "d"), (99, "")] as [(Int32, FilePath)])
    func `a path is made of the names on the way up`(id: Int32, path: FilePath) {
        #expect(tree.path(of: id).filePath == path)
    }

    @Test mutating func `moving a folder moves what is below it`() {
        #expect(tree.place(3, named: "e", under: 5, access: access) == [])
        #expect(tree.path(of: 4).filePath == "d/e/c")
        #expect(tree.child("b", of: 2) == nil)
        #expect(tree.count == 5)
    }

    @Test mutating func `what had the name before is displaced with all below it`() {
        let displaced = tree.place(6, named: "a", under: 1, access: access)
        #expect(displaced.map { Set($0) } == [2, 3, 4])
        #expect(tree.path(of: 6).filePath == "a")
        #expect(tree.count == 3)
    }

    @Test mutating func `a folder that takes the place of its own parent stays`() {
        #expect(tree.place(3, named: "a", under: 1, access: access) == [2])
        #expect(tree.path(of: 4).filePath == "a/c")
    }

    @Test mutating func `a folder is never placed below itself`() {
        #expect(tree.place(2, named: "x", under: 4, access: access) == nil)
        #expect(tree.place(2, named: "x", under: 2, access: access) == nil)
        #expect(tree.path(of: 4).filePath == "a/b/c")
    }

    @Test mutating func `placing a folder where it is changes nothing`() {
        #expect(tree.place(3, named: "b", under: 2, access: access) == [])
        #expect(tree.path(of: 4).filePath == "a/b/c")
    }

    @Test mutating func `removing takes out everything below`() {
        #expect(Set(tree.remove(2)) == [2, 3, 4])
        #expect(tree.remove(2) == [])
        #expect(tree.child("a", of: 1) == nil)
        #expect(tree.count == 2)
    }
}
