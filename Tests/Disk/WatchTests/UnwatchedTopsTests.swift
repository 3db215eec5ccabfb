import SyncCore
import SystemPackage
import Testing

@testable import SyncWatch

@Suite struct UnwatchedTopsTests {
    private func path(_ text: String) throws -> RelativePath {
        try #require(RelativePath(FilePath("/root").pushing(FilePath(text)), below: "/root"))
    }

    private func make(_ paths: [String], limit: Int) throws -> UnwatchedTops {
        var tops = UnwatchedTops(limit: limit)
        for text in paths { tops.insert(try path(text)) }
        return tops
    }

    @Test(
        arguments: [
            // What is below one of them is told by it, whichever comes first.
            (["a", "a/b", "c/d/e"], 4, ["a", "c/d/e"]),
            (["a/b", "a", "ab"], 4, ["a", "ab"]),
            ([""], 4, [""]),
            (["a", ""], 4, [""]),
            // Too many: the deepest are joined first, in the folder that holds them.
            (["a", "b/c/d", "b/c/e"], 2, ["a", "b/c"]),
            (["a/1", "a/2", "b/1", "b/2", "c"], 3, ["a", "b", "c"]),
            (["a/1/x", "b/1", "b"], 2, ["a/1/x", "b"]),
            // Many in one folder: then it is that one, up to the root.
            (["x/1", "x/2", "x/3"], 2, ["x"]),
            (["1", "2", "3"], 2, [""]),
        ] as [([String], Int, [String])])
    func `they are the uppermost, and no more than the limit`(paths: [String], limit: Int, expected: [String]) throws {
        let tops = try make(paths, limit: limit)
        #expect(Set(tops.all.map { $0.filePath.string }) == Set(expected))
        let places = try paths.map(path)
        #expect(places.allSatisfy { tops.covers($0) })
    }

    @Test func `what is covered is at or below one of them`() throws {
        let tops = try make(["a/b", "c"], limit: 4)
        let covered = try ["a/b", "a/b/c", "c/d/e"].map(path)
        #expect(covered.allSatisfy { tops.covers($0) })
        let others = try ["", "a", "a/bc", "d"].map(path)
        #expect(!others.contains { tops.covers($0) })
        #expect(!UnwatchedTops().covers(RelativePath()))
    }

    @Test func `what is gone is none of them any more`() throws {
        var tops = try make(["a/b", "a/c/d", "ab"], limit: 4)
        tops.remove(try path("a"))
        #expect(tops.all.map { $0.filePath.string } == ["ab"])
    }

    @Test func `folders that wait for a watch are counted as long as they are there`() throws {
        var tops = try make(["a", "b", "c/d"], limit: 3)
        for text in ["a", "a/x", "a/x/y", "b", "c/d", "elsewhere"] { tops.countWaiting(try path(text)) }
        #expect(tops.waiting == 5)
        // Joined in the folders above.
        tops.insert(try path("c/e"))
        tops.countWaiting(try path("c/e"))
        #expect(tops.waiting == 6)
        tops.remove(try path("a"))
        #expect(tops.waiting == 3)
        tops.remove(try path("c"))
        #expect(tops.waiting == 1)
    }
}
