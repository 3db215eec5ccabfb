import Glibc
import SyncCore
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct NewFileTests {
    private static let hidden = ".a.txt.sync-agent-part"

    private let tree: TemporaryTree
    private var path: FilePath { tree.path("a.txt") }

    init() throws {
        tree = try TemporaryTree()
    }

    private func save(_ text: String, overwrites: Bool = false) throws -> Bool {
        try NewFile.save(text.utf8, to: path, permissions: .ownerReadWrite, overwrites: overwrites)
    }

    @Test func `until it is placed, nothing has the name; afterwards, nothing has the hidden one`() throws {
        let file = try NewFile(for: path)
        try file.descriptor.writeAll("whole".utf8)
        #expect(try tree.files() == [Self.hidden])
        #expect(try file.place(overwrites: false))
        #expect(try tree.files() == ["a.txt"])
        file.leave()
        try file.remove()
        #expect(try tree.read("a.txt") == Array("whole".utf8))
    }

    @Test func `where its folder was moved, it is removed there, and what has its place by now stays`() throws {
        let folder = try tree.makeFolder("Paris")
        let file = try NewFile(for: folder.appending("a.txt"), leftover: .kept)
        try file.descriptor.writeAll("whole".utf8)
        try folder.rename(to: tree.path("Rome"))
        try tree.write("another's", to: "Paris/\(Self.hidden)")
        try file.remove()
        #expect(try tree.files() == ["Paris/\(Self.hidden)"])
        try tree.path("Paris/\(Self.hidden)").unlink()
        let next = try NewFile(for: folder.appending("a.txt"), leftover: .kept)
        try folder.rename(to: tree.path("Oslo"))
        #expect(throws: Errno.noSuchFileOrDirectory) { try next.place(overwrites: false) }
        #expect(try tree.files().isEmpty)
    }

    @Test(arguments: [(NewFile.Leftover.emptied, "half", false), (.kept, "half", true), (.kept, "", false)])
    func `one that is given up leaves only what the next goes on from`(
        leftover: NewFile.Leftover, text: String, stays: Bool
    ) throws {
        do {
            let file = try NewFile(for: path, leftover: leftover)
            try file.descriptor.writeAll(text.utf8)
        }
        #expect(try tree.files() == (stays ? [Self.hidden] : []))
    }

    @Test(arguments: [(NewFile.Leftover.emptied, "newer"), (.kept, "newerhalf")])
    func `what a killed process left is begun anew, or gone on from`(leftover: NewFile.Leftover, text: String) throws {
        try tree.write("old, half", to: Self.hidden)
        let file = try NewFile(for: path, leftover: leftover)
        try file.descriptor.writeAll(toAbsoluteOffset: 0, "newer".utf8)
        #expect(try file.place(overwrites: false))
        #expect(try tree.read("a.txt") == Array(text.utf8))
    }

    @Test func `names that differ in bytes that are no text have hidden files of their own, and keep their bytes`()
        throws
    {
        let names = [[0x80], [0x81], [UInt8](repeating: 0xFE, count: 240), [UInt8](repeating: 0xFF, count: 240)]
        let paths = try names.map { name in
            tree.root.appending(try #require(FilePath.Component(bytes: [UInt8(ascii: "p")] + name)))
        }
        let files = try paths.map { try NewFile(for: $0) }
        #expect(Set(files.map(\.path)).count == 4)
        for file in files { #expect(try file.place(overwrites: false)) }
        #expect(Set(try Folder.names(in: tree.root) ?? []) == Set(paths.compactMap(\.lastComponent)))
    }

    @Test func `one writer at a time has it, and the next has it at once`() throws {
        let first = try NewFile(for: path)
        #expect(throws: Errno.wouldBlock) { _ = try NewFile(for: path) }
        first.leave()
        _ = try NewFile(for: path)
    }

    @Test(arguments: [true, false])
    func `what has the name stays, where files have second names and where not`(hasLinks: Bool) throws {
        let file = try NewFile(for: path) { (file, name) throws(Errno) in
            guard hasLinks else { throw .notSupported }
            try NewFile.link(file, name)
        }
        try file.descriptor.writeAll("new".utf8)
        try tree.write("theirs", to: "a.txt")
        #expect(try !file.place(overwrites: false))
        #expect(try tree.read("a.txt") == Array("theirs".utf8))
        file.leave()
        #expect(try tree.files() == ["a.txt"])
    }

    @Test func `where files have one name only, it gets its name too`() throws {
        let file = try NewFile(for: path) { (_, _) throws(Errno) in throw .notPermitted }
        try file.descriptor.writeAll("new".utf8)
        #expect(try file.place(overwrites: false))
        #expect(try tree.read("a.txt") == Array("new".utf8))
        #expect(try tree.files() == ["a.txt"])
    }

    /// What has the name when the sync of its folder failed: before, and after.
    @Test(
        arguments: [(nil, false, true), (nil, false, false), (nil, true, true), ("old", true, true)]
            as [(String?, Bool, Bool)])
    func `a name that cannot be put on the disk is given back`(old: String?, overwrites: Bool, hasLinks: Bool) throws {
        if let old { try tree.write(old, to: "a.txt") }
        let file = try NewFile(
            for: path, leftover: .kept,
            link: { (file, name) throws(Errno) in
                guard hasLinks else { throw .notSupported }
                try NewFile.link(file, name)
            }, syncFolder: { (_) throws(Errno) in throw .ioError })
        try file.descriptor.writeAll("new".utf8)
        #expect(throws: Errno.ioError) { try file.place(overwrites: overwrites) }
        file.leave()
        #expect(try tree.files() == (old == nil ? [] : ["a.txt"]))
        if let old { #expect(try tree.read("a.txt") == Array(old.utf8)) }
        #expect(try save("newer", overwrites: overwrites))
        #expect(try tree.read("a.txt") == Array("newer".utf8))
    }

    @Test func `of a whole file that gets no name nothing is left`() throws {
        let file = try NewFile(for: path, leftover: .kept, link: { (_, _) throws(Errno) in throw .ioError })
        try file.descriptor.writeAll("whole".utf8)
        #expect(throws: Errno.ioError) { try file.place(overwrites: false) }
        file.leave()
        #expect(try tree.files().isEmpty)
    }

    @Test func `what replaces a file leaves one name, also of what can be replaced in one step only`() throws {
        try tree.write("old", to: "a.txt")
        #expect(try save("new", overwrites: true))
        #expect(try tree.files() == ["a.txt"])
        try tree.write("outside", to: "b.txt")
        #expect(symlink("b.txt", tree.path("c.txt").string) == 0)
        #expect(
            try NewFile.save("c".utf8, to: tree.path("c.txt"), permissions: .ownerReadWrite, overwrites: true))
        #expect(try tree.read("b.txt") == Array("outside".utf8))
        #expect(try tree.files() == ["a.txt", "b.txt", "c.txt"])
    }

    @Test func `it replaces what it may, and a folder never`() throws {
        #expect(try save("first"))
        #expect(try !save("second"))
        #expect(try save("third", overwrites: true))
        #expect(try tree.read("a.txt") == Array("third".utf8))
        try tree.makeFolder("dir")
        #expect(throws: Errno.isDirectory) {
            try NewFile.save([1], to: tree.path("dir"), permissions: .ownerReadWrite, overwrites: true)
        }
        #expect(try tree.files() == ["a.txt"])
    }

    @Test func `a link that somebody put in the hidden place is not followed`() throws {
        try tree.write("precious", to: "outside")
        #expect(symlink("outside", tree.path(Self.hidden).string) == 0)
        #expect(try save("new"))
        #expect(try tree.read("outside") == Array("precious".utf8))
        #expect(try tree.files() == ["a.txt", "outside"])
    }

    /// What the name shows: nothing, or another file, as on a file system whose inodes change.
    @Test(arguments: [true, false])
    func `where its name never shows the hidden file, it ends, and the folder is told`(isMissing: Bool) throws {
        let other = try FileStatus(at: tree.write("other", to: "b.txt"))
        let looks = Lock(0)
        let told = #expect(throws: Errno.self) {
            _ = try NewFile(
                for: path,
                find: { (_) throws(Errno) in
                    looks.withLock { $0 += 1 }
                    return isMissing ? nil : other
                })
        }
        let count = looks.withLock { $0 }
        #expect(told == .staleNFSFileHandle && count == 100)
        let fault = FileFault(.staleNFSFileHandle, or: "name another folder")
        // A server says so of what is read, too.
        #expect(fault.message.contains("no longer knows this file or folder"))
        #expect(fault.message.hasSuffix("name another folder"))
    }

    @Test func `a name of full length has room for its hidden file, and two have two`() throws {
        let names = ["x", "y"].map { String(repeating: "a", count: 254) + $0 }
        let files = try names.map { try NewFile(for: tree.path($0)) }
        #expect(try files.allSatisfy { try $0.place(overwrites: false) })
        #expect(try tree.files() == names)
    }

    @Test(arguments: [true, false])
    func `folders and names need not be UTF-8`(overwrites: Bool) throws {
        func latin(_ bytes: [UInt8]) throws -> FilePath.Component {
            try #require(
                (bytes.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer { text in
                    text.baseAddress.flatMap { FilePath.Component(platformString: $0) }
                })
        }
        let folder = tree.root.appending(try latin([0x62, 0xFC, 0x72, 0x6F]))
        try Folder.make(folder, permissions: .ownerReadWriteExecute)
        let name = folder.appending(try latin([0x67, 0x72, 0xFC, 0x6E]))
        #expect(try NewFile.save([1], to: name, permissions: .ownerReadWrite, overwrites: overwrites))
        #expect(try Folder.names(in: folder) == [#require(name.lastComponent)])
    }

    @Test func `a file made under its own name is whole, or not there`() throws {
        #expect(try NewFile.make("abc".utf8, at: path).size == 3)
        #expect(throws: Errno.fileExists) { try NewFile.make("x".utf8, at: path) }
        #expect(throws: Errno.ioError) {
            try NewFile.make("abc".utf8, at: tree.path("b.txt")) { _ in throw Errno.ioError }
        }
        #expect(try tree.files() == ["a.txt"])
        #expect(try tree.read("a.txt") == Array("abc".utf8))
    }
}
