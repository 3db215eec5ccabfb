import Foundation
import Glibc
import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

/// Killed, failed and disturbed at every step: nothing is deleted whose photo is not proven, and the next pass completes.
@Suite struct RetentionCrashTests {
    /// What a killed process would have done next.
    private struct Killed: Error {}

    private enum Mishap: String, CaseIterable, Sendable {
        case killedBefore, killedAfter, failed
    }

    /// Three files, five events: a photo of its own, one with others, a replay, and one without photo.
    private static func fill(_ bench: RetentionBench) async throws {
        let a = bench.event("a", photo: try RetentionBench.photo(1))
        let b = bench.event("b", photo: try RetentionBench.photo(2))
        try bench.write(a, to: "alone.json")
        try bench.write("[\(b), \(bench.event("young", age: 1)), \(bench.event("c"))]", to: "list.json")
        try bench.write("[\(a), \(b)]", to: "replay.json")
        try await bench.sync()
    }

    private static func expectSafe(_ bench: RetentionBench) throws {
        for id in ["a", "b"] where try bench.files(with: "\"\(id)\"").isEmpty { #expect(try bench.isArchived(id)) }
        for id in ["a", "b", "c"] where try bench.ledger.event(id)?.retention != .kept {
            let files = try bench.files(with: "\"id\": \"\(id)\"").filter { try bench.files().contains($0) }
            #expect(files.allSatisfy { $0 == "list.json" }, "\(id) is signed off and still in \(files)")
        }
    }

    private static func expectComplete(_ bench: RetentionBench) throws {
        #expect(try bench.isArchived("a") && bench.isArchived("b"))
        #expect(
            try bench.read("list.json") == "[\(bench.event("young", age: 1)), \(bench.bare("c"))]")
        #expect(!bench.exists("alone.json") && !bench.exists("replay.json"))
        #expect(try bench.leftovers() == [])
        #expect(try ["a", "b"].allSatisfy { try bench.ledger.event($0)?.retention == .archived })
        #expect(try bench.ledger.event("c")?.retention == .deleted)
        #expect(try bench.ledger.check() == [])
    }

    /// Calls of which the n-th goes wrong, and everything after it when the process was killed.
    private static func calls(_ number: Int, _ mishap: Mishap, counted: Lock<Int>) -> FileRewriteCalls {
        @Sendable func step<Value>(_ work: () throws -> Value) throws -> Value {
            let now = counted.withLock { count in
                count += 1
                return count
            }
            switch mishap {
            case .failed:
                if now == number { throw Errno.ioError }
                return try work()
            case .killedBefore:
                if now >= number { throw Killed() }
                return try work()
            case .killedAfter:
                if now > number { throw Killed() }
                let value = try work()
                if now == number { throw Killed() }
                return value
            }
        }
        let system = FileRewriteCalls()
        var calls = FileRewriteCalls()
        calls.write = { bytes, new, model in try step { try system.write(bytes, new, model) } }
        calls.exchange = { one, other in try step { try system.exchange(one, other) } }
        calls.rename = { one, other in try step { try system.rename(one, other) } }
        calls.renameIfFree = { one, other in try step { try system.renameIfFree(one, other) } }
        calls.remove = { file in try step { try system.remove(file) } }
        calls.syncFolder = { folder in try step { try system.syncFolder(folder) } }
        return calls
    }

    @Test(arguments: Mishap.allCases)
    private func `no step with a file loses anything`(mishap: Mishap) async throws {
        let counted = Lock(0)
        let whole = try RetentionBench()
        try await Self.fill(whole)
        try await whole.cleanUp(calls: Self.calls(.max, .failed, counted: counted))
        try Self.expectComplete(whole)
        let steps = counted.withLock { $0 }
        #expect(steps >= 15)
        for step in 1...steps {
            let bench = try RetentionBench()
            try await Self.fill(bench)
            let calls = Self.calls(step, mishap, counted: Lock(0))
            do {
                let summary = try await bench.cleanUp(calls: calls)
                #expect(mishap == .failed && !summary.errors.isEmpty, "step \(step)")
            } catch is Killed {
                #expect(mishap != .failed)
            }
            try Self.expectSafe(bench)
            try await bench.cleanUp()
            try Self.expectComplete(bench)
        }
    }

