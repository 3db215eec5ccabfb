import Dispatch
import Glibc
import SyncCore
import SyncSystem
import SystemPackage
import Testing

@testable import SyncWatch

/// Real inotify on real folders. What counts threads and descriptors does so in a process of its own.
@Suite struct FolderWatcherTests {
    let tree: WatchedTree

    init() throws {
        tree = try WatchedTree()
    }

    @Test func `every root gets a tree hint at the start`() async throws {
        let other = tree.outside
        let watcher = FolderWatcher()
        await watcher.start([tree.root, other])
        var log = HintLog(watcher)
        try await log.wait(for: .tree(tree.root), .tree(other))
        #expect(watcher.reports().map(\.mode) == [.inotify, .inotify])
        #expect(watcher.reports().map(\.note) == [nil, nil])
        await watcher.stop()
    }

    @Test func `a file that was written is hinted once it is closed`() async throws {
        try await withWatcher([tree.root]) { _, log in
            let file = try tree.write("a.jpg")
            try await log.wait(for: .file(file))
            #expect(log.seen.last == .file(file))
        }
    }

    @Test func `a file that is being written says so until it is closed`() async throws {
        try await withWatcher([tree.root]) { _, log in
            let file = tree.path("slow.jpg")
            let descriptor = try tree.openForWriting(file)
            try await log.wait(for: .writing(file))
            try descriptor.writeAll("half".utf8)
            try await log.wait { $0.count { $0 == .writing(file) } >= 2 }
            #expect(!log.seen.contains(.file(file)))
            try descriptor.close()
            try await log.wait(for: .file(file))
        }
    }

    @Test func `a hard link to a whole file is whole at once`() async throws {
        let original = try tree.write(tree.outside.appending("whole.jpg"))
        try await withWatcher([tree.root]) { _, log in
            try tree.makeHardLink("linked.jpg", to: original)
            try await log.wait(for: .file(tree.path("linked.jpg")))
            #expect(!log.seen.contains(.writing(tree.path("linked.jpg"))))
        }
    }

    @Test func `renaming a file tells both names`() async throws {
        let old = try tree.write("old.jpg")
        try await withWatcher([tree.root]) { _, log in
            try tree.move(old, to: tree.path("new.jpg"))
            try await log.wait(for: .gone(old), .file(tree.path("new.jpg")))
        }
    }

    @Test func `a temporary name that is renamed is hinted under its last name only`() async throws {
        try await withWatcher([tree.root]) { _, log in
            let temporary = try tree.write("a.jpg.part")
            try tree.move(temporary, to: tree.path("a.jpg"))
            try await log.wait(for: .file(tree.path("a.jpg")))
            #expect(log.seen.filter { $0 != .others(tree.root) } == [.file(tree.path("a.jpg"))])
        }
    }

    @Test func `a deleted file is gone`() async throws {
        let file = try tree.write("a.jpg")
        try await withWatcher([tree.root]) { _, log in
            try tree.remove(file)
            try await log.wait(for: .gone(file))
        }
    }

    @Test func `a changed time or mode of a file is hinted`() async throws {
        let file = try tree.write("a.jpg")
        try await withWatcher([tree.root]) { _, log in
            #expect(chmod(file.string, 0o640) == 0)
            try await log.wait(for: .file(file))
        }
    }

    @Test(arguments: [".hidden.jpg", "a.jpg.tmp", "a.jpg~", "b.crdownload", ".cache/a.jpg", "album.part/a.jpg"])
    func `ignored names are not watched, and hinted as what is beside the files`(name: String) async throws {
        try await withWatcher([tree.root]) { watcher, log in
            let file = tree.path(name)
            if file.removingLastComponent() != tree.root {
                try tree.makeFolder(FilePath(name).removingLastComponent().string)
            }
            try tree.write(name)
            try tree.remove(file)
            try await log.settle(tree)
            #expect(Set(log.seen) == [.others(tree.root)])
            #expect(watcher.reports().first?.watches == 1)
        }
    }

    @Test func `a name that is not UTF-8 is kept as it is`() async throws {
        let bytes: [CChar] = [0x66, -1, -2, 0x2E, 0x6A, 0x70, 0x67, 0]
        let name = try #require(FilePath.Component(platformString: bytes))
        try await withWatcher([tree.root]) { _, log in
            let file = try tree.write(tree.root.appending(name))
            try await log.wait(for: .file(file))
        }
    }

