import FoundationEssentials
import SyncTestSupport
import SystemPackage
import Testing

@Suite("TemporaryTree")
struct TemporaryTreeTests {
    @Test("The folder is gone with its tree")
    func removed() throws {
        var tree: TemporaryTree? = try TemporaryTree()
        let root = try #require(tree?.root.string)
        try tree?.write("x", to: "a/b/c.txt")
        #expect(try tree?.files() == ["a/b/c.txt"])
        tree = nil
        #expect(!FileManager.default.fileExists(atPath: root))
    }
}
