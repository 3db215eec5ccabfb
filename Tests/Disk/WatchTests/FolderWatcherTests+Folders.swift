import Glibc
import SyncCore
import SyncSystem
import SystemPackage
import Testing

@testable import SyncWatch

extension FolderWatcherTests {
    @Test func `a new folder is watched before it is hinted`() async throws {
        try await withWatcher([tree.root]) { _, log in
            let folder = try tree.makeFolder("trip")
            try await log.wait(for: .tree(folder))
            let file = try tree.write("trip/a.jpg")
            try await log.wait(for: .file(file))
        }
    }

    @Test func `a tree that is moved in is hinted and watched as a whole`() async throws {
        let elsewhere = tree.outside.appending("trip")
        try tree.makeFolder("../outside/trip/day 1/raw")
        try tree.write(elsewhere.appending("day 1/raw/a.jpg"))
        try await withWatcher([tree.root]) { watcher, log in
            try tree.move(elsewhere, to: tree.path("trip"))
            try await log.wait(for: .tree(tree.path("trip")))
            #expect(try files(below: "trip") == ["trip/day 1/raw/a.jpg"])
            let file = try tree.write("trip/day 1/raw/b.jpg")
            try await log.wait(for: .file(file))
            #expect(watcher.reports().first?.watches == 4)
        }
    }

    @Test func `a tree that is moved out is gone with all its watches`() async throws {
        try tree.makeFolder("trip/day 1/raw")
        let elsewhere = tree.outside.appending("trip")
        try await withWatcher([tree.root]) { watcher, log in
            try tree.move(tree.path("trip"), to: elsewhere)
            try await log.wait(for: .gone(tree.path("trip")))
            try tree.write(elsewhere.appending("day 1/raw/a.jpg"))
            try await log.settle(tree)
            #expect(log.seen == [.gone(tree.path("trip"))])
            #expect(watcher.reports().first?.watches == 1)
        }
    }

    @Test func `after a folder was renamed a change inside it has the new path`() async throws {
        try tree.makeFolder("old/deep")
        try tree.makeFolder("year")
        try await withWatcher([tree.root]) { watcher, log in
            try tree.move(tree.path("old"), to: tree.path("year/new"))
            try await log.wait(for: .gone(tree.path("old")), .tree(tree.path("year/new")))
            let file = try tree.write("year/new/deep/a.jpg")
            try await log.wait(for: .file(file))
            #expect(!log.seen.contains { $0.path.starts(with: tree.path("old/deep")) })
            #expect(watcher.reports().first?.watches == 4)
        }
    }

    @Test func `two folders that change places keep their changes apart`() async throws {
        try tree.makeFolder("a/inside a")
        try tree.makeFolder("b/inside b")
        try await withWatcher([tree.root]) { _, log in
            try tree.move(tree.path("a"), to: tree.path("c"))
            try tree.move(tree.path("b"), to: tree.path("a"))
            try tree.move(tree.path("c"), to: tree.path("b"))
            try await log.settle(tree)
            log.forget()
            try tree.write("a/inside b/1.jpg")
            try tree.write("b/inside a/2.jpg")
            try await log.wait(for: .file(tree.path("a/inside b/1.jpg")), .file(tree.path("b/inside a/2.jpg")))
        }
    }

    /// Of the one that is named first, the kernel tells last that it is gone (renameat2(2), RENAME_EXCHANGE).
    @Test func `two folders that exchange their names in one step are both watched and hinted`() async throws {
        try tree.makeFolder("a/inside a")
        try tree.makeFolder("b/inside b")
        let both = [tree.path("a"), tree.path("b")]
        try await withWatcher([tree.root]) { watcher, log in
            #expect(try NewFile.exchange(both[0], both[1]))
            try await log.settle(tree)
            for folder in both {
                let last = log.seen.last(where: { $0.path == folder })
                #expect(last == ChangeHint.tree(folder))
            }
            log.forget()
            try tree.write("a/inside b/1.jpg")
            try tree.write("b/inside a/2.jpg")
            try await log.wait(for: .file(tree.path("a/inside b/1.jpg")), .file(tree.path("b/inside a/2.jpg")))
            #expect(watcher.reports().first?.watches == 5)
        }
    }

    @Test func `a folder that loses its temporary name is hinted, one that gets one is gone`() async throws {
        try tree.makeFolder("trip.part")
        try await withWatcher([tree.root]) { watcher, log in
            try tree.move(tree.path("trip.part"), to: tree.path("trip"))
            try await log.wait(for: .tree(tree.path("trip")))
            #expect(watcher.reports().first?.watches == 2)
            try tree.move(tree.path("trip"), to: tree.path(".trip"))
            try await log.wait(for: .gone(tree.path("trip")))
            try await log.settle(tree)
            #expect(watcher.reports().first?.watches == 1)
        }
    }

