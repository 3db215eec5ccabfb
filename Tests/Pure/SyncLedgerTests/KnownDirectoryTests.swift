import FoundationEssentials
import SyncCore
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

/// Directories that need not be compared, since a digest tells that they are as they are known.
@Suite struct KnownDirectoryTests {
    private static let photo: FilePath = "/pictures/gallery/trip/a.jpg"
    private static let other: FilePath = "/pictures/gallery/trip/b.jpg"
    private let world: World
    private let digest: SHA256Digest

    init() throws {
        world = try World()
        digest = try #require(SHA256Digest(bytes: [UInt8](repeating: 7, count: 32)))
        try PhotoState.uploaded.prepare(Self.photo, in: world)
        try reconcile([Self.photo])
    }

    /// As a scan does.
    @discardableResult
    private func reconcile(_ files: [FilePath], settled: Bool = true) throws -> ComparedDirectory? {
        let files = try files.map { path in
            ScannedFile(name: try #require(path.lastComponent), stamp: try #require(world.disk[path]))
        }
        let difference = try world.ledger.reconcile(
            world.folders[0].id, directory: "trip", files: files, settled: { _ in settled },
            stillThere: world.isThere, at: world.now)
        guard difference.isEmpty, difference.unsettled.isEmpty, let id = difference.directoryID else { return nil }
        let compared = ComparedDirectory(id: id, digest: digest, files: files)
        try world.ledger.noteDigests(of: [compared])
        return compared
    }

    private func known(below start: FilePath = "") throws -> [FilePath: Int] {
        try world.ledger.knownDirectories(of: world.folders[0].id, below: start).mapValues { known in
            #expect(known.digest == digest)
            return known.files
        }
    }

    @Test func `it is noted where there is nothing to do`() throws {
        #expect(try known() == ["trip": 1])
        #expect(try known(below: "trip") == ["trip": 1])
        #expect(try known(below: "other").isEmpty)
    }

    @Test func `it is not noted where something is new or not whole yet`() throws {
        world.write(Self.other)
        try reconcile([Self.photo, Self.other], settled: false)
        #expect(try known().isEmpty)
        try reconcile([Self.photo, Self.other])
        #expect(try known().isEmpty)
        try reconcile([Self.photo, Self.other])
        #expect(try known() == ["trip": 2])
    }

    @Test func `it is not noted where the ledger has learned more since the comparison`() throws {
        let compared = try #require(try reconcile([Self.photo]))
        let stamp = world.write(Self.photo)
        _ = try world.ledger.observe(
            world.folders[0].id, file: "trip/a.jpg", stamp: stamp, stillThere: world.isThere, at: world.now)
        try world.ledger.noteDigests(of: [compared])
        #expect(try known().isEmpty)
    }

    @Test func `it goes when a photo comes, goes, changes or moves`() throws {
        let folder = world.folders[0].id
        let changes: [() throws -> Void] = [
            {
                let stamp = world.write(Self.other)
                _ = try world.ledger.observe(
                    folder, file: "trip/b.jpg", stamp: stamp, stillThere: world.isThere, at: world.now)
            },
            { _ = try world.ledger.markGone(folder, path: "trip/a.jpg", at: world.now) },
            {
                let stamp = world.write(Self.photo)
                _ = try world.ledger.observe(
                    folder, file: "trip/a.jpg", stamp: stamp, stillThere: world.isThere, at: world.now)
            },
        ]
        for change in changes {
            let files = [Self.photo, Self.other].filter(world.isThere)
            try reconcile(files)
            try reconcile(files)
            #expect(try known() == ["trip": files.count])
            try change()
            #expect(try known().isEmpty)
        }
    }

    @Test func `it stays while a photo is stored, and goes with the filter`() throws {
        try world.ledger.requeueMatched(limit: 1, at: world.now)
        _ = try world.ledger.claim(limit: 9, at: world.now)
        #expect(try known() == ["trip": 1])
        try world.register([
            WatchedFolder(kind: .gallery, path: World.gallery.path, filter: try PathFilter(["- raw/"])), World.trips,
        ])
        #expect(try known().isEmpty)
    }
}
