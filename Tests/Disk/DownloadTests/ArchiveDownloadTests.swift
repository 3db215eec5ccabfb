import Foundation
import SyncCore
import SyncDigest
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

@Suite struct ArchiveDownloadTests {
    private let bench: DownloadBench
    private let keys: KeyLayout

    init() async throws {
        bench = try await DownloadBench()
        keys = try KeyLayout(user: "ana")
    }

    /// What a ZIP file would get.
    private final class FakeArchive: ZipWriter {
        struct Content {
            var files: [String: [UInt8]] = [:]
            var times: [String: Date] = [:]
            var isFinished = false
        }

        let content = Lock(Content())
        private let fullAfter: Int

        init(fullAfter: Int = .max) {
            self.fullAfter = fullAfter
        }

        func begin(_ entry: ZipEntry) throws(ZipError) {}
        func append(_ bytes: UnsafeRawBufferPointer) throws(ZipError) {}
        func end() throws(ZipError) {}
        func cancel() {}

        func add(_ entry: ZipEntry, from file: FilePath) throws(ZipError) {
            guard let data = FileManager.default.contents(atPath: file.string), data.count == entry.size else {
                throw ZipError(.badSource, entry.name, "not there")
            }
            let isFull = content.withLock { content in
                content.files[entry.name] = Array(data)
                content.times[entry.name] = entry.modified
                return content.files.count > fullAfter
            }
            if isFull { throw ZipError(.noSpace, entry.name, "full") }
        }

        func finish() throws(ZipError) { content.withLock { $0.isFinished = true } }
    }

