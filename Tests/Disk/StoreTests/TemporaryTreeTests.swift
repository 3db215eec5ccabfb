import FoundationEssentials
import SyncCore
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

    @Test func `what is written again is later than before, also where the clock has not gone on`() throws {
        let tree = try TemporaryTree()
        try tree.write("one", to: "a.txt")
        // An hour ahead of the clock, whose own times would be earlier, whatever its kernel makes of them.
        try tree.age("a.txt", bySeconds: -3_600)
        let ahead = try tree.stamp("a.txt").modified
        let later = try (1...3).map { number in
            try tree.write("\(number)..", to: "a.txt")
            return try tree.stamp("a.txt").modified
        }
        let stamps = [ahead] + later
        #expect(stamps == stamps.sorted() && Set(stamps).count == 4)
    }

    @Test func `a file that the test itself has open is written all the same`() throws {
        let tree = try TemporaryTree()
        let file = try tree.write("one", to: "a.txt")
        let writer = try FileDescriptor.open(file, .writeOnly)
        try writer.closeAfter { _ = try tree.write("two", to: "a.txt") }
        #expect(try tree.read("a.txt") == Array("two".utf8))
    }
}
