import FoundationEssentials
import SyncTestSupport
import SystemPackage
import Testing

@Suite
struct TemporaryTreeTests {
    @Test func `the folder is gone with its tree`() throws {
        var tree: TemporaryTree? = try TemporaryTree()
        let root = try #require(tree?.root.string)
        try tree?.write("x", to: "a/b/c.txt")
        #expect(try tree?.files() == ["a/b/c.txt"])
        tree = nil
        #expect(!FileManager.default.fileExists(atPath: root))
    }
}
