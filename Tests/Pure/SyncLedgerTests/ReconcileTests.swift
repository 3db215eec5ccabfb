import FoundationEssentials
import SyncCore
import SyncLedger
import SystemPackage
import Testing

@Suite struct ReconcileTests {
    static let photo: FilePath = "/pictures/gallery/2026/a.jpg"

    @Test func `a new file is pending, and a second look writes nothing`() throws {
        let world = try World()
        world.write(Self.photo)
        let first = try world.scan()
        #expect(first.map(\.new.count) == [1])
        #expect(try world.state(Self.photo) == .pending)
        let second = try world.scan()
        #expect(second.map(\.unchanged) == [1])
        #expect(second.map(\.isEmpty) == [true])
        #expect(second.map(\.directoryID) == first.map(\.directoryID))
    }

    @Test(arguments: [
        (PhotoState.pending, PhotoState.pending), (.uploading, .uploading), (.uploaded, .uploaded),
        (.failed, .failed), (.skipped, .skipped), (.missing, .uploaded),
    ])
    func `a file that is as it was keeps its state, and one that is back regains it`(
        before: PhotoState, after: PhotoState
    ) throws {
        let world = try World()
        try before.prepare(Self.photo, in: world)
        try world.scan()
        #expect(try world.state(Self.photo) == after)
        #expect(try world.ledger.check() == [])
    }

    @Test(arguments: [
        (PhotoState.pending, PhotoState.pending), (.uploading, .uploading), (.uploaded, .pending),
        (.failed, .pending), (.skipped, .pending), (.missing, .pending),
    ])
    func `a changed file is pending again, except while it is being uploaded`(
        before: PhotoState, after: PhotoState
    ) throws {
        let world = try World()
        try before.prepare(Self.photo, in: world)
        world.write(Self.photo, size: 5)
        // What is on its way is not called safe.
        try world.scan(settled: { _ in false })
        #expect(try world.state(Self.photo) == after)
        try world.scan()
        let status = try #require(try world.status(Self.photo))
        #expect(status.state == after)
        #expect(status.attempts == 0)
        #expect(status.error == nil)
        #expect(status.md5 == nil)
        #expect(status.key == nil)
        #expect((status.earlier != nil) == (before == .uploaded || before == .missing))
        #expect(try world.ledger.check() == [])
    }

    @Test(arguments: [
        (PhotoState.pending, PhotoState?.none), (.uploading, .uploading), (.uploaded, .missing),
        (.failed, nil), (.skipped, nil), (.missing, .missing),
    ])
    func `a vanished file is missing when it is stored, and forgotten when it is not`(
        before: PhotoState, after: PhotoState?
    ) throws {
        let world = try World()
        try before.prepare(Self.photo, in: world)
        world.write("/pictures/gallery/2026/other.jpg")
        world.remove(Self.photo)
        try world.scan()
        #expect(try world.state(Self.photo) == after)
        #expect(try world.ledger.check() == [])
    }

    @Test(
        arguments: [
            (PhotoState.pending, PhotoState.pending), (.uploading, .uploading), (.uploaded, .uploaded),
            (.failed, .failed), (.skipped, .skipped), (.missing, .uploaded),
        ], ["/pictures/gallery/2026/b.jpg", "/pictures/gallery/b.jpg", "/pictures/trips/rome/b.jpg"] as [FilePath])
    func `a file whose folder is renamed keeps its row and its upload, and is not read`(
        states: (before: PhotoState, after: PhotoState), name: FilePath
    ) throws {
        let world = try World()
        try states.before.prepare(Self.photo, in: world)
        let id = try world.status(Self.photo)?.id
        world.move(Self.photo, to: name)
        let differences = try world.scan()
        #expect(try world.state(Self.photo) == nil)
        #expect(try world.ledger.check() == [])
        if differences.map(\.moved).contains(1) {
            #expect(try world.state(name) == states.after)
            #expect(try world.status(name)?.id == id)
        } else {
            // The scan of the old folder ended before the new one was met: what is not stored was forgotten.
            #expect(name.starts(with: World.trips.path))
            #expect(try world.state(name) == .pending)
        }
    }

    @Test(arguments: [
        (PhotoState.pending, PhotoState.pending), (.uploading, .uploading), (.uploaded, .pending),
        (.failed, .pending), (.skipped, .pending), (.missing, .pending),
    ])
    func `a renamed file keeps its row and what is stored of it, and is read to prove that it is the same`(
        before: PhotoState, after: PhotoState
    ) throws {
        let world = try World()
        try before.prepare(Self.photo, in: world)
        let known = try #require(try world.status(Self.photo))
        let name: FilePath = "/pictures/gallery/2026/b.jpg"
        world.rename(Self.photo, to: name)
        #expect(try world.scan().map(\.moved) == [1])
        let status = try #require(try world.status(name))
        #expect(status.state == after)
        #expect(status.id == known.id)
        #expect((status.earlier ?? status.object)?.key == known.key)
        #expect(status.attempts == 0)
        #expect(try world.state(Self.photo) == nil)
        #expect(try world.ledger.check() == [])
        if after == .pending {
            #expect(try world.storeAll().map(\.photoID) == [known.id])
            #expect(try world.scan().map(\.unchanged) == [1])
        }
    }

    /// What has another birth, or none that anybody knows, may be a new file in the inode of the old one.
    @Test(arguments: [(Int64(77), Int64(76)), (nil, nil), (nil, 76), (77, nil)] as [(Int64?, Int64?)])
    func `a file that only looks like a renamed one is a new one`(before: Int64?, after: Int64?) throws {
        let world = try World()
        world.put(FileStamp(device: 1, inode: 7, size: 9, modified: 3, changed: 1, born: before), at: Self.photo)
        try world.scan()
        try world.storeAll()
        let id = try world.status(Self.photo)?.id
        world.remove(Self.photo)
        let name: FilePath = "/pictures/gallery/2026/b.jpg"
        world.put(FileStamp(device: 1, inode: 7, size: 9, modified: 3, changed: 2, born: after), at: name)
        #expect(try world.scan().map(\.moved) == [0])
        #expect(try world.state(name) == .pending)
        #expect(try world.status(name)?.id != id)
        #expect(try world.state(Self.photo) == .missing)
    }