    @Test func `a link out of the root is not followed`() async throws {
        let elsewhere = try tree.write(tree.outside.appending("a.jpg"))
        try tree.makeLink("way-out", to: tree.outside)
        try await withWatcher([tree.root]) { watcher, log in
            #expect(watcher.reports().first?.watches == 1)
            try tree.makeLink("second-way-out", to: tree.outside)
            try tree.write(elsewhere, "changed")
            try await log.settle(tree)
            #expect(!log.seen.contains { $0.path.starts(with: tree.outside) || $0.path.components.count > 4 })
            #expect(watcher.reports().first?.watches == 1)
        }
    }

    @Test func `a root that is a link is watched under its own name`() async throws {
        try tree.makeLink("link", to: tree.outside)
        let root = tree.path("link")
        try await withWatcher([root]) { _, log in
            try tree.write(tree.outside.appending("a.jpg"))
            try await log.wait(for: .file(root.appending("a.jpg")))
        }
    }

    @Test func `roots may lie within each other`() async throws {
        let inner = try tree.makeFolder("inner")
        try await withWatcher([tree.root, inner]) { watcher, log in
            try tree.write("inner/a.jpg")
            try await log.wait(for: .file(inner.appending("a.jpg")))
            #expect(watcher.reports().map(\.watches) == [2, 1])
        }
    }

    @Test func `the consumer wakes with nil when the watcher stops`() async throws {
        let watcher = FolderWatcher()
        await watcher.start([tree.root])
        let root = tree.root
        _ = await watcher.next(of: root)
        async let waiting = watcher.next(of: root)
        await watcher.stop()
        #expect(await waiting == nil)
        #expect(await watcher.next(of: root) == nil)
        #expect(watcher.reports().map(\.root) == [tree.root])
        await watcher.stop()
    }

    @Test func `setting watches tells that it gets on, in one large folder, too`() async throws {
        for index in 0..<300 { try tree.write("\(index).jpg", "") }
        let told = Lock<[FilePath]>([])
        let watcher = FolderWatcher(progress: { root in told.withLock { $0.append(root) } })
        await watcher.start([tree.root])
        await watcher.stop()
        // Its beginning, the one folder, and a part of its entries.
        #expect(told.withLock { $0 } == [tree.root, tree.root, tree.root])
    }

    @Test func `a watcher ends although a disk holds its thread`() async throws {
        let gate = DispatchSemaphore(value: 0)
        defer { gate.signal() }
        var calls = WatchCalls.system
        calls.openQueue = { () throws(Errno) in
            gate.wait()
            return try WatchCalls.system.openQueue()
        }
        let watcher = FolderWatcher(pollInterval: .seconds(30), checkInterval: .seconds(5), calls: calls)
        let root = tree.root
        let start = Task { await watcher.start([root]) }
        start.cancel()
        await start.value
        await watcher.stop()
        #expect(await watcher.next(of: root) == nil)
    }

    @Test func `two hundred starts and stops leave no thread and no descriptor`() async throws {
        // In a process of its own: other suites open pipes and inotify instances meanwhile.
        await #expect(processExitsWith: .success) {
            let tree = try WatchedTree()
            try tree.makeFolder("a/b/c")
            let before = Leftovers.now()
            for _ in 0..<200 {
                let watcher = FolderWatcher()
                await watcher.start([tree.root, tree.outside])
                await watcher.stop()
            }
            #expect(Leftovers.now().descriptors == before.descriptors)
            // An exiting thread may stay in the table for a moment after it was joined.
            while Leftovers.now().threads > before.threads { await Task.yield() }
        }
    }

    @Test func `a watcher that is dropped ends by itself`() async throws {
        await #expect(processExitsWith: .success) {
            let tree = try WatchedTree()
            let before = Leftovers.now()
            do {
                let watcher = FolderWatcher()
                await watcher.start([tree.root])
            }
            while Leftovers.now() != before { await Task.yield() }
            #expect(Leftovers.now() == before)
        }
    }
}

/// What a watcher could leave behind in the process.
struct Leftovers: Equatable {
    var threads: Int
    /// inotify instances and pipes; other tests open files at the same time.
    var descriptors: Int

    static func now() -> Leftovers {
        Leftovers(
            threads: names(in: "/proc/self/task").count { task in
                ProcFile.text(FilePath("/proc/self/task/\(task)/comm"))?.hasPrefix("sync-watch") == true
            },
            descriptors: names(in: "/proc/self/fd").count { descriptor in
                var target = [CChar](repeating: 0, count: 64)
                let length = readlink("/proc/self/fd/\(descriptor)", &target, target.count - 1)
                guard length > 0 else { return false }
                let text = String(decoding: target[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
                return text.contains("inotify") || text.hasPrefix("pipe:")
            })
    }

    private static func names(in folder: String) -> [String] {
        var names: [String] = []
        let handle = try? DirectoryHandle(root: FilePath(folder))
        try? handle?.forEachEntry { name, _ in names.append(String(cString: name)) }
        return names
    }
}
