import FoundationEssentials
import SyncCore
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct ObservationTests {
    static let photo: FilePath = "/pictures/gallery/2026/a.jpg"

    private func observe(_ path: FilePath, in world: World) throws -> Bool {
        let stamp = try #require(world.disk[path])
        return try world.ledger.observe(
            world.folders[0].id, file: path, stamp: stamp, stillThere: world.isThere, at: world.now)
    }

    @Test(arguments: [
        (PhotoState.pending, true), (.uploading, false), (.uploaded, false), (.failed, false), (.skipped, false),
        (.missing, false),
    ])
    func `a file that is as it was is pending only when it was`(before: PhotoState, pending: Bool) throws {
        let world = try World()
        try before.prepare(Self.photo, in: world)
        #expect(try observe(Self.photo, in: world) == pending)
        #expect(try world.state(Self.photo) == (before == .missing ? .uploaded : before))
    }

    @Test(arguments: [
        (PhotoState.pending, true), (.uploading, false), (.uploaded, true), (.failed, true), (.skipped, true),
        (.missing, true),
    ])
    func `a changed file is pending, except while it is being uploaded`(before: PhotoState, pending: Bool) throws {
        let world = try World()
        try before.prepare(Self.photo, in: world)
        world.write(Self.photo)
        #expect(try observe(Self.photo, in: world) == pending)
    }

    @Test(arguments: [
        (PhotoState.pending, true), (.uploading, true), (.uploaded, false), (.failed, false), (.skipped, false),
    ])
    func `a file that changes while it waits has waited since it was met`(before: PhotoState, isOld: Bool) throws {
        let world = try World()
        try before.prepare(Self.photo, in: world)
        let met = world.now
        world.now = world.now.addingTimeInterval(3_600)
        world.write(Self.photo)
        _ = try observe(Self.photo, in: world)
        #expect(try world.status(Self.photo)?.queuedAt == (isOld ? met : world.now))
    }

    @Test func `a new file is pending, one in a renamed folder keeps its upload, a renamed one is read again`() throws {
        let world = try World()
        world.write(Self.photo)
        #expect(try observe(Self.photo, in: world))
        try world.storeAll()
        let id = try world.status(Self.photo)?.id
        let (moved, renamed): (FilePath, FilePath) = ("/pictures/gallery/new/a.jpg", "/pictures/gallery/new/b.jpg")
        world.move(Self.photo, to: moved)
        #expect(try observe(moved, in: world) == false)
        #expect(try world.state(moved) == .uploaded)
        #expect(try world.status(Self.photo) == nil)
        world.rename(moved, to: renamed)
        #expect(try observe(renamed, in: world))
        #expect(try world.status(renamed)?.id == id)
        #expect(try world.status(moved) == nil)
    }

    @Test func `a path may be given below the folder or absolute`() throws {
        let world = try World()
        let stamp = world.write(Self.photo)
        let folder = world.folders[0].id
        for path in ["2026/a.jpg", Self.photo] as [FilePath] {
            #expect(
                try world.ledger.observe(folder, file: path, stamp: stamp, stillThere: world.isThere, at: world.now))
        }
        #expect(try world.ledger.knownFileCount(folder) == 1)
    }

    @Test func `a folder that was never registered is refused`() throws {
        let world = try World()
        let error = #expect(throws: LedgerError.self) {
            try world.ledger.observe(
                FolderID(rawValue: 99), file: "a.jpg", stamp: world.write("/x"), stillThere: { _ in false },
                at: world.now)
        }
        #expect(error?.code == .failed)
    }

    @Test func `files of several folders are noted together, and what is known stays as it is`() throws {
        let world = try World()
        let folder = world.folders[0].id
        try PhotoState.uploaded.prepare(Self.photo, in: world)
        let new = (0..<600).map { FilePath("/pictures/gallery/\($0 % 3)/\($0).jpg") }
        for path in new { world.write(path) }
        let files = try ([Self.photo] + new).map { path in
            SettledFile(folder: folder, path: path, stamp: try #require(world.disk[path]))
        }
        for _ in 1...2 {
            let noted = try world.ledger.observe(
                files, drive: { _ in .known }, stillThere: world.isThere, at: world.now)
            #expect(noted.queued == 600)
        }
        #expect(try world.ledger.knownFileCount(folder) == 601)
        #expect(try world.state(Self.photo) == .uploaded)
        #expect(try world.state("/pictures/gallery/1/1.jpg") == .pending)
    }

    @Test(arguments: [true, false])
    func `whether a photo has moved is asked before anything is written`(isWhole: Bool) throws {
        let world = try World()
        try PhotoState.uploaded.prepare(Self.photo, in: world)
        let moved: FilePath = "/pictures/gallery/new/a.jpg"
        world.move(Self.photo, to: moved)
        var asked: [FilePath] = []
        let stillThere = { (path: FilePath) -> Bool in
            asked.append(path)
            // Whoever writes is held up by no disk. In a transaction, this would be one within another.
            try? world.ledger.countOverflows(1)
            return world.isThere(path)
        }
        let (folder, stamp) = (world.folders[0].id, try #require(world.disk[moved]))
        let files = [SettledFile(folder: folder, path: moved.relative(to: world.folders[0].path), stamp: stamp)]
        if isWhole {
            _ = try world.ledger.observe(files, drive: { _ in .known }, stillThere: stillThere, at: world.now)
        } else {
            try world.ledger.hold(
                files, for: .seconds(10), drive: { _ in .known }, stillThere: stillThere, at: world.now)
        }
        #expect(asked == [Self.photo])
        #expect(try world.status(moved)?.object != nil && world.status(Self.photo) == nil)
    }

    @Test func `whether a photo in a scanned folder has moved is asked before anything is written`() throws {
        let world = try World()
        try PhotoState.uploaded.prepare(Self.photo, in: world)
        let moved: FilePath = "/pictures/gallery/new/a.jpg"
        world.move(Self.photo, to: moved)
        let (name, stamp) = (try #require(moved.lastComponent), try #require(world.disk[moved]))
        let difference = try world.ledger.reconcile(
            world.folders[0].id, directory: "new", files: [ScannedFile(name: name, stamp: stamp)],
            settled: { _ in true },
            stillThere: { path in
                try? world.ledger.countOverflows(1)
                return world.isThere(path)
            }, at: world.now)
        #expect(difference.moved == 1)
    }

    @Test func `a new file that is skipped is noted with the reason, and one that is known is not asked about`() throws
    {
        let world = try World()
        let folder = world.folders[0].id
        try PhotoState.pending.prepare(Self.photo, in: world)
        let paths: [FilePath] = [Self.photo, "/pictures/gallery/notes.txt"]
        world.write(Self.photo)
        world.write(paths[1])
        let files = try paths.map { path in
            SettledFile(folder: folder, path: path, stamp: try #require(world.disk[path]))
        }
        var asked: [FilePath] = []
        let noted = try world.ledger.observe(
            files, drive: { _ in .known }, stillThere: world.isThere,
            whySkipped: { file in
                asked.append(file.path)
                return SkipReason("it is a text", .unreadable)
            }, at: world.now)
        #expect(noted.queued == 1 && noted.skipped == 1)
        #expect(asked == [paths[1]])
        #expect(try world.state(Self.photo) == .pending && world.state(paths[1]) == .skipped)
        #expect(try world.ledger.leftOut(naming: 9).items.map(\.reason) == ["it is a text"])
        let again = try world.ledger.observe(files, drive: { _ in .known }, stillThere: world.isThere, at: world.now)
        #expect(again.queued == 1 && again.skipped == 0)
    }
}
