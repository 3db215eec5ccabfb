import Foundation
import SyncCore
import SyncEngine
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

/// Another program writes `projects.json` at the very moments in which it is exchanged.
@Suite struct ProjectRewritingRaceTests {
    private struct Killed: Error {}

    private let bench: ProjectBench
    private let path: FilePath

    init() throws {
        bench = try ProjectBench()
        path = bench.folder.appending("projects.json")
        try bench.write("[\(ProjectBench.record("a"))]", to: "projects.json")
    }

    /// The other program puts a file in the place of whatever is there.
    private func place(_ text: String) throws {
        try bench.write(text, to: ".theirs")
        guard rename(bench.folder.appending(".theirs").string, path.string) == 0 else { throw Errno(rawValue: errno) }
    }

    /// - Parameters: what happens right before and right after the n-th exchange.
    private func calls(
        before: @escaping @Sendable (Int) throws -> Void, after: @escaping @Sendable (Int) throws -> Void = { _ in }
    ) -> FileRewriteCalls {
        let count = Lock(0)
        var calls = FileRewriteCalls()
        let exchange = calls.exchange
        calls.exchange = { one, other in
            let number = count.withLock { count in
                count += 1
                return count
            }
            try before(number)
            let result = try exchange(one, other)
            try after(number)
            return result
        }
        return calls
    }

    private func remove(_ calls: FileRewriteCalls) throws -> Bool {
        try ProjectListFile(in: bench.folder, calls: calls).removeAtLast(["a"])
    }

    private var text: String? {
        (try? bench.tree.read("projects/projects.json")).map { String(decoding: $0, as: UTF8.self) }
    }

    /// What is hidden beside the list.
    private func hidden() throws -> [String] {
        let names = try FileManager.default.contentsOfDirectory(atPath: bench.folder.string)
        return try names.filter { $0 != "projects.json" }.map {
            String(decoding: try bench.tree.read("projects/\($0)"), as: UTF8.self)
        }
    }

    private func settle() throws -> [FilePath] {
        try ProjectListFile(in: bench.folder).settle(isBeingWritten: { _ in false })
    }

    @Test func `the old file is gone for good when its record is`() throws {
        let steps = Lock<[String]>([])
        var calls = FileRewriteCalls()
        let system = calls
        calls.remove = { file in
            steps.withLock { $0.append("remove") }
            try system.remove(file)
        }
        calls.syncFolder = { folder in
            steps.withLock { $0.append("sync") }
            try system.syncFolder(folder)
        }
        #expect(try remove(calls))
        #expect(steps.withLock { $0 } == ["sync", "remove", "sync"])
    }

    @Test func `a file that comes in the moment of the exchange gets its place back`() throws {
        let theirs = "[\(ProjectBench.record("b"))]"
        #expect(try !remove(calls(before: { if $0 == 1 { try place(theirs) } })))
        #expect(text == theirs)
        #expect(try hidden() == [])
    }

    @Test(
        arguments: [
            // Before the n-th exchange; the one that the last did not come in the place of.
            ([1, 2], "1"), ([1, 2, 3], "2"), ([1, 2, 3, 4], "3"),
        ])
    func `of files that come one after the other the last one stays, and none is removed`(moments: [Int], kept: String)
        throws
    {
        let calls = calls(before: { if moments.contains($0) { try place("\($0)") } })
        #expect(throws: ProjectListNotRewritten.self) { try remove(calls) }
        #expect(text == "\(moments.count)")
        #expect(try hidden() == [kept])
        #expect(try settle().count == 1)
        #expect(try hidden() == [kept])
    }

    @Test func `one that takes the place of ours at once stays there`() throws {
        let calls = calls(
            before: { if $0 == 1 { try place("first") } }, after: { if $0 == 1 { try place("second") } })
        #expect(throws: ProjectListNotRewritten.self) { try remove(calls) }
        #expect(text == "second")
        #expect(try hidden() == ["first"])
    }

    @Test(arguments: [true, false])
    func `where the name is gone for a moment, what was written is kept`(isSeen: Bool) throws {
        let path = path
        let calls = calls(
            before: {
                if $0 == 1 { try place("theirs") }
                if $0 == 2 { unlink(path.string) }
            }, after: { if $0 == 1, isSeen { unlink(path.string) } })
        #expect(throws: ProjectListNotRewritten.self) { try remove(calls) }
        #expect(text == nil)
        #expect(try hidden() == ["theirs"])
    }

    @Test func `the name is gone before the exchange: nothing is lost and nothing left`() throws {
        let path = path
        #expect(try !remove(calls(before: { if $0 == 1 { unlink(path.string) } })))
        #expect(try hidden() == [])
    }

    @Test func `a kill in the moment of the exchange loses nothing of another program`() throws {
        let calls = calls(before: { _ in try place("theirs") }, after: { _ in throw Killed() })
        #expect(throws: ProjectListNotRewritten.self) { try remove(calls) }
        #expect(text == "[]")
        #expect(try settle() == [])
        #expect(text == "theirs")
        #expect(try hidden() == [])
    }

    @Test func `a kill, and then another program has written again: both of its files are there`() throws {
        let calls = calls(before: { _ in try place("theirs") }, after: { _ in throw Killed() })
        #expect(throws: ProjectListNotRewritten.self) { try remove(calls) }
        try place("later")
        #expect(try settle().count == 1)
        #expect(text == "later")
        #expect(try hidden() == ["theirs"])
    }

    @Test(arguments: [true, false])
    func `what a kill leaves of ours is removed`(isExchanged: Bool) throws {
        let old = text
        var calls = calls(
            before: { _ in if !isExchanged { throw Killed() } }, after: { _ in throw Killed() })
        calls.remove = { _ in throw Killed() }
        #expect(throws: ProjectListNotRewritten.self) { try remove(calls) }
        try bench.write("half", to: ".sync-agent-1f.tmp")
        #expect(try hidden().count == 2)
        #expect(try settle() == [])
        #expect(text == (isExchanged ? "[]" : old))
        #expect(try hidden() == [])
    }
}
