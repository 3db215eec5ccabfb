import FoundationEssentials
import SyncCore
import SyncDigest
import SyncEngine
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct ArchiveSheetTests {
    /// Takes what begins with `photo` for a JPEG.
    private struct Maker: SharedCopyMaker {
        func sharedCopy(of photo: PhotoSource, size: SharedSize) throws(PhotoError) -> StoredCopy {
            throw PhotoError(.notAPhoto, "not asked for")
        }

        func sharedFilm(_ film: PhotoSource, as type: FilmType) throws(PhotoError) -> StoredCopy {
            throw PhotoError(.notAPhoto, "not asked for")
        }

        func requireSharable(film: FilePath, as type: FilmType) throws(PhotoError) {}

        func poster(of film: FilePath, lasting duration: Duration?) throws(PhotoError) -> StoredCopy? { nil }

        func thumbnail(of photo: PhotoSource, side: Int) throws(PhotoError) -> StoredCopy {
            guard case .bytes(let bytes) = photo, !bytes.isEmpty else { throw PhotoError(.corrupt, "nothing is there") }
            return StoredCopy(content: .reduced(bytes), type: .jpeg, digest: ContentDigest(of: bytes))
        }
    }

    @Test func `a photo of which no picture can be made has an empty frame, and is no failure`() async throws {
        let bench = try ArchiveBench()
        try await bench.put("jxl", "2025-03-10T08:00:00Z", contentType: "image/jxl")
        try await bench.put("psd", "2025-03-11T08:00:00Z", contentType: "image/vnd.adobe.photoshop")
        try await bench.put("heic", "2025-03-13T08:00:00Z", contentType: "image/heic")
        try await bench.put("jpg", "2025-03-12T08:00:00Z")
        let memories = try await bench.list.page(ArchiveFilter(), limit: nil).photos
        let sheet = ArchiveSheet(
            store: bench.store, maker: Maker(), pool: BlockingPool(name: "test", threads: 1),
            time: ManualTime().source)
        let result = try await sheet.make(title: "Memories", of: memories, profiles: [:], progress: { _ in })
        #expect(result.failures.isEmpty)
        #expect(result.undrawn == 2)
        #expect(bench.store.count(.get) == 2)
    }

    @Test func `a photo that the store denies has no picture, and the others have`() async throws {
        let bench = try ArchiveBench()
        let denied = try await bench.put("denied", "2025-03-10T08:00:00Z")
        try await bench.put("jpg", "2025-03-12T08:00:00Z")
        bench.store.add(StoreFault(.get, key: denied.rawValue, .failBefore(.accessDenied)))
        let memories = try await bench.list.page(ArchiveFilter(), limit: nil).photos
        let sheet = ArchiveSheet(
            store: bench.store, maker: Maker(), pool: BlockingPool(name: "test", threads: 1),
            time: ManualTime().source)
        let result = try await sheet.make(title: "Memories", of: memories, profiles: [:], progress: { _ in })
        #expect(result.failures.map { $0.key } == [denied])
    }
}
