import Foundation
import SyncCore
import SyncEngine
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct ProjectExportTests {
    @Test func `images come from the folder, and from the store where they are gone`() async throws {
        let bench = try ProjectBench()
        for id in ["a", "b"] { try bench.write("image \(id).", to: "\(id).jpg") }
        // One moment for all: the day may end while the test runs.
        let moment = Date().addingTimeInterval(-3_600)
        try bench.list(["a", "b", "none"].map { ProjectBench.record($0, createdAt: moment) })
        try await bench.pass()
        unlink(bench.folder.appending("b.jpg").string)
        try await bench.pass()
        #expect(try bench.states() == ["a": "uploaded", "b": "missing", "none": "pending"])

        let (items, without) = ProjectExport.items(of: try bench.entries())
        #expect(without == ["none"])
        let out = try bench.tree.makeFolder("out")
        let export = ProjectExport(
            store: bench.store, pool: BlockingPool(name: "test", threads: 1), time: bench.clock.source)
        for expected in [DownloadOutcome.saved(isVerified: true), .alreadyThere] {
            let outcomes = await export.save(items, to: out)
            #expect(try outcomes.map { try $0.get() } == [expected, expected])
        }
        let day = CalendarDay(moment)
        #expect(try bench.tree.files(below: "out") == ["\(day)_T_a_a.jpg", "\(day)_T_b_b.jpg"])
        #expect(try bench.tree.read("out/\(day)_T_b_b.jpg") == Array("image b.".utf8))
        try bench.tree.write("mine", to: "out/\(day)_T_a_a.jpg")
        #expect(try await export.save(items, to: out).map { try $0.get() }.contains(.kept))
        #expect(try bench.tree.read("out/\(day)_T_a_a.jpg") == Array("mine".utf8))
    }

    @Test func `images come from the store while the drive of their folder is away`() async throws {
        let bench = try ProjectBench()
        try bench.write("image a.", to: "a.jpg")
        try bench.list([ProjectBench.record("a")])
        try await bench.pass()
        let (items, _) = ProjectExport.items(of: try bench.entries())
        try FileManager.default.removeItem(atPath: bench.folder.string)
        let out = try bench.tree.makeFolder("out")
        let export = ProjectExport(
            store: bench.store, pool: BlockingPool(name: "test", threads: 1), time: bench.clock.source)
        let outcomes = await export.save(items, to: out)
        #expect(try outcomes.map { try $0.get() } == [.saved(isVerified: true)])
        let names = try bench.tree.files(below: "out")
        #expect(try names.map { try bench.tree.read("out/\($0)") } == [Array("image a.".utf8)])
    }

    /// What a ZIP file would get.
    private final class FakeZip: ZipWriter {
        let isFinished = Lock(false)

        func begin(_ entry: ZipEntry) throws(ZipError) {}
        func append(_ bytes: UnsafeRawBufferPointer) throws(ZipError) {}
        func end() throws(ZipError) {}
        func cancel() {}
        func add(_ entry: ZipEntry, from file: FilePath) throws(ZipError) {}
        func finish() throws(ZipError) { isFinished.withLock { $0 = true } }
    }

    @Test(arguments: [true, false])
    func `an archive in which there would be nothing is not finished`(isStored: Bool) async throws {
        let bench = try ProjectBench()
        try bench.write("image a.", to: "a.jpg")
        try bench.list([ProjectBench.record("a")])
        try await bench.pass()
        let (items, _) = ProjectExport.items(of: try bench.entries())
        try FileManager.default.removeItem(atPath: bench.folder.string)
        if !isStored { bench.store.add(StoreFault(.get, numbers: 1...Int.max, .failBefore(.accessDenied))) }
        let zip = FakeZip()
        let export = ProjectExport(
            store: bench.store, pool: BlockingPool(name: "test", threads: 1), time: bench.clock.source)
        let outcomes = try await export.save(items, into: zip, at: bench.tree.path("out.zip"))
        #expect(outcomes.count == 1)
        #expect(zip.isFinished.withLock { $0 } == isStored)
    }
}
