import Glibc
import SyncCore
import SyncSystem
import SystemPackage
import Testing

@testable import SyncWatch

extension FolderWatcherTests {
    @Test(arguments: ["root/SD", "root", ""])
    func `a root is scanned and watched anew when something is mounted below, at or above it`(place: String)
        async throws
    {
        let other = Lock<[String]>([])
        var calls = WatchCalls.system
        // A system that does not tell of mounts: the table is looked at with every check.
        calls.mountEvents = { nil }
        calls.mountTable = {
            Array(other.withLock { (["1 0 0:1 / / rw - ext4 a rw"] + $0).joined(separator: "\n") }.utf8)
        }
        let root = tree.root
        let base = root.removingLastComponent()
        try await withWatcher([root], checkInterval: .milliseconds(20), calls: calls) { _, log in
            // Elsewhere: that is none of ours.
            other.withLock { $0.append("2 1 0:2 / \(base)/rooms rw - tmpfs b rw") }
            let file = try tree.write("a.jpg")
            try await log.wait(for: .file(file))
            #expect(!log.seen.contains(.tree(root)))
            for line in ["3 1 0:3 / \(base)/\(place) rw - tmpfs c rw", nil] {
                log.forget()
                other.withLock { lines in
                    lines.removeAll { $0.hasPrefix("3 ") }
                    if let line { lines.append(line) }
                }
                try await log.wait(for: .tree(root))
            }
        }
    }

    @Test(.enabled(if: geteuid() == 0, "mounting needs root"))
    func `a drive that is mounted below a root is watched at once, and so is what it had covered`() async throws {
        let place = try tree.makeFolder("SD")
        try await withWatcher([tree.root], checkInterval: .seconds(3_600)) { watcher, log in
            log.forget()
            try #require(mount("tmpfs", place.string, "tmpfs", 0, nil) == 0)
            defer { umount2(place.string, Int32(MNT_DETACH)) }
            try await log.wait(for: .tree(tree.root))
            let photo = try tree.write("SD/a.jpg")
            try await log.wait(for: .file(photo))
            try tree.makeFolder("SD/DCIM")
            let deep = try tree.write("SD/DCIM/b.jpg")
            try await log.wait { $0.contains(.file(deep)) || $0.contains(.tree(tree.path("SD/DCIM"))) }

            log.forget()
            try #require(umount2(place.string, 0) == 0)
            try await log.wait(for: .tree(tree.root))
            #expect(FileTreeScanner().mountPoints(below: tree.root) == [])
            let covered = try tree.write("SD/c.jpg")
            try await log.wait(for: .file(covered))
            #expect(watcher.reports().first?.mode == .inotify)
        }
    }
}
