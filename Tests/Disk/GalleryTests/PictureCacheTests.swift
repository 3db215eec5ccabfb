import Foundation
import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncPhotos
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

/// Pictures for a screen: made once, bounded, and never what was to be shown.
@Suite struct PictureCacheTests {
    private let bench: RetentionBench

    init() throws {
        bench = try RetentionBench()
    }

    private var folder: FilePath { bench.tree.path("pictures") }

    private func cache(
        _ bounds: PictureCache.Bounds = .init(), maker: any SharedCopyMaker = SharedPhotoMaker()
    ) throws -> PictureCache {
        PictureCache(
            in: folder, ledger: LedgerQueue(bench.ledger), store: bench.store, keys: try KeyLayout(user: "ana"),
            maker: maker, pool: BlockingPool(name: "test", threads: 2),
            disk: BlockingPool(name: "disk", threads: 1), policy: ReducePolicy(), time: bench.time.source,
            bounds: bounds)
    }

    /// - Returns: its MD5.
    @discardableResult
    private func put(_ number: Int) async throws -> MD5Digest {
        let bytes = try RetentionBench.jpeg(number)
        try bench.tree.write(bytes, to: "gallery/\(number).jpg")
        try await bench.sync()
        return ContentDigest(of: bytes).md5
    }

    private func content(_ file: FilePath) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: file.string)))
    }

    private var made: Int {
        let files = FileManager.default.enumerator(atPath: folder.string)?.allObjects as? [String] ?? []
        return files.count { $0.hasSuffix(".jpg") }
    }

    @Test func `it is made of the file, once, also for two who ask at the same time`() async throws {
        let (photo, cache) = (try await put(1), try cache())
        async let one = cache.file(of: photo, .thumbnail)
        async let other = cache.file(of: photo, .thumbnail)
        let (first, second) = (try #require(try await one), try await other)
        #expect(first == second && made == 1)
        #expect(try content(first).starts(with: [0xFF, 0xD8, 0xFF]))
        let stamp = FileStamp.ofFile(first)
        #expect(try await cache.file(of: photo, .thumbnail) == first)
        #expect(FileStamp.ofFile(first) == stamp)
        #expect(try await cache.file(of: photo, .picture) != first)
    }

    @Test func `a file that changed is not shown for the photo; what is stored of it is`() async throws {
        let photo = try await put(1)
        try bench.tree.write(try RetentionBench.fixture("coding-progressive.jpg"), to: "gallery/1.jpg")
        bench.store.add(StoreFault(.get, number: 1, .failBefore(.unreachable)))
        #expect(try await cache().file(of: photo, .thumbnail) == nil)
        let shown = try content(try #require(try await cache().file(of: photo, .thumbnail)))
        #expect(shown.starts(with: [0xFF, 0xD8, 0xFF]))
    }

    @Test func `what a store does not give now is no error, and is not asked for again at once`() async throws {
        let (photo, cache) = (try await put(1), try cache())
        try FileManager.default.removeItem(atPath: bench.gallery.appending("1.jpg").string)
        bench.store.add(StoreFault(.get, number: 1, .failBefore(.timedOut)))
        #expect(try await cache.file(of: photo, .thumbnail) == nil)
        #expect(try await cache.file(of: photo, .thumbnail) == nil)
        await bench.time.advance(by: .seconds(61))
        #expect(try await cache.file(of: photo, .thumbnail) != nil)
    }

    @Test func `what was restored is not read once its time is over, though nobody has noted that yet`() async throws {
        let (photo, cache) = (try await put(1), try cache())
        try FileManager.default.removeItem(atPath: bench.gallery.appending("1.jpg").string)
        let key = try KeyLayout(user: "ana").photo(PhotoID(photo))
        var info = try #require(try await bench.store.head(key))
        info.storageClass = .glacier
        info.restore = .restored(until: bench.time.now.addingTimeInterval(60))
        let report = try bench.ledger.mergeReport([info], tellsRestores: true, at: bench.time.now)
        try #require(report.changed == 1)
        #expect(try await cache.file(of: photo, .thumbnail) != nil)
        await bench.time.advance(by: .seconds(61))
        #expect(try await cache.file(of: photo, .picture) == nil)
    }

    /// Fails once, and makes pictures then.
    private final class FailingMaker: SharedCopyMaker {
        private let failure: Lock<PhotoError?>
        private let maker = SharedPhotoMaker()

        init(_ code: PhotoError.Code) {
            failure = Lock(PhotoError(code, "not now"))
        }

        func sharedCopy(of photo: PhotoSource, size: SharedSize) throws(PhotoError) -> StoredCopy {
            try maker.sharedCopy(of: photo, size: size)
        }

        func sharedFilm(_ film: PhotoSource, as type: FilmType) throws(PhotoError) -> StoredCopy {
            try maker.sharedFilm(film, as: type)
        }

        func requireSharable(film: FilePath, as type: FilmType) throws(PhotoError) {
            try maker.requireSharable(film: film, as: type)
        }

        func poster(of film: FilePath, lasting duration: Duration?) throws(PhotoError) -> StoredCopy? {
            try maker.poster(of: film, lasting: duration)
        }

        func thumbnail(of photo: PhotoSource, side: Int) throws(PhotoError) -> StoredCopy {
            let error = failure.withLock { failure in
                defer { failure = nil }
                return failure
            }
            if let error { throw error }
            return try maker.thumbnail(of: photo, side: side)
        }
    }

    @Test(arguments: [(PhotoError.Code.outOfResources, true), (.unreadable, true), (.corrupt, false)])
    func `what is no fault of the stored bytes is tried again`(code: PhotoError.Code, isTriedAgain: Bool) async throws {
        let (photo, cache) = (try await put(1), try cache(maker: FailingMaker(code)))
        try FileManager.default.removeItem(atPath: bench.gallery.appending("1.jpg").string)
        #expect(try await cache.file(of: photo, .thumbnail) == nil)
        await bench.time.advance(by: .seconds(61))
        #expect(try await (cache.file(of: photo, .thumbnail) != nil) == isTriedAgain)
    }

    @Test func `beyond its bounds those go that were shown longest ago`() async throws {
        var photos: [MD5Digest] = []
        for number in 1...4 { photos.append(try await put(number)) }
        let wide = try cache()
        var bytes: Int64 = 0
        for (number, photo) in photos.enumerated() {
            let file = try #require(try await wide.file(of: photo, .picture))
            bytes += try #require(FileStamp.ofFile(file)).size
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: Double(number - 10) * 86_400)], ofItemAtPath: file.string
            )
        }
        // The oldest one is looked at once more.
        #expect(try await wide.file(of: photos[0], .picture) != nil)
        let tight = try cache(.init(pictures: bytes - 1))
        try await tight.prune(.picture)
        let left = photos.filter { photo in
            let name = photo.description
            return FileStamp.ofFile(folder.pushing(FilePath("picture/\(name.prefix(2))/\(name).jpg"))) != nil
        }
        #expect(left == [photos[0], photos[2], photos[3]])
    }

    @Test func `a folder that cannot be written to is an error that names it, and leaves nothing half`() async throws {
        let (photo, cache) = (try await put(1), try cache())
        try bench.tree.write("no folder", to: "pictures")
        await #expect(throws: (any Error).self) { try await cache.file(of: photo, .thumbnail) }
        #expect(try content(folder) == Array("no folder".utf8))
    }
}
