import Foundation
import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SyncTestSupport
import SyncWatch
import SystemPackage
import Testing

@Suite struct ProjectRemoverTests {
    private func bench() async throws -> ProjectBench {
        let bench = try ProjectBench()
        for id in ["a", "ab", "b"] { try bench.write("image \(id).", to: "\(id).jpg") }
        try bench.write("{}", to: "a-metadata.json")
        try bench.list(["a", "ab", "b"].map { ProjectBench.record($0, request: "request \($0)") })
        try await bench.pass()
        try bench.write("image a again.", to: "a.jpg")
        try await bench.pass()
        return bench
    }

    private func remove(_ ids: [String], in bench: ProjectBench) async throws -> [ProjectRemover.Outcome] {
        let remover = bench.makeRemover()
        var targets: [ProjectRemover.Target] = []
        for id in ids { targets += try await remover.find(id, in: [bench.folder]) }
        return try await remover.remove(targets)
    }

    @Test func `a project goes with its record, files, objects and versions, and nothing else does`() async throws {
        let bench = try await bench()
        #expect(bench.stored.count == 6)
        let outcomes = try await remove(["a"], in: bench)
        #expect(outcomes.map(\.failures) == [[]])
        #expect(outcomes.first?.target.files.count == 2)
        #expect(outcomes.first?.target.keys.count == 3)
        #expect(bench.stored == ["ab.jpg", "b.jpg", "projects.json"])
        #expect(try bench.tree.files(below: "projects") == ["ab.jpg", "b.jpg", "projects.json"])
        let list = String(decoding: try bench.tree.read("projects/projects.json"), as: UTF8.self)
        let left = ["ab", "b"].map { ProjectBench.record($0, request: "request \($0)") }.joined(separator: ",\n")
        #expect(try ProjectList(Array(list.utf8)).records.map(\.id) == ["ab", "b"])
        #expect(list.count == left.count + 2)
        try await bench.pass()
        #expect(bench.stored == ["ab.jpg", "b.jpg", "projects.json"])
        #expect(try bench.content("projects.json") == list)
        #expect(try bench.states() == ["ab": "uploaded", "b": "uploaded"])
        #expect(try bench.ledger.check() == [])
    }

    @Test(arguments: ["1.jpg", "20260501T101500Z-x.jpg"])
    func `a file that somebody has put into the folder of versions does not go with the project`(name: String)
        async throws
    {
        let bench = try await bench()
        let file = "a/versions/\(name)"
        try bench.write("image of mine.", to: file)
        try await bench.pass()
        #expect(try await remove(["a"], in: bench).map(\.failures) == [[]])
        #expect(bench.stored == [file, "ab.jpg", "b.jpg", "projects.json"])
        #expect(try bench.status(file)?.state == .uploaded)
        // Nothing is left of the project.
        #expect(try await bench.makeRemover().find("a", in: [bench.folder]).isEmpty)
    }

    @Test func `an image of a folder that was watched before stays what it is stored as`() async throws {
        var bench = try ProjectBench()
        try bench.list([ProjectBench.record("a")])
        try bench.write("image 1.", to: "a.jpg")
        try await bench.pass()
        try bench.watch("others")
        try bench.list([ProjectBench.record("a")])
        for number in 2...3 {
            try bench.write("image \(number).", to: "a.jpg")
            try await bench.pass()
        }
        #expect(try await remove(["a"], in: bench).map(\.failures) == [[]])
        let left = bench.stored.filter { $0.hasPrefix("a") }
        #expect(left.count == 1 && left[0].hasPrefix("a/versions/"))
        #expect(try left.map { try bench.content($0) } == ["image 1."])
        try bench.watch("projects")
        #expect(try bench.status("a.jpg")?.state == .uploaded)
        #expect(try bench.ledger.check() == [])
    }

    @Test func `what may wait for the disk of the projects runs on no thread of the ledger`() async throws {
        let bench = try await bench()
        let scanner = ThreadNotingScanner()
        let remover = bench.makeRemover(scanner: scanner)
        let outcomes = try await remover.remove(try await remover.find("a", in: [bench.folder]))
        #expect(outcomes.map(\.failures) == [[]])
        let threads = scanner.threads
        #expect(!threads.isEmpty)
        #expect(threads.allSatisfy { $0.hasPrefix("disk") }, "\(threads)")
    }

    @Test func `a replay of a deleted project is a duplicate`() async throws {
        let bench = try await bench()
        _ = try await remove(["a"], in: bench)
        try bench.write("image a again.", to: "replay.jpg")
        try bench.list([ProjectBench.record("b"), ProjectBench.record("replay", age: 5, request: "request a")])
        try await bench.pass()
        #expect(try bench.states()["replay"] == "duplicate")
        #expect(!bench.stored.contains("replay.jpg"))
    }

    @Test func `nothing of a project is deleted while its folder is an empty mount point`() async throws {
        let bench = try await bench()
        let stored = bench.stored
        for name in try bench.tree.files(below: "projects") {
            #expect(unlink(bench.folder.appending(name).string) == 0)
        }
        let outcomes = try await remove(["a"], in: bench)
        #expect(outcomes.first?.failures.first?.contains("is empty, and files are known in it") == true)
        #expect(bench.stored == stored)
    }

