import Glibc
import SyncCore
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct FolderTests {
    private let tree: TemporaryTree

    init() throws {
        tree = try TemporaryTree()
    }

    private func make(_ path: FilePath, _ calls: Folder.Calls = Folder.Calls()) throws -> Bool {
        try !Folder.make(path, permissions: .ownerReadWriteExecute, calls: calls).isEmpty
    }

    private func isFolder(_ path: FilePath) -> Bool {
        var status = stat()
        return stat(path.string, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    @Test(arguments: ["a", "a/b/c", "a/b/c/d/e/f/g/h"])
    func `a folder is made with all those above it, and once`(name: String) throws {
        #expect(try make(tree.path(name)))
        #expect(isFolder(tree.path(name)))
        #expect(try !make(tree.path(name)))
    }

    @Test func `of the folders that were made, those count that are the last of the path`() {
        #expect(Folder.count(of: ["/a", "/a/b", "/a/b/c"], upTo: "/a/b/c") == 3)
        #expect(Folder.count(of: ["/a", "/a/b/c"], upTo: "/a/b/c") == 1, "somebody else has made the one between")
        #expect(Folder.count(of: ["/a", "/a/b"], upTo: "/a/b/c") == 0 && Folder.count(of: [], upTo: "/a") == 0)
        #expect(Folder.count(of: ["a", "a/b"], upTo: "a/b") == 2)
    }

    @Test func `a link to a folder is a folder`() throws {
        try tree.makeFolder("real")
        symlink("real", tree.path("link").string)
        #expect(try make(tree.path("link/below")))
        #expect(isFolder(tree.path("real/below")))
    }

    @Test(arguments: ["/proc/x", "/proc/x/y/z", "/proc/self/x"])
    func `a file system that takes no folders is told, and does not end the program`(path: String) {
        let error = #expect(throws: FolderError.self) { _ = try make(FilePath(path)) }
        #expect(error?.path == FilePath(path))
        #expect(error?.code == .unsupported || error?.code == .notAllowed)
        #expect(error?.message.contains("name a") == true || error?.message.contains("another folder") == true)
    }

    @Test(arguments: [
        ("file", FolderError.Code.taken, "file"), ("file/below/it", .taken, "file"),
        ("dead", .deadLink, "dead"), ("dead/below", .deadLink, "dead"), ("circle/below", .deadLink, "circle/below"),
        (String(repeating: "n", count: 256), .nameTooLong, String(repeating: "n", count: 256)),
    ])
    func `what is in the way is named, with the next step`(
        name: String, code: FolderError.Code, obstacle: String
    ) throws {
        try tree.write("a file", to: "file")
        symlink("nowhere", tree.path("dead").string)
        symlink("circle", tree.path("circle").string)
        let before = try tree.files()
        let error = #expect(throws: FolderError.self) { _ = try make(tree.path(name)) }
        #expect((error?.code, error?.path) == (code, tree.path(name)))
        #expect(error?.obstacle == tree.path(obstacle))
        #expect("\(error.map { "\($0)" } ?? "")".contains("name another folder"))
        #expect(try tree.files() == before)
    }

    @Test(arguments: [
        (Errno.permissionDenied, FolderError.Code.notAllowed), (.notPermitted, .notAllowed),
        (.readOnlyFileSystem, .readOnly), (.noSpace, .noSpace), (.diskQuotaExceeded, .noSpace),
        (.ioError, .ioFailed), (.noSuchFileOrDirectory, .unsupported), (.fileExists, .taken),
    ])
    func `what the disk refuses is asked once for each folder`(errno: Errno, code: FolderError.Code) throws {
        let asked = Lock<[FilePath]>([])
        var calls = Folder.Calls()
        calls.make = { path, _ throws(Errno) in
            asked.withLock { $0.append(path) }
            throw errno
        }
        let error = #expect(throws: FolderError.self) { _ = try make(tree.path("a/b"), calls) }
        #expect((error?.code, error?.obstacle) == (code, tree.path("a")))
        #expect(asked.withLock { $0 } == [tree.path("a")])
    }

    @Test func `each new name is on the disk before the next one is made`() throws {
        let steps = Lock<[String]>([])
        let root = tree.path("a").removingLastComponent()
        var calls = Folder.Calls()
        let (make, sync) = (calls.make, calls.sync)
        calls.make = { path, mode throws(Errno) in
            steps.withLock { $0.append("make \(path.lastComponent?.string ?? "")") }
            try make(path, mode)
        }
        calls.sync = { path throws(Errno) in
            steps.withLock { $0.append("sync \(path == root ? "root" : path.lastComponent?.string ?? "")") }
            try sync(path)
        }
        _ = try self.make(tree.path("a/b/c"), calls)
        // First the one that a run before this one may have left without a sync.
        let above = root.removingLastComponent().lastComponent?.string ?? ""
        #expect(
            steps.withLock { $0 } == ["sync \(above)", "make a", "sync root", "make b", "sync a", "make c", "sync b"])
    }

    @Test func `where a folder cannot be made, those above it that were made go, and no others`() throws {
        try tree.makeFolder("mine")
        let last = tree.path("mine/a/b").appending(String(repeating: "n", count: 256))
        let error = #expect(throws: FolderError.self) { _ = try make(last) }
        #expect(error?.code == .nameTooLong)
        #expect(isFolder(tree.path("mine")) && !isFolder(tree.path("mine/a")))
        // What somebody has put something into meanwhile stays.
        let made = try Folder.make(tree.path("mine/a/b/c"), permissions: .ownerReadWriteExecute)
        #expect(made == ["mine/a", "mine/a/b", "mine/a/b/c"].map { tree.path($0) })
        try tree.write("mine", to: "mine/a/file")
        Folder.removeEmpty(made)
        #expect(isFolder(tree.path("mine/a")) && !isFolder(tree.path("mine/a/b")))
    }

    @Test(arguments: 2...4)
    func `a folder whose name is not on the disk is not left for the next run`(failing: Int) throws {
        let count = Lock(0)
        var calls = Folder.Calls()
        let sync = calls.sync
        calls.sync = { path throws(Errno) in
            let number = count.withLock {
                $0 += 1
                return $0
            }
            if number == failing { throw .ioError }
            try sync(path)
        }
        let error = #expect(throws: FolderError.self) { _ = try make(tree.path("a/b/c"), calls) }
        #expect(error?.code == .ioFailed)
        #expect(!isFolder(tree.path("a")))
        #expect(try make(tree.path("a/b/c")))
    }
}
