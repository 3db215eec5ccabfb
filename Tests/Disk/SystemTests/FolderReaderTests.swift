import Glibc
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct FolderReaderTests {
    private let tree: TemporaryTree

    init() throws {
        tree = try TemporaryTree()
        try tree.write("x", to: "file")
        try tree.makeFolder("folder/deep")
        #expect(symlink("folder", tree.path("link").string) == 0)
    }

    @Test func `all names in a folder are told, but those of itself and the one above`() throws {
        #expect(try Folder.names(in: tree.root)?.map(\.string).sorted() == ["file", "folder", "link"])
        #expect(try Folder.names(in: tree.path("folder/deep")) == [])
    }

    @Test(arguments: ["none", "file", "file/below"])
    func `where there is no folder, there are no names`(name: String) throws {
        #expect(try Folder.names(in: tree.path(name)) == nil)
        #expect(try Folder.folders(in: tree.path(name)) == [])
    }

    @Test func `a link to a folder is none of the folders in it`() throws {
        #expect(try Folder.folders(in: tree.root) == [tree.path("folder")])
    }
}
