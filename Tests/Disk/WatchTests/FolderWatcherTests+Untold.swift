import Foundation
import Glibc
import SyncCore
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncWatch

/// Files that appear without an event.
extension FolderWatcherTests {
    private func appeared(_ path: FilePath, below root: FilePath) throws -> AppearedFile {
        AppearedFile(path: path, changed: try #require(FileStatus(at: root.pushing(path)).stamp.changed))
    }

    /// Waits until files are dated later than now. Their clock goes on by ticks (clock_gettime(2)), and one that is dated
    /// before the last hint for its folder counts as told.
    private func tick() async throws {
        let now = time(of: CLOCK_REALTIME)
        try await eventually("a tick") { time(of: CLOCK_REALTIME_COARSE) > now ? () : nil }
    }

    private func time(of clock: clockid_t) -> Duration {
        var time = timespec()
        clock_gettime(clock, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    @Test func `a file that no event has told of has its root polled, and one that was told has not`() async throws {
        let isDeaf = Lock(false)
        var calls = WatchCalls.system
        calls.readQueue = { (queue, buffer) throws(Errno) in
            let count = try WatchCalls.system.readQueue(queue, buffer)
            return isDeaf.withLock { $0 } ? 0 : count
        }
        try tree.write("before.jpg")
        try await withWatcher(
            [tree.root], pollInterval: .milliseconds(50), checkInterval: .milliseconds(20), calls: calls
        ) { watcher, log in
            let told = try tree.write("told.jpg")
            try await log.wait(for: .file(told))
            // Handed over before its event may have been read: it counts all the same.
            try tree.write("unread.jpg")
            for name in ["before.jpg", "told.jpg", "unread.jpg"] {
                watcher.judge([try appeared(FilePath(name), below: tree.root)], below: tree.root)
            }
            try tree.makeFolder("in")
            try tree.write("in/moved.jpg")
            watcher.judge([try appeared("in/moved.jpg", below: tree.root)], below: tree.root)
            try await log.settle(tree)
            #expect(watcher.reports().first?.mode == .inotify)

            try await tick()
            isDeaf.withLock { $0 = true }
            try tree.write("in/lost.jpg")
            watcher.judge([try appeared("in/lost.jpg", below: tree.root)], below: tree.root)
            let report = try await eventually("polling") {
                watcher.reports().first { $0.mode == .polling }
            }
            #expect(report.untold?.path == "in/lost.jpg")
            #expect(report.note?.hasPrefix("in/lost.jpg came without an event, as where others change") == true)
            log.forget()
            try await log.wait { $0.count { $0 == .tree(tree.root) } >= 3 }
            // What is polled is found by scans, and the hints for these tell of no file.
            try tree.write("later.jpg")
            watcher.judge([try appeared("later.jpg", below: tree.root)], below: tree.root)
            try await log.wait { _ in watcher.reports().first?.untold?.path == "later.jpg" }
        }
    }

    @Test func `where a part has no watch, a file there is no surprise, and one elsewhere has the whole polled`()
        async throws
    {
        let bad = try tree.makeFolder("bad")
        let refused = try #require(FolderIdentity(at: bad))
        let isDeaf = Lock(false)
        var calls = WatchCalls.system
        calls.addWatch = { (queue, folder) throws(Errno) in
            if folder.identity == refused { throw .ioError }
            return try WatchCalls.system.addWatch(queue, folder)
        }
        calls.readQueue = { (queue, buffer) throws(Errno) in
            let count = try WatchCalls.system.readQueue(queue, buffer)
            return isDeaf.withLock { $0 } ? 0 : count
        }
        try await withWatcher(
            [tree.root], pollInterval: .milliseconds(50), checkInterval: .milliseconds(20), calls: calls
        ) { watcher, log in
            try await tick()
            try tree.write("bad/a.jpg")
            watcher.judge([try appeared("bad/a.jpg", below: tree.root)], below: tree.root)
            // It is judged after the first of these, and before the second.
            try await log.settle(tree)
            try await log.settle(tree, "settle too.jpg")
            #expect(watcher.reports().first?.untold == nil)
            try await tick()
            isDeaf.withLock { $0 = true }
            try tree.write("lost.jpg")
            watcher.judge([try appeared("lost.jpg", below: tree.root)], below: tree.root)
            try await log.wait { _ in watcher.reports().first?.untold?.path == "lost.jpg" }
            log.forget()
            try await log.wait(for: .tree(tree.root))
        }
    }

    @Test func `what an earlier agent has found out has a root polled from the beginning, until it is opened anew`()
        async throws
    {
        let table = Lock<[UInt8]>([])
        var calls = WatchCalls.system
        calls.mountEvents = { nil }
        calls.mountTable = { table.withLock { $0 } }
        let watcher = FolderWatcher(pollInterval: .milliseconds(20), checkInterval: .milliseconds(20), calls: calls)
        let untold = UntoldFile(path: "a.jpg", found: 1)
        await watcher.start([tree.root], untold: [tree.root: untold])
        #expect(watcher.reports().first?.untold == untold)
        #expect(watcher.reports().first?.mode == .polling)
        #expect(watcher.reports().first?.watches == 1)
        var log = HintLog(watcher)
        let root = tree.root
        try await log.wait { $0.count { $0 == .tree(root) } >= 3 }
        table.withLock { $0 = Array("1 0 0:1 / \(root) rw - ext4 a rw".utf8) }
        try await log.wait { _ in watcher.reports().first?.mode == .inotify }
        #expect(watcher.reports().first?.untold == nil)
        await watcher.stop()
    }

    @Test func `a root of which the kernel tells nothing is polled, until it tells`() async throws {
        let isSilent = Lock(true)
        var calls = WatchCalls.system
        calls.reportsOpening = { _ in isSilent.withLock { !$0 } }
        try await withWatcher([tree.root], pollInterval: .milliseconds(20), calls: calls) { watcher, log in
            let report = try #require(watcher.reports().first)
            #expect(report.mode == .polling)
            #expect(report.note?.contains("tells nothing of it") == true)
            try await log.wait { $0.count { $0 == .tree(tree.root) } >= 3 }
            isSilent.withLock { $0 = false }
            try await log.wait { _ in watcher.reports().first?.mode == .inotify }
        }
    }

    @Test func `this kernel tells that a folder is opened`() throws {
        #expect(WatchCalls.system.reportsOpening(try DirectoryHandle(root: tree.root)) == true)
    }

    @Test(.enabled(if: geteuid() == 0, "mounting needs root"))
    func `an overlay whose layer others change is polled once a file has come that way`() async throws {
        let base = tree.outside
        try #require(mount("tmpfs", base.string, "tmpfs", 0, nil) == 0)
        defer { umount2(base.string, Int32(MNT_DETACH)) }
        let (lower, upper, work, merged) = (
            base.appending("lower"), base.appending("upper"), base.appending("work"), base.appending("merged")
        )
        for folder in [lower, upper, work, merged] { try tree.makeFolder(at: folder) }
        let layers = "lowerdir=\(lower),upperdir=\(upper),workdir=\(work)"
        let isMounted = layers.withCString { mount("overlay", merged.string, "overlay", 0, $0) == 0 }
        // Some kernels have none.
        try #require(isMounted || errno == ENODEV)
        guard isMounted else { return }
        defer { umount2(merged.string, Int32(MNT_DETACH)) }
        try tree.makeFolder(at: merged.appending("trip"))
        try await withWatcher(
            [merged], pollInterval: .milliseconds(50), checkInterval: .milliseconds(20)
        ) { watcher, log in
            let photo = merged.pushing("trip/a.jpg")
            try tree.write(photo)
            try await log.wait(for: .file(photo))
            watcher.judge([try appeared("trip/a.jpg", below: merged)], below: merged)
            try await tick()
            try tree.write(upper.pushing("trip/b.jpg"))
            let file = try appeared("trip/b.jpg", below: merged)
            #expect(watcher.reports().first?.mode == .inotify)
            watcher.judge([file], below: merged)
            try await log.wait { _ in watcher.reports().first?.untold?.path == "trip/b.jpg" }
            #expect(watcher.reports().first?.mode == .polling)
        }
    }

    @Test(.enabled(if: geteuid() == 0 && Bindfs.isThere, "mounting needs root and bindfs"))
    func `a folder that bindfs shows is polled, since changes behind it are not told`() async throws {
        let place = try tree.makeFolder("shown")
        let bindfs = try await Bindfs(showing: tree.outside, at: place)
        try await withWatcher(
            [place], pollInterval: .milliseconds(50), checkInterval: .milliseconds(20)
        ) { watcher, log in
            let report = try #require(watcher.reports().first)
            #expect(report.mode == .polling)
            #expect(report.note?.contains("does not tell of changes that others make") == true)
            try tree.write(tree.outside.appending("a.jpg"), "behind")
            try await log.wait(for: .tree(place))
            #expect(try FileStatus(at: place.appending("a.jpg")).stamp.size == 6)
        }
        withExtendedLifetime(bindfs) {}
    }
}

/// A folder shown at another place by FUSE (bindfs(1)).
private final class Bindfs {
    static var isThere: Bool { access("/usr/bin/bindfs", X_OK) == 0 && access("/dev/fuse", W_OK) == 0 }

    private let process = Process()
    private let place: FilePath

    init(showing folder: FilePath, at place: FilePath) async throws {
        self.place = place
        process.executableURL = URL(fileURLWithPath: "/usr/bin/bindfs")
        process.arguments = ["-f", folder.string, place.string]
        try process.run()
        let other = FolderIdentity(at: place.removingLastComponent())?.device
        try await eventually("the mount") {
            FolderIdentity(at: place).flatMap { $0.device == other ? nil : true }
        }
    }

    /// The process ends with its mount.
    deinit {
        umount2(place.string, Int32(MNT_DETACH))
        process.waitUntilExit()
    }
}

@Suite struct ToldChangesTests {
    private let root: FilePath = "/pictures"

    private func file(_ path: FilePath, _ changed: Int64) -> AppearedFile { AppearedFile(path: path, changed: changed) }

    @Test func `a hint for a folder explains what was in it by then, one for a file explains the file`() {
        var told = ToldChanges(since: 100)
        told.note([.tree("/pictures/trip"), .file("/pictures/a.jpg")], at: 200)
        #expect(told.explains(file("trip/day/b.jpg", 200), below: root))
        #expect(!told.explains(file("trip/day/b.jpg", 201), below: root))
        #expect(told.explains(file("a.jpg", 300), below: root))
        #expect(!told.explains(file("c.jpg", 150), below: root))
        #expect(told.explains(file("c.jpg", 100), below: root))
        told.note([.tree("/pictures")], at: 250)
        #expect(told.explains(file("c.jpg", 250), below: root))
        #expect(!told.explains(file("c.jpg", 251), below: root))
        // Above the root is not asked about.
        told.note([.tree("/")], at: 400)
        #expect(!told.explains(file("c.jpg", 300), below: root))
    }

    @Test func `beyond its limit it forgets, and blames nothing that came before`() {
        var told = ToldChanges(since: 0)
        for index in 0..<ToldChanges.limit { told.note([.file(FilePath("/pictures/\(index).jpg"))], at: 10) }
        #expect(!told.explains(file("new.jpg", 5), below: root))
        told.note([.file("/pictures/one-more.jpg")], at: 20)
        #expect(told.explains(file("new.jpg", 5), below: root))
        #expect(!told.explains(file("new.jpg", 21), below: root))
    }
}