    /// `cp -p` over a file, `exiftool -P -overwrite_original_in_place`, a new file in the inode of a removed one.
    @Test(arguments: [(PhotoState.pending, PhotoState.pending), (.uploaded, .pending), (.missing, .pending)])
    func `a file of the same inode, size and time is read again when it was touched`(
        before: PhotoState, after: PhotoState
    ) throws {
        let world = try World()
        try before.prepare(Self.photo, in: world)
        var stamp = try #require(world.disk[Self.photo])
        stamp.changed = world.tick()
        world.put(stamp, at: Self.photo)
        #expect(try world.scan().map(\.changed) == [1])
        #expect(try world.state(Self.photo) == after)
        #expect(try world.ledger.claim(limit: 1, at: world.now).map(\.stamp) == [stamp])
    }

    @Test(arguments: [
        (PhotoState.pending, PhotoState.pending), (.uploading, .uploading), (.uploaded, .uploaded),
        (.failed, .failed), (.skipped, .skipped), (.missing, .uploaded),
    ])
    func `a row of an older ledger takes the times of its file, which is not read for it`(
        before: PhotoState, after: PhotoState
    ) throws {
        let world = try World()
        let old = FileStamp(device: 1, inode: 7, size: 1_000, modified: 3)
        try before.prepare(Self.photo, in: world, stamp: old)
        world.put(FileStamp(device: 1, inode: 7, size: 1_000, modified: 3, changed: 5, born: 4), at: Self.photo)
        #expect(try world.scan().map(\.changed) == [0])
        #expect(try world.state(Self.photo) == after)
        #expect(try world.scan().map(\.isEmpty) == [true])
        // From now on, they count.
        world.put(FileStamp(device: 1, inode: 7, size: 1_000, modified: 3, changed: 6, born: 4), at: Self.photo)
        #expect(try world.scan().map(\.changed) == [1])
    }

    @Test(
        arguments: [
            ("/pictures/projects/a.jpg", "/pictures/projects/b.jpg"),
            ("/pictures/projects/a.jpg", "/pictures/trips/a.jpg"),
            ("/pictures/gallery/a.jpg", "/pictures/projects/a.jpg"),
        ] as [(FilePath, FilePath)])
    func `a rename that changes the key has the photo stored again`(from: FilePath, to: FilePath) throws {
        let world = try World()
        try PhotoState.uploaded.prepare(from, in: world)
        world.rename(from, to: to)
        try world.scan()
        #expect(try world.state(to) == .pending)
        try world.storeAll()
        #expect(try world.state(to) == .uploaded)
        #expect(try world.ledger.check() == [])
    }

    @Test func `a hard link is a photo of its own, and so is a copy`() throws {
        let world = try World()
        try PhotoState.uploaded.prepare(Self.photo, in: world)
        world.put(world.disk[Self.photo], at: "/pictures/gallery/2026/link.jpg")
        #expect(try world.scan().map(\.new.count) == [1])
        #expect(try world.state("/pictures/gallery/2026/link.jpg") == .pending)
        #expect(try world.state(Self.photo) == .uploaded)
    }

    @Test func `two files that swap their names are both looked at again`() throws {
        let world = try World()
        let other: FilePath = "/pictures/gallery/2026/b.jpg"
        try PhotoState.uploaded.prepare(Self.photo, in: world)
        try PhotoState.uploaded.prepare(other, in: world)
        let (first, second) = (world.disk[Self.photo], world.disk[other])
        world.put(second, at: Self.photo)
        world.put(first, at: other)
        #expect(try world.scan().map(\.changed) == [2])
        #expect(try world.state(Self.photo) == .pending)
    }

    @Test func `a file that failed, vanished and is back is not taken for stored`() throws {
        let world = try World()
        try PhotoState.uploaded.prepare(Self.photo, in: world)
        let changed = world.write(Self.photo, size: 7)
        try world.scan()
        for claim in try world.ledger.claim(limit: 1, at: world.now) {
            try world.ledger.commit(claim, outcome: .failed("cut off", nil), at: world.now)
        }
        world.remove(Self.photo)
        try world.scan()
        #expect(try world.state(Self.photo) == .missing)
        world.put(changed, at: Self.photo)
        try world.scan()
        #expect(try world.state(Self.photo) == .pending)
    }

    @Test func `names that are no text are kept byte for byte`() throws {
        let world = try World()
        let folder = world.folders[0]
        let name = try #require(
            FilePath(platformString: [CChar(bitPattern: 0xFF), 0x61, CChar(bitPattern: 0xC3), 0]).lastComponent)
        let stamp = FileStamp(device: .max, inode: .max, size: 1, modified: -5)
        for directory in ["", "100%", "-minus"] as [FilePath] {
            _ = try world.ledger.reconcile(
                folder.id, directory: directory, files: [ScannedFile(name: name, stamp: stamp)], settled: { _ in true },
                stillThere: { _ in true }, at: world.now)
        }
        var found: [FilePath] = []
        try world.ledger.photos(at: folder.path) { found.append($0.path) }
        #expect(found == ["", "-minus", "100%"].map { folder.path.pushing($0).appending(name) })
        #expect(try world.ledger.claim(limit: 3, at: world.now).map(\.stamp) == [stamp, stamp, stamp])
    }
}
