import Foundation
import SyncCore
import SyncEngine
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct ProjectMigrationTests {
    private let tree: TemporaryTree
    private let names = ["a-metadata.json", "a.jpg", "b.jpg", "deep/er/c.jpg", "projects.json"]

    init() throws {
        tree = try TemporaryTree()
        for name in names { try tree.write(.noise(70_000, seed: UInt64(name.count)), to: "old/\(name)") }
    }

    private func migrate(_ calls: DownloadCalls = DownloadCalls()) async throws -> ProjectMigration.Summary {
        let migration = ProjectMigration(from: tree.path("old"), to: tree.path("far/new"), calls: calls)
        return try await BlockingPool(name: "test", threads: 1).runChecking { try migration.run($0) }
    }

    private func plan() async throws -> ProjectMigration.Plan {
        let migration = ProjectMigration(from: tree.path("old"), to: tree.path("far/new"))
        return try await BlockingPool(name: "test", threads: 1).runChecking { try migration.plan($0) }
    }

    private var oldIsThere: Bool { access(tree.path("old").string, F_OK) == 0 }

    @Test func `all is copied and proven before the old folder goes`() async throws {
        let before = try names.map { try tree.read("old/\($0)") }
        try tree.age("old/a.jpg", bySeconds: 5_000)
        let modified = try tree.stamp("old/a.jpg").modified
        let planned = try await plan()
        #expect((planned.files, planned.bytes, planned.conflicts.count) == (5, 350_000, 0))
        #expect(oldIsThere)
        let result = try await migrate()
        #expect((result.copied, result.removed, result.conflicts) == (5, 5, []))
        #expect(!oldIsThere)
        #expect(try tree.files(below: "far/new") == names)
        #expect(try names.map { try tree.read("far/new/\($0)") } == before)
        #expect(try tree.stamp("far/new/a.jpg").modified == modified)
    }

    @Test func `other data in the new place is named, kept, and nothing is removed`() async throws {
        try tree.write("newer", to: "far/new/b.jpg")
        #expect(try await plan().conflicts.map(\.path) == [tree.path("far/new/b.jpg")])
        let result = try await migrate()
        #expect(result.conflicts.map(\.path) == [tree.path("far/new/b.jpg")])
        #expect(result.removed == 0)
        #expect(try tree.files(below: "old") == names)
        #expect(try tree.read("far/new/b.jpg") == Array("newer".utf8))
    }

    @Test(arguments: 1...5)
    func `a copy that dies goes on with the next run`(dyingFile: Int) async throws {
        let count = Countdown(dyingFile)
        var calls = DownloadCalls()
        let write = calls.write
        calls.write = { file, offset, bytes in
            if count.fires() { throw Errno.ioError }
            return try write(file, offset, bytes)
        }
        await #expect(throws: Errno.ioError) { try await migrate(calls) }
        #expect(try tree.files(below: "old") == names)
        let result = try await migrate()
        #expect((result.copied, result.alreadyThere, result.removed) == (6 - dyingFile, dyingFile - 1, 5))
        #expect(try tree.files(below: "far/new") == names)
        #expect(!oldIsThere)
    }

    @Test func `what a run left that was killed goes with the next one: half a file, its other name, one that is gone`()
        async throws
    {
        let part = { (name: String) in "far/new/.\(name).sync-agent-part" }
        try tree.write("half of it", to: part("a.jpg"))
        try tree.write(try tree.read("old/b.jpg"), to: "far/new/b.jpg")
        #expect(link(tree.path("far/new/b.jpg").string, tree.path(part("b.jpg")).string) == 0)
        try tree.write("half of another", to: part("removed-since.jpg"))
        let result = try await migrate()
        #expect((result.copied, result.alreadyThere, result.removed) == (4, 1, 5))
        #expect(try tree.files(below: "far/new") == names)
    }

    @Test func `what is there already is on the disk for good before the old folder goes`() async throws {
        for name in names { try tree.write(try tree.read("old/\(name)"), to: "far/new/\(name)") }
        var calls = DownloadCalls()
        calls.syncFolder = { (_) throws(Errno) in throw .ioError }
        await #expect(throws: Errno.ioError) { try await migrate(calls) }
        #expect(try tree.files(below: "old") == names)
        let result = try await migrate()
        #expect((result.alreadyThere, result.removed) == (5, 5))
    }

    @Test func `a copy with other bytes is thrown away and named, and nothing is removed`() async throws {
        let count = Countdown(2)
        var calls = DownloadCalls()
        let write = calls.write
        calls.write = { file, offset, bytes in
            guard count.fires() else { return try write(file, offset, bytes) }
            var wrong = Array(bytes)
            wrong[0] ^= 1
            return try wrong.withUnsafeBytes { try write(file, offset, $0) }
        }
        let result = try await migrate(calls)
        #expect(result.conflicts.count == 1)
        #expect(result.conflicts.first?.reason.contains("other bytes") == true)
        #expect(try tree.files(below: "old") == names)
        #expect(try tree.files(below: "far/new").count == 4)
        #expect(try await migrate().removed == 5)
    }

    @Test func `a file that changes meanwhile keeps the old folder`() async throws {
        let count = Countdown(5)
        var calls = DownloadCalls()
        let write = calls.write
        calls.write = { [tree] file, offset, bytes in
            if count.fires() { try tree.write("later", to: "old/b.jpg") }
            return try write(file, offset, bytes)
        }
        let result = try await migrate(calls)
        #expect(result.conflicts.map(\.path) == [tree.path("old/b.jpg")])
        #expect(result.removed == 0)
        #expect(try tree.read("old/b.jpg") == Array("later".utf8))
    }

    @Test func `folders keep their modes`() async throws {
        #expect(chmod(tree.path("old").string, 0o700) == 0 && chmod(tree.path("old/deep").string, 0o750) == 0)
        #expect(try await migrate().conflicts == [])
        var status = stat()
        #expect(stat(tree.path("far/new").string, &status) == 0 && status.st_mode & 0o777 == 0o700)
        #expect(stat(tree.path("far/new/deep").string, &status) == 0 && status.st_mode & 0o777 == 0o750)
    }

    @Test(
        arguments: [true, false])
    func `where files have no second names, one that comes in the last moment is not replaced`(comes: Bool) async throws
    {
        var calls = DownloadCalls()
        calls.link = { (_, new) throws(Errno) in
            if comes, new.lastComponent == "b.jpg" {
                do { try Data("theirs".utf8).write(to: URL(filePath: new.string)) } catch { throw .ioError }
            }
            throw .notSupported
        }
        let result = try await migrate(calls)
        #expect(result.conflicts.map(\.path) == (comes ? [tree.path("far/new/b.jpg")] : []))
        #expect(oldIsThere == comes)
        if comes { #expect(try tree.read("far/new/b.jpg") == Array("theirs".utf8)) }
        #expect(try tree.files(below: "far/new") == names)
    }

    @Test func `a link is no file to copy`() async throws {
        #expect(symlink("/etc/hostname", tree.path("old/link.jpg").string) == 0)
        let result = try await migrate()
        #expect(result.conflicts.map(\.path) == [tree.path("old/link.jpg")])
        #expect(result.removed == 0)
    }

    @Test func `a file that both folders have as one is not taken for its own copy`() async throws {
        try tree.makeFolder("far/new")
        #expect(symlink(tree.path("old/deep").string, tree.path("far/new/deep").string) == 0)
        try tree.write("one", to: "old/deep/one.jpg")
        let result = try await migrate()
        #expect(result.conflicts.map(\.path) == ["er/c.jpg", "one.jpg"].map { tree.path("far/new/deep/\($0)") })
        #expect(result.removed == 0)
        #expect(try tree.read("old/deep/one.jpg") == Array("one".utf8))
    }

    @Test func `an old folder that is not there is said so`() async throws {
        let migration = ProjectMigration(from: tree.path("nowhere"), to: tree.path("new"))
        await #expect(throws: ScanError.self) {
            try await BlockingPool(name: "test", threads: 1).runChecking { try migration.plan($0) }
        }
    }
}
