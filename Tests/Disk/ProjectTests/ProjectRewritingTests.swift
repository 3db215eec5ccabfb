import Foundation
import SyncCore
import SyncEngine
import SyncSystem
import SyncTestSupport
import SyncWatch
import SystemPackage
import Testing

@Suite struct ProjectRewritingTests {
    private func texts(_ ids: [String]) -> String {
        "[" + ids.map { ProjectBench.record($0) }.joined(separator: ", ") + "]"
    }

    private func ids(_ bench: ProjectBench) throws -> [String] {
        try ProjectList(try bench.tree.read("projects/projects.json")).records.map(\.id)
    }

    @Test func `mode and unknown fields stay`() throws {
        let bench = try ProjectBench()
        let other = #"{"id":"b","x":1.0e5 ,"y":{"é":[null]}}"#
        try bench.write("{\"projects\":[{\"id\":\"a\"},\n\(other)],\"z\":0}", to: "projects.json")
        let path = bench.folder.appending("projects.json")
        chmod(path.string, 0o640)
        let file = ProjectListFile(in: bench.folder)
        #expect(try file.removeAtLast(["a"]))
        #expect(
            String(decoding: try bench.tree.read("projects/projects.json"), as: UTF8.self)
                == "{\"projects\":[\(other)],\"z\":0}")
        var status = stat()
        #expect(stat(path.string, &status) == 0 && status.st_mode & 0o777 == 0o640)
        #expect(try bench.tree.files(below: "projects") == ["projects.json"])
        #expect(try !file.removeAtLast(["a"]))
    }

    @Test func `a file that comes in the last moment is not lost`() throws {
        let bench = try ProjectBench()
        try bench.write(texts(["a", "b"]), to: "projects.json")
        // Asked when ours is ready to take the place: another program puts its own there.
        let asked = Lock(0)
        let removed = try ProjectListFile(in: bench.folder).removeAtLast(["a"]) { _ in
            if asked.withLock({
                $0 += 1; return $0
            }) == 1 {
                try? bench.write(texts(["a", "b", "c"]), to: ".theirs")
                rename(bench.folder.appending(".theirs").string, bench.folder.appending("projects.json").string)
            }
            return false
        }
        #expect(removed)
        #expect(try ids(bench) == ["b", "c"])
    }

    /// When the other program writes: once whenever it is asked to, beside whoever asks, and all the rest in the end. Every
    /// value is changed under the condition's lock.
    private final class Turns: @unchecked Sendable {
        private let condition = NSCondition()
        private var isAsked = false
        private var isIdle = false
        private var isFree = false
        private var isOver = false

        private func locked(_ body: () -> Void) {
            condition.lock()
            body()
            condition.broadcast()
            condition.unlock()
        }

        private func waitUntilIdle() { while !isOver, isAsked || !isIdle { condition.wait() } }

        // MARK: Of those who ask

        func ask() { locked { isAsked = true } }
        func rest() { locked { waitUntilIdle() } }
        func askAndWait() {
            locked {
                isAsked = true
                condition.broadcast()
                waitUntilIdle()
            }
        }
        /// It need not be asked any more.
        func free() { locked { isFree = true } }

        // MARK: Of the other program

        func take() {
            locked {
                isIdle = true
                condition.broadcast()
                while !isAsked, !isFree { condition.wait() }
                (isAsked, isIdle) = (false, false)
            }
        }
        func end() { locked { isOver = true } }
    }

    @Test(arguments: [true, false])
    func `records that another program adds meanwhile are all there in the end`(isAtomic: Bool) async throws {
        let bench = try ProjectBench()
        let doomed = (0..<20).map { "old\($0)" }
        try bench.write(texts(doomed), to: "projects.json")
        let path = bench.folder.appending("projects.json")
        let added = 60
        let turns = Turns()
        let pool = BlockingPool(name: "app", threads: 1)
        async let app: Void = pool.run {
            defer { turns.end() }
            for number in 0..<added {
                turns.take()
                // As an app does it: what is there, and one more.
                let known = try ids(bench) + ["new\(number)"]
                let bytes = Array(texts(known).utf8)
                if isAtomic {
                    try bench.tree.write(bytes, to: "projects/.theirs")
                    rename(bench.folder.appending(".theirs").string, path.string)
                } else {
                    let file = try FileDescriptor.open(path, .writeOnly, options: [.truncate])
                    try file.closeAfter {
                        _ = try file.writeAll(bytes.prefix(bytes.count / 2))
                        // Half of it stays there until it is met.
                        turns.take()
                        _ = try file.writeAll(bytes.dropFirst(bytes.count / 2))
                    }
                }
            }
        }
        // A test that fails does not leave it waiting.
        defer { turns.free() }
        let scanner = FileTreeScanner()
        let file = ProjectListFile(in: bench.folder)
        let remover = BlockingPool(name: "remover", threads: 1)
        for id in doomed {
            _ = try await remover.run {
                turns.rest()
                let isDisturbed = Lock(false)
                // Once for each, when what takes the list's place is ready; and then whenever the list is in the making.
                let look: (FilePath) -> Bool = { path in
                    let isFirst = isDisturbed.withLock { isDisturbed in
                        defer { isDisturbed = true }
                        return !isDisturbed
                    }
                    if isFirst { turns.ask() }
                    return scanner.isBeingWritten(path)
                }
                return try file.removeAtLast([id.inBytes], isBeingWritten: look) { turns.askAndWait() }
            }
        }
        turns.free()
        try await app
        let left = Set(try ids(bench))
        // The app itself may write a record back that it had read before: that is its word. What it added stays.
        #expect(left.isSuperset(of: (0..<added).map { "new\($0)" }))
    }
}