    @Test(arguments: Mishap.allCases)
    private func `a gallery that a cleanup empties is no drive that is away, wherever it ended`(
        mishap: Mishap
    ) async throws {
        func filled() async throws -> RetentionBench {
            let bench = try RetentionBench()
            try bench.write(bench.event("a", photo: try RetentionBench.photo(1)), to: "a.json")
            try bench.write(bench.event("b", photo: try RetentionBench.photo(2)), to: "deep/b.json")
            try await bench.sync()
            return bench
        }
        let counted = Lock(0)
        try await filled().cleanUp(calls: Self.calls(.max, .failed, counted: counted))
        let steps = counted.withLock { $0 }
        #expect(steps >= 8)
        for step in 1...steps {
            let bench = try await filled()
            _ = try? await bench.cleanUp(calls: Self.calls(step, mishap, counted: Lock(0)))
            let summary = try await bench.cleanUp()
            #expect(summary.errors.isEmpty && summary.skipped.isEmpty, "step \(step): \(summary)")
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: bench.gallery.string).allSatisfy { $0 == "deep" })
            #expect(try ["a", "b"].allSatisfy { try bench.ledger.event($0)?.retention == .archived })
            #expect(try bench.ledger.knownFileCount(bench.folder.id) == 0)
            #expect(try bench.ledger.check() == [])
        }
    }

    @Test(arguments: [StoreOperation.put, .head, .get], [true, false])
    func `no answer of the store that is lost loses anything`(operation: StoreOperation, isDone: Bool) async throws {
        for number in 1...2 {
            for code in [StoreError.Code.unreachable, .serverFailed] {
                let bench = try RetentionBench()
                try await Self.fill(bench)
                bench.store.add(StoreFault(operation, number: number, isDone ? .failAfter(code) : .failBefore(code)))
                try await bench.cleanUp()
                try Self.expectSafe(bench)
                try await bench.cleanUp()
                try Self.expectComplete(bench)
            }
        }
    }

    @Test(arguments: ["rename", "exchange"])
    func `where a file cannot be replaced, no copy of it stays beside it`(call: String) async throws {
        let bench = try RetentionBench()
        try await Self.fill(bench)
        let before = try bench.read("list.json")
        var calls = FileRewriteCalls()
        if call == "rename" {
            calls.rename = { _, _ in throw Errno.ioError }
        } else {
            calls.exchange = { _, _ in throw Errno.ioError }
        }
        let summary = try await bench.cleanUp(calls: calls)
        #expect(Set(summary.errors.named.map(\.event)).isSuperset(of: ["b", "c"]))
        #expect(try bench.read("list.json") == before)
        let hidden = try FileManager.default.contentsOfDirectory(atPath: bench.gallery.string).filter {
            $0.first == "."
        }
        #expect(hidden == [])
    }

    @Test func `where the folder cannot be synced, the text stays in its place`() async throws {
        let bench = try RetentionBench()
        try await Self.fill(bench)
        let before = try bench.read("list.json")
        var calls = FileRewriteCalls()
        calls.syncFolder = { _ in throw Errno.ioError }
        let summary = try await bench.cleanUp(calls: calls)
        #expect(Set(summary.errors.named.map(\.event)).isSuperset(of: ["b", "c"]))
        #expect(try bench.read("list.json") == before)
        try await bench.cleanUp()
        try Self.expectComplete(bench)
    }

    @Test func `many files are cleaned in groups, and a folder is synced once more for each`() async throws {
        let bench = try RetentionBench()
        let names = (1...40).map { "\($0).json" }
        for (number, name) in names.enumerated() {
            try bench.write(bench.event("e\(number)", photo: try RetentionBench.photo(number)), to: name)
        }
        try await bench.sync()
        let (system, syncs) = (FileRewriteCalls(), Lock(0))
        var calls = FileRewriteCalls()
        calls.syncFolder = { folder in
            syncs.withLock { $0 += 1 }
            try system.syncFolder(folder)
        }
        let summary = try await bench.cleanUp(calls: calls)
        #expect(summary.archived == 40 && summary.deleted == 40 && summary.errors.isEmpty)
        #expect(names.allSatisfy { !bench.exists($0) })
        #expect(try bench.leftovers() == [])
        // One with each exchange; for each of two groups one when the old files are gone, and one when the empty ones are.
        #expect(syncs.withLock { $0 } == 40 + 2 + 2)
        #expect(try (0..<40).allSatisfy { try bench.ledger.event("e\($0)")?.retention == .archived })
        #expect(try bench.ledger.check() == [])
    }

    @Test func `where the folder cannot be synced after the text has gone, the event is not signed off`() async throws {
        let bench = try RetentionBench()
        try await Self.fill(bench)
        let (system, count) = (FileRewriteCalls(), Lock(0))
        var calls = FileRewriteCalls()
        // Three files are exchanged before.
        calls.syncFolder = { folder in
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number > 3 { throw Errno.ioError }
            try system.syncFolder(folder)
        }
        let summary = try await bench.cleanUp(calls: calls)
        #expect(summary.deleted == 0 && Set(summary.errors.named.map(\.event)).isSuperset(of: ["a", "b", "c"]))
        #expect(try ["a", "b", "c"].allSatisfy { try bench.ledger.event($0)?.retention == .kept })
        try await bench.cleanUp()
        try Self.expectComplete(bench)
    }

    @Test func `a file that is written to meanwhile keeps what was written, and is tried again`() async throws {
        let bench = try RetentionBench()
        try await Self.fill(bench)
        let file = bench.gallery.appending("list.json")
        let written = "[\(bench.event("b", photo: try RetentionBench.photo(2))), \(bench.event("new", age: 2))]"
        var calls = FileRewriteCalls()
        let system = FileRewriteCalls()
        let isFirst = Lock(true)
        calls.exchange = { one, other in
            // The last moment: what is exchanged is no longer what was read.
            if other == file, isFirst.withLock({ $0 }) { try Data(written.utf8).write(to: URL(filePath: file.string)) }
            if other == file { isFirst.withLock { $0 = false } }
            return try system.exchange(one, other)
        }
        let summary = try await bench.cleanUp(calls: calls)
        #expect(try bench.read("list.json") == written)
        #expect(Set(summary.skipped.named.map(\.event)) == ["b", "c"])
        #expect(try bench.leftovers() == [])
        try await bench.sync()
        try await bench.cleanUp()
        #expect(try bench.read("list.json") == "[\(bench.event("new", age: 2))]")
    }

    @Test func `a kill in the moment in which another program has written loses nothing of it`() async throws {
        let bench = try RetentionBench()
        try await Self.fill(bench)
        let file = bench.gallery.appending("list.json")
        let written = "[\(bench.event("new", age: 2))]"
        var calls = FileRewriteCalls()
        let system = FileRewriteCalls()
        calls.exchange = { one, other in
            guard other == file else { return try system.exchange(one, other) }
            try Data(written.utf8).write(to: URL(filePath: file.string), options: .atomic)
            _ = try system.exchange(one, other)
            throw Killed()
        }
        await #expect(throws: Killed.self) { try await bench.cleanUp(calls: calls) }
        try await bench.cleanUp()
        #expect(try bench.read("list.json") == written)
        #expect(try bench.leftovers() == [])
    }

    @Test func `a file that a program has open for writing is left alone`() async throws {
        var bench = try RetentionBench()
        try bench.write(bench.event("c"), to: "c.json")
        try await bench.sync()
        bench.writing = [bench.gallery.appending("c.json")]
        let summary = try await bench.cleanUp()
        bench.writing = []
        #expect(summary.skipped.count == 1 && summary.errors.count == 0 && summary.deleted == 0)
        #expect(try await bench.cleanUp().deleted == 1)
    }

    @Test func `a file that a program opens at the last moment is left alone`() async throws {
        let bench = try RetentionBench()
        try bench.write(bench.event("c"), to: "c.json")
        try await bench.sync()
        let written = bench.event("d", age: 1)
        var calls = FileRewriteCalls()
        let system = FileRewriteCalls()
        calls.write = { bytes, draft, file in
            try Data(written.utf8).write(to: URL(filePath: file.string))
            return try system.write(bytes, draft, file)
        }
        let summary = try await bench.cleanUp(calls: calls)
        #expect(summary.skipped.count == 1 && summary.errors.count == 0 && summary.deleted == 0)
        #expect(summary.skipped.named.first?.reason == "the file changed meanwhile; the next cleanup reads it")
        #expect(try bench.read("c.json") == written)
    }

    @Test func `what a killed cleanup left behind is removed, and nothing else`() async throws {
        let bench = try RetentionBench()
        for name in [".sync-agent-1f.tmp", "deep/.sync-agent-ffffffffffffffff.tmp"] {
            try bench.write(bench.event("x"), to: name)
        }
        for name in [".sync-agent-.tmp", ".sync-agent-photo.tmp", ".hidden/.sync-agent-2.tmp", "sync-agent-2.tmp"] {
            try bench.write("mine", to: name)
        }
        try await bench.cleanUp()
        #expect(try bench.files() == [])
        #expect(try bench.files(with: "mine").count == 4)
    }

    @Test(.enabled(if: FileAttributes.areKept))
    func `a rewritten file has the attributes that it had, those of who may read it among them`() async throws {
        let bench = try RetentionBench()
        try bench.write("[\(bench.event("c")),\(bench.event("young", age: 1))]", to: "c.json")
        let file = bench.gallery.appending("c.json")
        #expect(chmod(file.string, 0o640) == 0)
        try FileAttributes.sample.set(on: file)
        try await bench.sync()
        #expect(try await bench.cleanUp().deleted == 1)
        #expect(try FileAttributes(at: file) == .sample)
    }

    @Test func `a rewritten file has the mode that it had`() async throws {
        let bench = try RetentionBench()
        try bench.write("[\(bench.event("c")),\(bench.event("young", age: 1))]", to: "c.json")
        #expect(chmod(bench.gallery.appending("c.json").string, 0o640) == 0)
        try await bench.sync()
        try await bench.cleanUp()
        var status = stat()
        #expect(stat(bench.gallery.appending("c.json").string, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o640)
    }
}
