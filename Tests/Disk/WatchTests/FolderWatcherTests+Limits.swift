import Dispatch
import Glibc
import SyncCore
import SyncSystem
import SystemPackage
import Testing

import struct Synchronization.Atomic

@testable import SyncWatch

extension FolderWatcherTests {
    @Test func `after dropped events the root is walked again, and new folders are watched`() async throws {
        let script = ReadScript()
        try tree.makeFolder("old")
        try await withWatcher([tree.root], calls: script.calls) { watcher, log in
            script.dropNext()
            try tree.makeFolder("lost/deep")
            try await log.wait(for: .tree(tree.root))
            #expect(!log.seen.contains(.tree(tree.path("lost"))))
            let file = try tree.write("lost/deep/a.jpg")
            try await log.wait(for: .file(file))

            script.dropNext()
            try tree.move(tree.path("old"), to: tree.path("new"))
            try await log.wait { $0.count { $0 == .tree(tree.root) } == 2 }
            let moved = try tree.write("new/a.jpg")
            try await log.wait(for: .file(moved))
            #expect(watcher.reports().first == WatchReport(root: tree.root, mode: .inotify, watches: 4, overflows: 2))
        }
    }

    @Test func `a real overflow of the kernel's queue becomes one tree hint`() async throws {
        let limit = try #require(ProcFile.number("/proc/sys/fs/inotify/max_queued_events"))
        let script = ReadScript()
        try await withWatcher([tree.root], calls: script.calls) { watcher, log in
            script.hold()
            // The thread hangs in its read from the first event on; two names, or the kernel would join equal events.
            let names = [tree.path("a.jpg"), tree.path("b.jpg")]
            for _ in 0...(limit / 4 + 1) {
                for name in names {
                    try tree.write(name)
                    try tree.remove(name)
                }
            }
            let last = try tree.write("last.jpg")
            script.release()
            try await log.wait(for: .tree(tree.root))
            #expect(watcher.reports().first?.overflows == 1)
            #expect(!log.seen.contains(.file(last)))
            try await log.settle(tree)
        }
    }

    @Test func `at the limit of watches the report tells the remedy, the rest is polled, and watched once it can be`()
        async throws
    {
        try tree.makeFolder("a/b/c")
        try tree.makeFolder("d")
        let limit = Lock(2)
        var calls = WatchCalls.system
        let given = Lock<Set<Int32>>([])
        calls.addWatch = { (queue, folder) throws(Errno) in
            let watch = try WatchCalls.system.addWatch(queue, folder)
            let isAllowed = given.withLock { given in
                given.insert(watch)
                return given.count <= limit.withLock { $0 }
            }
            guard isAllowed else {
                WatchCalls.system.removeWatch(queue, watch)
                given.withLock { _ = $0.remove(watch) }
                throw .noSpace
            }
            return watch
        }
        calls.openQueue = { () throws(Errno) in
            given.withLock { $0 = [] }
            return try WatchCalls.system.openQueue()
        }
        calls.maximumWatches = { 600_000 }
        try await withWatcher([tree.root], pollInterval: .milliseconds(50), calls: calls) { watcher, log in
            let report = try #require(watcher.reports().first)
            #expect(report.mode == .polling)
            #expect(report.watches == 2)
            let note = try #require(report.note)
            #expect(note.contains("5 folders need an inotify watch"))
            #expect(note.contains("the system allows 600000"))
            #expect(note.contains("fs.inotify.max_user_watches=600005 in /etc/sysctl.d/"))
            // One of "a" and "d" has got the second watch: what has none is polled, and not the rest.
            let (top, tops) = (tree.path("a"), [tree.path("a/b"), tree.path("d")])
            try await log.wait { seen in
                seen.contains(.tree(top)) || tops.allSatisfy { seen.contains(.tree($0)) }
            }
            var polled = log.seen.contains(.tree(top)) ? [top] : tops
            // What comes in a watched folder, and gets no watch, is polled from then on.
            polled.append(try tree.makeFolder("new"))
            try tree.makeFolder("a/b/below")
            for _ in 1...2 {
                log.forget()
                try await log.wait { seen in polled.allSatisfy { seen.contains(.tree($0)) } }
            }
            #expect(!log.seen.contains(.tree(tree.root)))
            #expect(watcher.reports().first?.note?.contains("6 folders need an inotify watch") == true)

            limit.withLock { $0 = 100 }
            try await log.wait { _ in watcher.reports().first?.mode == .inotify }
            #expect(watcher.reports().first == WatchReport(root: tree.root, mode: .inotify, watches: 7))
            log.forget()
            let photo = try tree.write("a/b/below/a.jpg")
            try await log.wait(for: .file(photo))
        }
    }