    @Test func `what the store does not give up is named, and the project stays here until it does`() async throws {
        let bench = try await bench()
        bench.store.add(StoreFault(.deleteMany, number: 1, .failBefore(.serverFailed)))
        let outcomes = try await remove(["a", "b"], in: bench)
        #expect(outcomes.map(\.failures.count) == [1, 0])
        #expect(try bench.tree.files(below: "projects").contains("a.jpg"))
        #expect(try bench.states() == ["a": "deleting", "ab": "uploaded"])
        try await bench.pass()
        #expect(try bench.states()["a"] == "deleting")
        // Its image is on the disk, and nobody calls it safe.
        #expect(try bench.status("a.jpg")?.state == .pending)
        #expect(try bench.ledger.isAnythingUnsynced())
        #expect(try await remove(["a"], in: bench).map(\.failures) == [[]])
        #expect(bench.stored == ["ab.jpg", "projects.json"])
    }

    @Test func `a store that is away changes nothing`() async throws {
        let bench = try await bench()
        bench.store.add(StoreFault(.check, .failBefore(.unreachable)))
        await #expect(throws: StoreError.self) { try await remove(["a"], in: bench) }
        #expect(try bench.states()["a"] == "uploaded")
        #expect(bench.stored.count == 6)
    }

    @Test func `a damaged list is left alone, and the rest of the project with it`() async throws {
        let bench = try await bench()
        let damaged = "[{\"id\": \"a\""
        try bench.write(damaged, to: "projects.json")
        let outcomes = try await remove(["a"], in: bench)
        #expect(outcomes.first?.failures.count == 1)
        #expect(outcomes.first?.failures.first?.contains("it is damaged") == true)
        #expect(String(decoding: try bench.tree.read("projects/projects.json"), as: UTF8.self) == damaged)
        #expect(try bench.tree.files(below: "projects").contains("a.jpg"))
        #expect(bench.stored.count == 6)
        #expect(try bench.states()["a"] == "uploaded")
        #expect(try bench.ledger.projectsBeingDeleted(in: bench.folder) == [])
    }

    @Test func `a list that is damaged once the objects are gone keeps its projects, and their images are stored anew`()
        async throws
    {
        let bench = try await bench()
        let whole = try bench.tree.read("projects/projects.json")
        let tree = bench.tree
        bench.store.add(
            StoreFault(.deleteMany, number: 1, .afterwards { _ = try? tree.write("[{", to: "projects/projects.json") }))
        let outcomes = try await remove(["a"], in: bench)
        #expect(outcomes.first?.failures.first?.contains("the next pass stores its image anew") == true)
        #expect(!bench.stored.contains("a.jpg"))
        #expect(try bench.ledger.isAnythingUnsynced())
        try bench.write(String(decoding: whole, as: UTF8.self), to: "projects.json")
        try await bench.pass()
        #expect(try bench.states()["a"] == "uploaded")
        #expect(bench.stored.contains("a.jpg"))
        #expect(try bench.ledger.check() == [])
    }

    @Test func `a file that cannot be deleted is named, and nothing of its project is deleted`() async throws {
        let bench = try await bench()
        // What unlink(2) refuses to everybody.
        _ = try bench.tree.makeFolder("projects/a.png")
        let outcomes = try await remove(["a", "b"], in: bench)
        let failures = Dictionary(uniqueKeysWithValues: outcomes.map { ($0.target.id, $0.failures) })
        #expect(failures["b"] == [])
        let held = bench.folder.appending("a.png")
        let words = "cannot be removed: it is a folder; move it away; nothing was deleted now"
        #expect(failures["a"] == ["\(held): \(words)"])
        #expect(bench.stored.count == 5)
        #expect(try bench.states() == ["a": "uploaded", "ab": "uploaded"])
        #expect(try bench.ledger.projectsBeingDeleted(in: bench.folder) == [])
        #expect(try bench.tree.files(below: "projects").contains("a.jpg"))
    }

    @Test func `a file that turns out to hold leaves its project one that is being deleted, until it is gone`()
        async throws
    {
        let bench = try await bench()
        let tree = bench.tree
        bench.store.add(
            StoreFault(.deleteMany, number: 1, .afterwards { _ = try? tree.makeFolder("projects/a.png") }))
        let outcomes = try await remove(["a"], in: bench)
        #expect(outcomes.first?.failures.first?.contains("it is a folder") == true)
        try await bench.pass()
        // Its record is gone, and nobody has forgotten it.
        #expect(try bench.ledger.project("a", in: bench.folder) == nil)
        #expect(try bench.states() == ["a": "deleting", "ab": "uploaded", "b": "uploaded"])
        // What came back meanwhile waits, too.
        try bench.write("image a once more.", to: "a.jpg")
        try await bench.pass()
        #expect(try bench.status("a.jpg")?.why == ProjectVerdict.isBeingDeleted)
        #expect(try bench.ledger.isAnythingUnsynced())
        #expect(!bench.stored.contains("a.jpg"))
        try FileManager.default.removeItem(atPath: bench.folder.appending("a.png").string)
        #expect(try await remove(["a"], in: bench).map(\.failures) == [[]])
        #expect(try bench.states() == ["ab": "uploaded", "b": "uploaded"])
        #expect(try bench.ledger.projectsBeingDeleted(in: bench.folder) == [])
        try bench.write("image a again.", to: "replay.jpg")
        try bench.list([ProjectBench.record("b"), ProjectBench.record("replay", age: 5, request: "request a")])
        try await bench.pass()
        #expect(try bench.states()["replay"] == "duplicate")
        #expect(try bench.ledger.check() == [])
    }

