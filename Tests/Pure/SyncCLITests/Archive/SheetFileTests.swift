import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncCLI

@Suite struct SheetFileTests {
    private let tree: TemporaryTree

    init() throws {
        tree = try TemporaryTree()
    }

    @Test func `a sheet is written whole, and nothing is left beside it`() throws {
        try SheetFile(tree.path("a.html"), overwrites: false).write("<p>")
        #expect(try tree.read("a.html") == Array("<p>".utf8))
        #expect(try tree.files() == ["a.html"])
    }

    @Test func `a file that is there stays, unless it is to be replaced`() throws {
        try tree.write("mine", to: "a.html")
        #expect { try SheetFile(tree.path("a.html"), overwrites: false) } throws: { "\($0)".contains("--force") }
        try SheetFile(tree.path("a.html"), overwrites: true).write("new")
        #expect(try tree.read("a.html") == Array("new".utf8))
    }

    @Test func `a file that comes meanwhile stays`() throws {
        let file = try SheetFile(tree.path("a.html"), overwrites: false)
        try tree.write("mine", to: "a.html")
        #expect { try file.write("new") } throws: { "\($0)".contains("is there already") }
        #expect(try tree.read("a.html") == Array("mine".utf8))
        #expect(try tree.files() == ["a.html"])
    }

    @Test func `a folder, and a place that is not there, are told`() throws {
        try tree.makeFolder("dir")
        #expect { try SheetFile(tree.path("dir"), overwrites: true) } throws: { "\($0)".contains("is a folder") }
        #expect {
            try SheetFile(tree.path("no/a.html"), overwrites: false).write("x")
        } throws: {
            ($0 as? CommandFailure)?.status == .failed && "\($0)".contains("a.html: cannot be written")
        }
    }
}