    @Test func `a folder that is refused a watch is polled alone, the less often the more its scans take`()
        async throws
    {
        let bad = try tree.makeFolder("bad")
        try tree.makeFolder("bad/deep")
        try tree.makeFolder("good")
        let refused = try #require(FolderIdentity(at: bad))
        let isRefusing = Lock(true)
        var calls = WatchCalls.system
        calls.addWatch = { (queue, folder) throws(Errno) in
            if folder.identity == refused, isRefusing.withLock({ $0 }) { throw .ioError }
            return try WatchCalls.system.addWatch(queue, folder)
        }
        try await withWatcher([tree.root], pollInterval: .milliseconds(20), calls: calls) { watcher, log in
            try await log.wait { $0.count { $0 == .tree(bad) } >= 3 }
            #expect(Set(log.seen) == [.tree(bad)])
            let report = try #require(watcher.reports().first)
            #expect(report.watches == 2)
            #expect(report.cause == .refused)
            let new = try tree.makeFolder("good/new")
            try await log.wait(for: .tree(new))

            isRefusing.withLock { $0 = false }
            try await log.wait { _ in watcher.reports().first?.mode == .inotify }
            #expect(watcher.reports().first == WatchReport(root: tree.root, mode: .inotify, watches: 5))
        }
        isRefusing.withLock { $0 = true }
        try await withWatcher([tree.root], pollInterval: .milliseconds(20), calls: calls) { watcher, log in
            // With what the walk took before it, and rounded up to minutes.
            log.cost = ScanCost(lasted: .zero, processor: .seconds(29))
            // The hint of a poll whose scan was that of the root says nothing of what it takes.
            try await log.wait { _ in
                watcher.reports().first?.note?.hasSuffix("looked at every 10 min") == true
            }
        }
    }

    @Test func `without an inotify instance the root is polled until there is one`() async throws {
        let isRefusing = Atomic(true)
        var calls = WatchCalls.system
        calls.openQueue = { () throws(Errno) in
            if isRefusing.load(ordering: .relaxed) { throw .tooManyOpenFiles }
            return try WatchCalls.system.openQueue()
        }
        calls.maximumQueues = { 128 }
        let root = tree.root
        let watcher = FolderWatcher(pollInterval: .milliseconds(50), checkInterval: .seconds(3_600), calls: calls)
        await watcher.start([root])
        var log = HintLog(watcher)
        try await log.wait { $0.count { $0 == .tree(root) } >= 3 }
        let report = try #require(watcher.reports().first)
        #expect(report.mode == .polling)
        #expect(report.note?.contains("128 for each user") == true)
        #expect(report.note?.contains("fs.inotify.max_user_instances=256") == true)
        isRefusing.store(false, ordering: .relaxed)
        try await log.wait { _ in watcher.reports().first?.mode == .inotify }
        await watcher.stop()
    }

    @Test(arguments: ["nfs4", "cifs", "smb3", "fuse.sshfs", "9p", "ceph"])
    func `a network file system is polled`(type: String) async throws {
        var calls = WatchCalls.system
        calls.fileSystem = { _ in type }
        try await withWatcher(
            [tree.root], pollInterval: .milliseconds(20), checkInterval: .milliseconds(20), calls: calls
        ) { watcher, log in
            try await log.wait { $0.count { $0 == .tree(tree.root) } >= 3 }
            let report = try #require(watcher.reports().first)
            #expect(report.mode == .polling)
            #expect(report.watches == 0)
            #expect(report.note?.hasPrefix(type) == true)
        }
    }

    @Test func `a network file system below a root makes it polled, the rest stays watched`() async throws {
        // Every Linux has file systems mounted in /dev: devpts at least.
        let root = FilePath("/dev")
        let identity = try #require(FolderIdentity(at: root))
        var calls = WatchCalls.system
        calls.fileSystem = { $0 == identity.device ? "devtmpfs" : "nfs4" }
        try await withWatcher([root], pollInterval: .milliseconds(20), calls: calls) { watcher, log in
            try await log.wait(for: .tree(root.appending("pts")))
            #expect(!log.seen.contains(.tree(root)))
            let report = try #require(watcher.reports().first)
            #expect(report.mode == .polling)
            #expect(report.watches > 0)
            #expect(report.note?.contains("is on nfs4") == true)
        }
    }

    @Test func `a watcher that gets no thread says that only the rescan finds changes`() async throws {
        var calls = WatchCalls.system
        calls.startThread = { (_, _) throws(Errno) in throw .resourceTemporarilyUnavailable }
        let watcher = FolderWatcher(pollInterval: .seconds(30), checkInterval: .seconds(5), calls: calls)
        await watcher.start([tree.root])
        #expect(await watcher.next(of: tree.root) == [.tree(tree.root)])
        #expect(watcher.reports().first?.note?.contains("only the regular rescan finds changes") == true)
        await watcher.stop()
        #expect(await watcher.next(of: tree.root) == nil)
    }
}

/// Stands between the watcher and its queue.
private final class ReadScript: Sendable {
    private struct State {
        var dropsNext = false
        var holds = false
    }

    private let state = Lock(State())
    private let gate = DispatchSemaphore(value: 0)

    /// The next events are lost, and the kernel says so.
    func dropNext() {
        state.withLock { $0.dropsNext = true }
    }

    /// The next read waits for ``release()``.
    func hold() {
        state.withLock { $0.holds = true }
    }

    func release() {
        gate.signal()
    }

    var calls: WatchCalls {
        var calls = WatchCalls.system
        calls.readQueue = { [self] (queue, buffer) throws(Errno) in
            let now = state.withLock { state in
                defer { state = State() }
                return state
            }
            if now.holds { gate.wait() }
            let count = try WatchCalls.system.readQueue(queue, buffer)
            guard now.dropsNext else { return count }
            // struct inotify_event: wd, mask, cookie, len.
            buffer.storeBytes(of: -1, toByteOffset: 0, as: Int32.self)
            buffer.storeBytes(of: UInt32(IN_Q_OVERFLOW), toByteOffset: 4, as: UInt32.self)
            buffer.storeBytes(of: 0, toByteOffset: 8, as: UInt64.self)
            return 16
        }
        return calls
    }
}