    @Test func `where its folder was emptied, the rest of a project goes once somebody says that this was meant`()
        async throws
    {
        let bench = try await bench()
        let tree = bench.tree
        bench.store.add(
            StoreFault(.deleteMany, number: 1, .afterwards { _ = try? tree.makeFolder("projects/a.png") }))
        #expect(try await remove(["a"], in: bench).map(\.failures.count) == [1])
        for name in try FileManager.default.contentsOfDirectory(atPath: bench.folder.string) {
            try FileManager.default.removeItem(atPath: bench.folder.appending(name).string)
        }
        let reason = try #require(try await remove(["a"], in: bench).first?.failures.first)
        #expect(reason.contains("is empty, and files are known in it. Nothing was deleted now; mount its drive, or"))
        #expect(reason.hasSuffix("put a file (a note) into it. Then give sync-agent projects delete again"))
        #expect(try bench.ledger.projectsBeingDeleted(in: bench.folder) == ["a"])
        try bench.write("it was meant", to: "note.txt")
        #expect(try await remove(["a"], in: bench).map(\.failures) == [[]])
        #expect(try bench.ledger.projectsBeingDeleted(in: bench.folder) == [])
    }

    @Test func `of an empty folder somebody has to say so, too, when all of it is missing`() async throws {
        let bench = try await bench()
        let folder = try #require(try bench.ledger.watchedFolder(at: bench.folder))
        for name in try FileManager.default.contentsOfDirectory(atPath: bench.folder.string) {
            try FileManager.default.removeItem(atPath: bench.folder.appending(name).string)
            _ = try bench.ledger.markGone(folder.id, path: FilePath(name), at: bench.clock.now)
        }
        #expect(try bench.ledger.knownFileCount(folder.id) == 0)
        let reason = try #require(try await remove(["a"], in: bench).first?.failures.first)
        #expect(reason.contains("is empty. Nothing was deleted now; mount its drive, or"))
        #expect(bench.stored.contains("a.jpg"))
        try bench.write("it was meant", to: "note.txt")
        #expect(try await remove(["a"], in: bench).map(\.failures) == [[]])
        #expect(!bench.stored.contains("a.jpg"))
    }

    @Test func `files of a project without a record wait while it is being deleted`() async throws {
        let bench = try await bench()
        try bench.list([ProjectBench.record("b")])
        let tree = bench.tree
        bench.store.add(
            StoreFault(.deleteMany, number: 1, .afterwards { _ = try? tree.makeFolder("projects/ab.png") }))
        #expect(try await remove(["ab"], in: bench).map(\.failures.count) == [1])
        #expect(try bench.states()["ab"] == "deleting")
        #expect(try bench.ledger.projectsBeingDeleted(in: bench.folder) == ["ab"])
    }

    @Test func `objects of a project without a record can be deleted too, and an unknown id is nothing`() async throws {
        let bench = try await bench()
        try bench.list([ProjectBench.record("b")])
        #expect(try await bench.makeRemover().find("nobody", in: [bench.folder]).isEmpty)
        #expect(try await bench.makeRemover().find("", in: [bench.folder]).isEmpty)
        #expect(try await remove(["ab"], in: bench).map(\.failures) == [[]])
        #expect(!bench.stored.contains("ab.jpg"))
        #expect(!(try bench.tree.files(below: "projects")).contains("ab.jpg"))
    }
}

/// The disk as it is, and the names of the threads that look at it.
private final class ThreadNotingScanner: TreeScanner {
    private let base = FileTreeScanner()
    private let noted = Lock<Set<String>>([])

    var threads: Set<String> { noted.withLock { $0 } }

    private func note() {
        let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
        noted.withLock { _ = $0.insert(name ?? "unknown") }
    }

    func scan(root: FilePath, from start: FilePath, visit: (ScannedFolder) throws -> Void) throws {
        note()
        try base.scan(root: root, from: start, visit: visit)
    }

    func stamp(of file: FilePath) throws(ScanError) -> FileStamp? {
        note()
        return try base.stamp(of: file)
    }

    func mountPoints(below root: FilePath) -> [FilePath] {
        note()
        return base.mountPoints(below: root)
    }

    func names(of folder: FilePath) -> [FilePath] { base.names(of: folder) }

    func drive(at path: FilePath) -> DriveIdentity? { base.drive(at: path) }

    /// Other tests of this process start programs, which hold every file for a moment that is open for writing here.
    func isBeingWritten(_ file: FilePath) -> Bool {
        note()
        return false
    }
}