    @Test func `a folder that was deleted and made again is watched again`() async throws {
        try tree.makeFolder("trip")
        try await withWatcher([tree.root]) { watcher, log in
            for round in 1...20 {
                try tree.remove(tree.path("trip"))
                try tree.makeFolder("trip")
                let file = try tree.write("trip/\(round).jpg")
                try await log.wait { $0.contains(.file(file)) || $0.contains(.tree(tree.path("trip"))) }
                try await log.settle(tree, "settle-\(round).jpg")
                log.forget()
            }
            let file = try tree.write("trip/last.jpg")
            try await log.wait(for: .file(file))
            #expect(watcher.reports().first?.watches == 2)
        }
    }

    @Test func `a burst of nested folders and files loses nothing`() async throws {
        try await withWatcher([tree.root]) { watcher, log in
            var known: Set<String> = []
            let tree = tree
            async let burst: Void = {
                for folder in 0..<30 {
                    try tree.makeFolder("\(folder)/a/b/c")
                    for (index, below) in ["", "/a", "/a/b", "/a/b/c"].enumerated() {
                        try tree.write("\(folder)\(below)/\(index).jpg")
                    }
                }
                try tree.write("last.jpg")
            }()
            while !log.seen.contains(.file(tree.path("last.jpg"))) {
                for hint in try await log.take() {
                    switch hint {
                    case .tree(let path): known.formUnion(try files(below: path))
                    case .file(let path), .writing(let path):
                        known.insert(try #require(RelativePath(path, below: tree.root)).filePath.string)
                    case .gone(let path): Issue.record("\(path) was never removed")
                    case .others(let path): Issue.record("\(path) holds nothing else")
                    }
                }
            }
            try await burst
            #expect(known == (try files(below: tree.root)))
            #expect(known.count == 121)
            #expect(watcher.reports().first?.watches == 121)
        }
    }

    @Test func `folders are hinted when who may read them changes, and not for a new time`() async throws {
        let folder = try tree.makeFolder("trip")
        try await withWatcher([tree.root]) { _, log in
            #expect(utimes(folder.string, nil) == 0)
            try await log.settle(tree)
            #expect(log.seen == [])
            #expect(chmod(folder.string, 0o700) == 0)
            try await log.wait(for: .tree(folder))
            #expect(chmod(tree.root.string, 0o700) == 0)
            try await log.wait(for: .tree(tree.root))
        }
    }

    @Test func `a root that is removed is gone, and is watched when it is there again`() async throws {
        try tree.makeFolder("trip")
        try await withWatcher([tree.root], checkInterval: .milliseconds(20)) { watcher, log in
            try tree.remove(tree.root)
            try await log.wait(for: .gone(tree.root))
            try tree.makeFolder("trip")
            try await log.wait(for: .tree(tree.root))
            let file = try tree.write("trip/a.jpg")
            try await log.wait { $0.contains(.file(file)) || $0.contains(.tree(file.removingLastComponent())) }
            try await log.settle(tree)
            #expect(watcher.reports().first == WatchReport(root: tree.root, mode: .inotify, watches: 2))
        }
    }

    @Test func `a root that is moved away, with its parent or without, is gone`() async throws {
        let root = try tree.makeFolder("parent/root")
        try await withWatcher([root], checkInterval: .milliseconds(20)) { watcher, log in
            try tree.move(root, to: tree.path("parent/elsewhere"))
            try await log.wait(for: .gone(root))
            #expect(watcher.reports().first?.note?.contains("looked for every") == true)
            try tree.move(tree.path("parent/elsewhere"), to: root)
            try await log.wait(for: .tree(root))
            log.forget()
            try tree.move(tree.path("parent"), to: tree.path("other"))
            try await log.wait(for: .gone(root))
        }
    }

    @Test func `a root whose place is taken by another folder is watched anew`() async throws {
        let (first, second) = (try tree.makeFolder("first"), try tree.makeFolder("second"))
        try tree.makeLink("current", to: first)
        let root = tree.path("current")
        try await withWatcher([root], checkInterval: .milliseconds(20)) { _, log in
            try tree.makeLink("next", to: second)
            try tree.move(tree.path("next"), to: root)
            try await log.wait(for: .tree(root))
            try tree.write("second/a.jpg")
            try await log.wait(for: .file(root.appending("a.jpg")))
        }
    }

    @Test func `a root that is missing at the start is found when it comes`() async throws {
        let root = tree.path("later")
        try await withWatcher([root], checkInterval: .milliseconds(20)) { watcher, log in
            #expect(watcher.reports().first?.note?.contains("No such file") == true)
            try tree.makeFolder("later")
            try await log.wait(for: .tree(root))
            let file = try tree.write("later/a.jpg")
            try await log.wait(for: .file(file))
        }
    }

    func files(below relative: String) throws -> Set<String> {
        try files(below: tree.path(relative))
    }

    func files(below start: FilePath) throws -> Set<String> {
        var found: Set<String> = []
        try FileTreeScanner().scan(root: tree.root, from: start) { folder in
            for file in folder.files { found.insert(folder.path.appending(file.name).string) }
        }
        return found
    }
}
