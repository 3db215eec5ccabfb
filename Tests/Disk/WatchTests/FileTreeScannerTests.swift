import FoundationEssentials
import Glibc
import SyncCore
import SystemPackage
import Testing

@testable import SyncWatch

@Suite struct FileTreeScannerTests {
    let tree: WatchedTree
    let scanner = FileTreeScanner()

    init() throws {
        tree = try WatchedTree()
    }

    @Test func `every folder is visited once, parents first, with its regular files`() throws {
        for file in ["1.jpg", "a/2.jpg", "a/b/3.jpg", "c/4.jpg"] {
            try tree.makeFolder(FilePath(file).removingLastComponent().string)
            try tree.write(file)
        }
        try tree.makeFolder("empty")
        try tree.makeLink("link", to: tree.path("a"))
        try tree.makeLink("link.jpg", to: tree.path("1.jpg"))
        #expect(mkfifo(tree.path("fifo").string, 0o600) == 0)
        let folders = try scan()
        #expect(folders.first?.path == FilePath())
        #expect(
            Dictionary(uniqueKeysWithValues: folders.map { ($0.path, $0.files.map(\.name.string)) }) == [
                "": ["1.jpg"], "a": ["2.jpg"], "a/b": ["3.jpg"], "c": ["4.jpg"], "empty": [],
            ])
        let order = folders.map(\.path)
        #expect(try #require(order.firstIndex(of: "a")) < (try #require(order.firstIndex(of: "a/b"))))
        #expect(folders.allSatisfy { $0.error == nil })
    }

    @Test func `ignored names are left out`() throws {
        for name in [".a.jpg", "b.jpg.tmp", "c.part", "d.jpg~", "e.jpg"] { try tree.write(name) }
        for name in [".cache", "f.crdownload", "@eaDir", "#recycle", "lost+found", "@tmp"] {
            try tree.makeFolder(name)
            try tree.write("\(name)/g.jpg")
        }
        let folders = try scan()
        #expect(folders.map(\.path) == [""])
        #expect(folders.flatMap(\.files).map(\.name) == ["e.jpg"])
        #expect(try scan(from: ".cache").isEmpty)
    }

    @Test func `a scan can begin below the root, and paths stay relative to the root`() throws {
        try tree.makeFolder("a/b")
        try tree.write("a/b/1.jpg")
        #expect(try scan(from: "a").map(\.path) == ["a", "a/b"])
    }

    @Test func `a stamp tells a changed file from an unchanged one`() throws {
        let file = try tree.write("a.jpg", "12345")
        var status = stat()
        #expect(stat(file.string, &status) == 0)
        let stamp = try #require(try scanner.stamp(of: file))
        #expect(stamp.size == 5)
        #expect(stamp.inode == status.st_ino)
        #expect(stamp.device == status.st_dev)
        #expect(stamp.modified == Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec))
        #expect(try scan().flatMap(\.files) == [ScannedFile(name: "a.jpg", stamp: stamp)])
        try tree.write("a.jpg", "123456")
        #expect(try scanner.stamp(of: file) != stamp)
    }

    @Test func `what is no regular file, or not there, has no stamp`() throws {
        let file = try tree.write("a.jpg")
        try tree.makeLink("link.jpg", to: file)
        try tree.makeFolder("folder.jpg")
        for name in ["link.jpg", "folder.jpg", "missing.jpg", "a.jpg/below.jpg"] {
            #expect(try scanner.stamp(of: tree.path(name)) == nil, "\(name)")
        }
    }

    @Test func `a root or start that cannot be read throws`() throws {
        #expect { try scan(from: "missing") } throws: { error in
            let error = error as? ScanError
            return error?.code == .missing && error?.path == tree.path("missing")
        }
        try tree.write("file.jpg")
        #expect { try scan(from: "file.jpg") } throws: { ($0 as? ScanError)?.code == .missing }
        try tree.makeLink("link", to: tree.outside)
        #expect { try scan(from: "link") } throws: { ($0 as? ScanError)?.code == .missing }
        #expect { try scanner.scan(root: tree.root, from: tree.outside) { _ in } } throws: {
            ($0 as? ScanError)?.code == .failed
        }
        #expect { try scanner.scan(root: tree.root, from: tree.root.appending("../outside")) { _ in } } throws: {
            ($0 as? ScanError)?.code == .failed
        }
    }

    @Test func `a folder whose path the system does not take is told as such, with what helps`() throws {
        let path = FilePath("/" + String(repeating: "folder/", count: 600))
        let error = #expect(throws: ScanError.self) { try FileTreeScanner().scan(root: path, from: path) { _ in } }
        #expect(error?.message.contains("path is too long (4095 bytes") == true)
        #expect(error?.message.contains("shorter names") == true)
    }

    @Test func `what the visitor throws ends the scan`() throws {
        try tree.makeFolder("a/b")
        var visits = 0
        #expect(throws: CancellationError.self) {
            try scanner.scan(root: tree.root, from: tree.root) { _ in
                visits += 1
                if visits == 2 { throw CancellationError() }
            }
        }
        #expect(visits == 2)
    }

    @Test func `a name that is not UTF-8 keeps its bytes`() throws {
        let name = try #require(FilePath.Component(platformString: [0x66, -1, -2, 0x2E, 0x6A, 0x70, 0x67, 0]))
        try tree.write(tree.root.appending(name))
        let found = try #require(try scan().first?.files.first)
        #expect(found.name == name)
        #expect(try scanner.stamp(of: tree.root.appending(found.name)) == found.stamp)
    }

    @Test func `folders deeper than PATH_MAX are scanned`() throws {
        let name = String(repeating: "n", count: 200)
        var descriptors = [open(tree.root.string, O_RDONLY | O_DIRECTORY | O_CLOEXEC)]
        defer {
            // Too deep to be removed by path: from the bottom up.
            for depth in descriptors.indices.reversed() {
                if depth == descriptors.count - 1 { unlinkat(descriptors[depth], "deep.jpg", 0) }
                if depth > 0 { unlinkat(descriptors[depth - 1], name, AT_REMOVEDIR) }
                close(descriptors[depth])
            }
        }
        for depth in 0..<40 {
            try #require(mkdirat(descriptors[depth], name, 0o700) == 0)
            descriptors.append(openat(descriptors[depth], name, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        }
        close(openat(descriptors[40], "deep.jpg", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600))
        let folders = try scan()
        #expect(folders.count == 41)
        #expect(folders.last?.files.map(\.name) == ["deep.jpg"])
        #expect(try #require(folders.last).path.string.utf8.count > 8_000)
    }

    @Test func `a folder that becomes a link out of the tree while it is scanned is not followed`() throws {
        try tree.makeFolder("a")
        try tree.write("a/inside.jpg")
        try tree.write(tree.outside.appending("secret.jpg"))
        var folders: [ScannedFolder] = []
        try scanner.scan(root: tree.root, from: tree.root) { folder in
            folders.append(folder)
            guard folder.path.isEmpty else { return }
            try tree.remove(tree.path("a"))
            try tree.makeLink("a", to: tree.outside)
        }
        #expect(folders.map(\.path) == ["", "a"])
        #expect(folders.last?.error?.code == .missing)
        #expect(folders.flatMap(\.files).isEmpty)
    }

    @Test func `a folder that vanishes while its parent is scanned is left out`() throws {
        try tree.makeFolder("a")
        var visited: [FilePath] = []
        try scanner.scan(root: tree.root, from: tree.root) { folder in
            visited.append(folder.path)
            if folder.path.isEmpty { try tree.remove(tree.path("a")) }
        }
        #expect(visited == [""])
    }

    @Test(arguments: [2, 3, 64])
    func `with few folders open at a time, each is visited all the same`(limit: Int) throws {
        var expected: Set<FilePath> = [""]
        for depth in 1...12 {
            let above = Array(repeating: "x", count: depth - 1).joined(separator: "/")
            for name in ["x", "y", "z"] {
                let path = above.isEmpty ? name : "\(above)/\(name)"
                try tree.makeFolder(path)
                expected.insert(FilePath(path))
            }
        }
        var visited: [FilePath] = []
        FolderWalk.run(from: try DirectoryHandle(root: tree.root), at: RelativePath(), openLimit: limit) { visit in
            visited.append(visit.path.filePath)
            var names: [EntryName] = []
            try? visit.folder.get().forEachEntry { name, _ in names.append(EntryName(name)) }
            return names
        }
        #expect(visited.count == expected.count)
        #expect(Set(visited) == expected)
    }

    @Test func `a file is being written as long as somebody has it open for writing`() throws {
        let file = tree.path("slow.jpg")
        let descriptor = try tree.openForWriting(file)
        #expect(scanner.isBeingWritten(file))
        try descriptor.writeAll("half".utf8)
        #expect(scanner.isBeingWritten(file))
        let reader = try FileDescriptor.open(file, .readOnly)
        try descriptor.close()
        #expect(!scanner.isBeingWritten(file))
        try reader.close()
        #expect(!scanner.isBeingWritten(file))
    }

    @Test func `where nothing can be told, nobody is writing`() throws {
        #expect(mkfifo(tree.path("fifo").string, 0o600) == 0)
        try tree.makeLink("link.jpg", to: try tree.write("a.jpg"))
        for path in [tree.path("missing.jpg"), tree.path("fifo"), tree.path("link.jpg"), "/proc/self/comm"] {
            #expect(!scanner.isBeingWritten(path), "\(path)")
        }
    }

    @Test func `asking while others open the file for writing harms nobody`() async throws {
        let file = try tree.write("busy.jpg")
        // A lease that is broken sends SIGIO, which would end this process.
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for _ in 0..<5_000 { _ = scanner.isBeingWritten(file) }
            }
            group.addTask {
                for _ in 0..<5_000 { try FileDescriptor.open(file, .writeOnly, retryOnInterrupt: true).close() }
            }
            try await group.waitForAll()
        }
        #expect(!scanner.isBeingWritten(file))
    }

    @Test(arguments: [
        (Errno.noSuchFileOrDirectory, ScanError.Code.missing, "plugged in"),
        (.notDirectory, .missing, "not a folder"), (.tooManySymbolicLinkLevels, .missing, "not followed"),
        (.permissionDenied, .denied, "permission"), (.notPermitted, .denied, "permission"),
        (.tooManyOpenFiles, .failed, "ulimit -n"), (.ioError, .failed, "kernel's log"),
        (.staleNFSFileHandle, .failed, "mount the network folder again"), (.noMemory, .failed, "cannot be read"),
    ])
    func `every error tells its kind and the next step`(reason: Errno, code: ScanError.Code, words: String) {
        let error = ScanError(reason, opening: "/photos")
        #expect(error.code == code)
        #expect(error.description.hasPrefix("/photos: "))
        #expect(error.message.contains(words))
    }

    private func scan(from start: String = "") throws -> [ScannedFolder] {
        var folders: [ScannedFolder] = []
        try scanner.scan(root: tree.root, from: start.isEmpty ? tree.root : tree.path(start)) { folders.append($0) }
        return folders
    }
}
