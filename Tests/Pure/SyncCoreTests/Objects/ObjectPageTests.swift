import SyncCore
import Testing

@Suite struct ObjectPageTests {
    private func page(_ keys: [String]) throws -> ObjectPage {
        ObjectPage(objects: try keys.map { ObjectInfo(key: try ObjectKey($0), size: 1) })
    }

    @Test(
        arguments: [
            ([], "a", true), (["a"], nil, true), (["a"], "a", false), (["a"], "b", false),
            (["b", "c", "d"], "a", true),
            (["b", "d", "c"], "a", false), (["b", "b"], nil, false), (["b", "ba", "b-"], nil, false),
            // By bytes: a letter with an accent that stands behind it comes before the same as one character.
            (["e\u{301}", "\u{E9}"], nil, true), (["\u{E9}", "e\u{301}"], nil, false),
        ] as [([String], String?, Bool)])
    func `a page is in order where each key comes behind the one before it`(
        keys: [String], last: String?, isInOrder: Bool
    ) throws {
        let last = try last.map { try ObjectKey($0) }
        #expect(try page(keys).isInOrder(after: last) == isInOrder)
    }

    @Test func `what is listed below a prefix is told by its bytes`() throws {
        let listing = try page(["a/b", "a/c/d", "a/c/\u{301}", "a/cd", "b"])
        #expect(listing.listed(below: "a/c/").map(\.key.rawValue) == ["a/c/d", "a/c/\u{301}"])
        #expect(listing.listed(below: "c").isEmpty)
    }
}
