import FoundationEssentials
import GRDB
import SyncCore
import SystemPackage
import Testing

@testable import SyncLedger

extension SeenDrive {
    /// Another one than the one that is known of the place, and that cannot be recognised later.
    fileprivate static let other = SeenDrive.found(DriveIdentity(.passing), at: FilePath(), isExpected: false)
}

/// What is seen on another drive than the one that photos were found on.
@Suite struct OtherDriveTests {
    private static let photo: FilePath = "/pictures/gallery/2026/a.jpg"
    private static let other: FilePath = "/pictures/gallery/2026/b.jpg"
    private static let new: FilePath = "/pictures/gallery/2026/c.jpg"

    private let world: World

    init() throws { world = try World() }

    /// What there is of these paths, all in one directory.
    private func reconcile(_ paths: FilePath..., drive: () -> SeenDrive) throws -> DirectoryDifference {
        let files = paths.compactMap { path in
            world.disk[path].flatMap { stamp in path.lastComponent.map { ScannedFile(name: $0, stamp: stamp) } }
        }
        return try world.ledger.reconcile(
            world.folders[0].id, directory: "2026", files: files, drive: drive, settled: { _ in true },
            stillThere: world.isThere, at: world.now)
    }

    private func observe(_ path: FilePath, isWhole: Bool = true, on drive: SeenDrive) throws -> ObservedFiles {
        let files = [SettledFile(folder: world.folders[0].id, path: path, stamp: try #require(world.disk[path]))]
        if isWhole {
            return try world.ledger.observe(files, drive: { _ in drive }, stillThere: world.isThere, at: world.now)
        }
        try world.ledger.hold(
            files, for: .seconds(10), drive: { _ in drive }, stillThere: world.isThere, at: world.now)
        return ObservedFiles()
    }

    @Test func `what is not there is not gone, another size waits, and what is new is taken in`() throws {
        try PhotoState.uploaded.prepare(Self.photo, in: world)
        try PhotoState.uploaded.prepare(Self.other, in: world)
        world.write(Self.photo, size: 5)
        world.remove(Self.other)
        world.write(Self.new)
        let seen = try reconcile(Self.photo, Self.new) { .other }
        #expect(seen.changed == 0 && seen.missing == 0 && seen.new.count == 1)
        #expect(try world.state(Self.photo) == .uploaded && world.state(Self.other) == .uploaded)
        #expect(try world.state(Self.new) == .pending)
        let known = try reconcile(Self.photo, Self.new) { .known }
        #expect(known.changed == 1 && known.missing == 1)
        #expect(try world.state(Self.photo) == .pending && world.state(Self.other) == .missing)
        #expect(try world.ledger.check() == [])
    }

    private static let first = SeenDrive.found(DriveIdentity(.disk, uuid: "1111"), at: FilePath(), isExpected: true)
    private static let second = SeenDrive.found(DriveIdentity(.disk, uuid: "2222"), at: FilePath(), isExpected: false)

    /// One photo is stored from each of two drives in the same place.
    private func storeFromBoth() throws {
        world.write(Self.photo)
        _ = try reconcile(Self.photo) { Self.first }
        try world.storeAll()
        world.remove(Self.photo)
        world.write(Self.other)
        _ = try reconcile(Self.other) { Self.second }
        try world.storeAll()
        world.remove(Self.other)
    }

    @Test func `each photo goes by the drive that it was seen on`() throws {
        try storeFromBoth()
        #expect(try reconcile(drive: { Self.first }).missing == 1)
        #expect(try world.state(Self.photo) == .missing && world.state(Self.other) == .uploaded)
        #expect(try reconcile(drive: { .untold }).missing == 0)
        #expect(try reconcile(drive: { Self.second }).missing == 1)
        #expect(try world.state(Self.other) == .missing)
        #expect(try world.ledger.check() == [])
    }

    @Test func `neither a hint nor the end of a scan makes photos of another drive missing`() throws {
        try storeFromBoth()
        let folder = world.folders[0].id
        let file: FilePath = "2026/b.jpg"
        #expect(try world.ledger.markGone(folder, path: file, drive: { _ in Self.first }, at: world.now) == 0)
        #expect(
            try world.ledger.finishScan(folder, below: "", visited: [], drive: { _ in Self.first }, at: world.now) == 1)
        #expect(try world.state(Self.photo) == .missing && world.state(Self.other) == .uploaded)
        #expect(try world.ledger.markGone(folder, path: "2026", drive: { _ in Self.second }, at: world.now) == 1)
        #expect(try world.state(Self.other) == .missing)
    }

    @Test func `a file with the name of a photo of another drive and another size waits`() throws {
        try storeFromBoth()
        world.write(Self.other, size: 5)
        let seen = try reconcile(Self.other) { Self.first }
        #expect(seen.waiting == 1 && seen.changed == 0 && seen.missing == 1)
        #expect(try world.state(Self.other) == .uploaded)
        #expect(try reconcile(Self.other) { Self.second }.changed == 1)
    }

    @Test func `a photo that is as it was learns its drive once, and its directory stays known`() throws {
        let folder = world.folders[0].id
        world.write(Self.photo)
        let id = try #require(try reconcile(Self.photo) { .known }.directoryID)
        let stamp = try #require(world.disk[Self.photo])
        let digest = try #require(SHA256Digest(bytes: [UInt8](repeating: 1, count: 32)))
        let file = ScannedFile(name: try #require(Self.photo.lastComponent), stamp: stamp)
        try world.ledger.noteDigests(of: [ComparedDirectory(id: id, digest: digest, files: [file])])
        #expect(try world.ledger.drive(ofFile: "2026/a.jpg", in: folder) == nil)
        for _ in 0..<2 {
            #expect(try reconcile(Self.photo) { Self.first }.isEmpty)
            #expect(try world.ledger.drive(ofFile: "2026/a.jpg", in: folder) == DriveIdentity(.disk, uuid: "1111"))
        }
        #expect(try world.ledger.knownDirectories(of: folder, below: "").count == 1)
        let changes = try world.ledger.database.read { $0.totalChangesCount }
        _ = try reconcile(Self.photo) { Self.first }
        #expect(try observe(Self.photo, on: Self.first).queued == 1)
        #expect(try world.ledger.database.read { $0.totalChangesCount } == changes)
        // A command may see more of a drive than a service does.
        let more = SeenDrive.found(DriveIdentity(.disk, uuid: "1111", fsid: "7"), at: FilePath(), isExpected: true)
        _ = try reconcile(Self.photo) { more }
        #expect(try world.ledger.database.read { $0.totalChangesCount } == changes)
    }

    @Test func `where a file counts as a copy, its directory is compared again when the own drive is back`() throws {
        let folder = world.folders[0].id
        world.write(Self.photo)
        let id = try #require(try reconcile(Self.photo) { Self.first }.directoryID)
        try world.storeAll()
        let stamp = try #require(world.disk[Self.photo])
        let digest = try #require(SHA256Digest(bytes: [UInt8](repeating: 1, count: 32)))
        let file = ScannedFile(name: try #require(Self.photo.lastComponent), stamp: stamp)
        try world.ledger.noteDigests(of: [ComparedDirectory(id: id, digest: digest, files: [file])])
        #expect(try world.ledger.knownDirectories(of: folder, below: "").count == 1)
        // A copy of blocks.
        _ = try reconcile(Self.photo) { Self.second }
        #expect(try world.state(Self.photo) == .pending)
        #expect(try world.ledger.knownDirectories(of: folder, below: "").isEmpty)
        _ = try reconcile(Self.photo) { Self.first }
        try world.storeAll()
        #expect(
            try world.ledger.drive(ofFile: "2026/a.jpg", in: folder) == DriveIdentity(.disk, uuid: "1111"))
        #expect(try world.ledger.check() == [])
    }

    @Test func `what is new on a drive that is not told is of none that is known, until it is told`() throws {
        let folder = world.folders[0].id
        world.write(Self.photo)
        _ = try reconcile(Self.photo) { .untold }
        try world.storeAll()
        #expect(try world.ledger.drive(ofFile: "2026/a.jpg", in: folder) == DriveIdentity.untold)
        let stamp = try #require(world.disk[Self.photo])
        world.remove(Self.photo)
        for drive in [Self.first, Self.second] {
            #expect(try reconcile(drive: { drive }).missing == 0)
            #expect(try world.ledger.markGone(folder, path: "2026/a.jpg", drive: { _ in drive }, at: world.now) == 0)
        }
        world.put(stamp, at: Self.photo)
        _ = try reconcile(Self.photo) { Self.second }
        world.remove(Self.photo)
        #expect(try reconcile(drive: { Self.first }).missing == 0)
        #expect(try world.state(Self.photo) == .uploaded)
        #expect(try reconcile(drive: { Self.second }).missing == 1)
        #expect(try world.ledger.check() == [])
    }

    @Test func `where no drive is told, photos of one that was told are not missing`() throws {
        try storeFromBoth()
        let silent = SeenDrive.found(nil, at: FilePath(), isExpected: true)
        #expect(try reconcile(drive: { silent }).missing == 0)
    }

    @Test func `a drive takes the place of the one that is named, and of no third one`() throws {
        try storeFromBoth()
        let folder = world.folders[0].id
        let third = DriveIdentity(.disk, uuid: "3333")
        let named = DriveTakeover(of: DriveIdentity(.disk, uuid: "1111"), by: third, at: FilePath(), except: [])
        #expect(try world.ledger.noteDrives([:], [named], of: folder) == 1)
        #expect(try world.ledger.drive(ofFile: "2026/a.jpg", in: folder) == third)
        #expect(try world.ledger.drive(ofFile: "2026/b.jpg", in: folder) == DriveIdentity(.disk, uuid: "2222"))
        let elsewhere = DriveTakeover(of: nil, by: third, at: FilePath(), except: ["2026"])
        #expect(try world.ledger.noteDrives([:], [elsewhere], of: folder) == 0)
        let all = DriveTakeover(of: nil, by: third, at: FilePath(), except: [])
        #expect(try world.ledger.noteDrives([:], [all], of: folder) == 1)
        #expect(try world.ledger.drive(ofFile: "2026/b.jpg", in: folder) == third)
    }

    @Test func `one drive is told by the folder of it that its place begins with`() {
        let drive = { (folder: FilePath) in DriveIdentity(.disk, uuid: "1111", folder: folder) }
        // It is mounted once more, in a folder of its own, or no longer.
        #expect(!SeenDrive.found(drive("/p/SD"), at: "SD", isExpected: true).isOther(than: drive("/p"), in: "SD/x"))
        #expect(!SeenDrive.found(drive("/p"), at: "", isExpected: true).isOther(than: drive("/p/SD"), in: "SD/x"))
        // Another subvolume.
        #expect(SeenDrive.found(drive("/q"), at: "SD", isExpected: true).isOther(than: drive("/p"), in: "SD/x"))
        #expect(SeenDrive.found(drive("/q"), at: "", isExpected: true).isOther(than: drive("/p"), in: "SD/x"))
    }

    @Test func `the drive is asked for once for each look at a directory`() throws {
        try PhotoState.uploaded.prepare(Self.photo, in: world)
        var asked = 0
        world.write(Self.new)
        _ = try reconcile(Self.photo, Self.new) {
            asked += 1
            return .known
        }
        #expect(asked == 1)
    }

    @Test(arguments: [PhotoState.pending, .uploading, .uploaded], [true, false])
    func `a file with a known name and another size waits, alone, too`(before: PhotoState, isWhole: Bool) throws {
        try before.prepare(Self.photo, in: world)
        let known = try #require(world.disk[Self.photo])
        world.write(Self.photo, size: 5)
        let observed = try observe(Self.photo, isWhole: isWhole, on: .other)
        #expect(observed.queued == 0 && observed.waiting == (isWhole ? 1 : 0))
        #expect(try world.state(Self.photo) == before)
        world.put(known, at: Self.photo)
        #expect(try world.scan().map(\.unchanged) == [1])
    }

    @Test(arguments: [PhotoState.failed, .skipped, .missing])
    func `one of which nothing is to be kept is taken in`(before: PhotoState) throws {
        try before.prepare(Self.photo, in: world)
        world.write(Self.photo, size: 5)
        #expect(try observe(Self.photo, on: .other).waiting == 0)
        #expect(try world.state(Self.photo) == .pending)
    }

    @Test(arguments: [true, false])
    func `a file that is copied to the drive is whole with another size than it was met with`(tellsBirth: Bool) throws {
        var stamp = FileStamp(device: 7, inode: 9, size: 10, modified: 3, changed: 3, born: tellsBirth ? 3 : nil)
        world.put(stamp, at: Self.new)
        _ = try observe(Self.new, isWhole: false, on: .other)
        (stamp.size, stamp.modified, stamp.changed) = (1_000, 4, 4)
        world.put(stamp, at: Self.new)
        #expect(try observe(Self.new, on: .other).queued == 1)
        #expect(try world.storeAll().map(\.stamp) == [stamp])
        // Without a birth it may be another one by now.
        (stamp.size, stamp.modified, stamp.changed) = (2_000, 5, 5)
        world.put(stamp, at: Self.new)
        #expect(try observe(Self.new, on: .other).waiting == (tellsBirth ? 0 : 1))
    }
}