    private func memories(_ count: Int, size: Int = 1_000) async throws -> [ArchivedGalleryPhoto] {
        for index in 0..<count {
            let bytes = [UInt8](repeating: UInt8(index), count: size)
            let key = try #require(
                CalendarDay("2025-03-01").map { month in
                    try keys.archivedPhoto(profile: "p", month: month, event: "e\(index)")
                })
            _ = try await bench.store.put(
                ObjectBody(bytes: bytes, digest: ContentDigest(of: bytes)), at: key,
                attributes: ObjectAttributes(
                    contentType: "image/jpeg",
                    metadata: [
                        MetadataName.sha256: "\(SHA256Digest(of: bytes))",
                        MetadataName.originalCreatedAt: "2025-03-\(10 + index)T08:00:00Z",
                    ]), condition: .ifAbsent)
        }
        return try await ArchiveListing(store: bench.store.memory, keys: keys, index: nil)
            .page(ArchiveFilter(), limit: nil).photos
    }

    private func download() -> ArchiveDownload {
        ArchiveDownload(from: bench.store, pool: bench.pool, time: bench.time)
    }

    @Test func `what takes the name of the folder meanwhile gets no photo`() async throws {
        let memories = try await memories(5)
        let folder = try bench.tree.makeFolder("out")
        let outcomes = await download().save(memories, to: folder) { count in
            guard count == 1 else { return }
            rename(folder.string, bench.tree.path("drive").string)
            _ = try? bench.tree.makeFolder("out")
        }
        #expect(try outcomes.allSatisfy { try $0.get() == .saved(isVerified: true) })
        #expect(try bench.tree.files(below: "out") == [])
        #expect(try bench.tree.files(below: "drive").count == 5)
    }

    @Test func `a folder that is not there is named as people know it`() async throws {
        let memories = try await memories(2)
        let folder = bench.tree.path("none")
        let outcomes = await download().save(memories, to: folder) { _ in }
        #expect(outcomes.count == 2)
        for outcome in outcomes {
            let error = #expect(throws: DownloadError.self) { try outcome.get() }
            #expect(error?.code == .folderMissing && error?.path == folder)
        }
    }

    @Test func `a folder gets files with the time of their events, and nothing twice`() async throws {
        let memories = try await memories(3)
        for expected in [DownloadOutcome.saved(isVerified: true), .alreadyThere] {
            var counts: [Int] = []
            let outcomes = await download().save(memories, to: bench.tree.root) { counts.append($0) }
            #expect(try outcomes.map { try $0.get() } == [expected, expected, expected])
            #expect(counts == [1, 2, 3])
        }
        #expect(try bench.tree.files() == ["2025-03-10_p_e0.jpg", "2025-03-11_p_e1.jpg", "2025-03-12_p_e2.jpg"])
        let stamp = try bench.tree.stamp("2025-03-11_p_e1.jpg")
        #expect(
            try Date("2025-03-11T08:00:00Z", strategy: .iso8601).timeIntervalSince1970 == Double(stamp.modified) / 1e9)
    }

    @Test func `another file of a name is kept`() async throws {
        let memories = try await memories(1)
        try bench.tree.write("mine", to: "2025-03-10_p_e0.jpg")
        let outcomes = await download().save(memories, to: bench.tree.root) { _ in }
        #expect(try outcomes.map { try $0.get() } == [.kept])
        #expect(try bench.tree.read("2025-03-10_p_e0.jpg") == Array("mine".utf8))
    }

    @Test func `an archive gets every photo under its name, and the scratch folder is gone`() async throws {
        let memories = try await memories(3)
        let archive = FakeArchive()
        // A killed process has left something.
        try bench.tree.write("left", to: ".out.zip.sync-agent-scratch/old")
        let outcomes = try await download().save(memories, into: archive, at: bench.tree.path("out.zip")) { _ in }
        #expect(try outcomes.map { try $0.get() } == Array(repeating: .saved(isVerified: true), count: 3))
        let content = archive.content.withLock { $0 }
        #expect(content.isFinished)
        #expect(content.files["2025-03-12_p_e2.jpg"] == [UInt8](repeating: 2, count: 1_000))
        #expect(try content.times["2025-03-12_p_e2.jpg"] == Date("2025-03-12T08:00:00Z", strategy: .iso8601))
        #expect(try bench.tree.files().isEmpty)
        #expect(!FileManager.default.fileExists(atPath: bench.tree.path(".out.zip.sync-agent-scratch").string))
    }

    @Test func `a photo that cannot be read is left out, and the archive is finished without it`() async throws {
        let memories = try await memories(3)
        try await bench.store.memory.delete(memories[1].key)
        bench.store.memory.damage(memories[2].key)
        let archive = FakeArchive()
        let outcomes = try await download().save(memories, into: archive, at: bench.tree.path("out.zip")) { _ in }
        #expect(outcomes.map { (try? $0.get()) != nil } == [true, false, false])
        let content = archive.content.withLock { $0 }
        #expect(content.isFinished)
        #expect(Array(content.files.keys) == ["2025-03-12_p_e2.jpg"])
        #expect(try bench.tree.files().isEmpty)
    }

    @Test func `a disk that is full ends it, and nothing is left`() async throws {
        let memories = try await memories(3)
        let archive = FakeArchive(fullAfter: 1)
        await #expect { () async throws in
            _ = try await download().save(memories, into: archive, at: bench.tree.path("out.zip")) { _ in }
        } throws: {
            ($0 as? ZipError)?.code == .noSpace
        }
        #expect(!archive.content.withLock { $0.isFinished })
        #expect(!FileManager.default.fileExists(atPath: bench.tree.path(".out.zip.sync-agent-scratch").string))
    }

    @Test func `an error about the scratch folder names the archive that was asked for`() async throws {
        let memories = try await memories(1)
        try bench.tree.write("a file", to: "folder")
        let path = bench.tree.path("folder/out.zip")
        let error = await #expect(throws: DownloadError.self) {
            _ = try await download().save(memories, into: FakeArchive(), at: path) { _ in }
        }
        #expect(error?.path == path)
        #expect(error?.message == "its folder is not there; make it, or mount its disk")
    }

    @Test func `a connection that is cut costs no archive`() async throws {
        let bench = try await DownloadBench(cuts: [300, nil, 10])
        let key = try ObjectKey("gallery-archive/ana/p/2025/03/e.jpg")
        try await bench.store.memory.store(.noise(1_000), at: key)
        let info = try #require(try await bench.store.memory.head(key))
        let memory = ArchivedGalleryPhoto(info, at: try #require(ArchivedPhotoPlace(key, of: keys)))
        let archive = FakeArchive()
        let outcomes = try await ArchiveDownload(from: bench.store, pool: bench.pool, time: bench.time)
            .save([memory], into: archive, at: bench.tree.path("out.zip")) { _ in }
        #expect(outcomes.allSatisfy { (try? $0.get()) != nil })
        #expect(archive.content.withLock { $0.files.values.first } == .noise(1_000))
        #expect(bench.store.ranges.count > 1)
    }
}
