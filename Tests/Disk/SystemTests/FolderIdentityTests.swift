import Glibc
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct FolderIdentityTests {
    private let tree: TemporaryTree

    init() throws {
        tree = try TemporaryTree()
    }

    @Test func `a folder is the same by a link and after a rename, and another one in its place is not`() throws {
        let folder = try tree.makeFolder("drive")
        #expect(symlink("drive", tree.path("link").string) == 0)
        let known = try #require(FolderIdentity(at: folder))
        #expect(FolderIdentity(at: tree.path("link")) == known)
        try folder.rename(to: tree.path("elsewhere"))
        #expect(FolderIdentity(at: folder) == nil)
        try tree.makeFolder("drive")
        #expect(FolderIdentity(at: folder) != known)
        #expect(FolderIdentity(at: tree.path("elsewhere")) == known)
    }

    @Test func `what is no folder has no identity`() throws {
        try tree.write("1", to: "file")
        #expect(FolderIdentity(at: tree.path("file")) == nil && FolderIdentity(at: tree.path("none")) == nil)
    }
}
