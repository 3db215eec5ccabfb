import FoundationEssentials
import SyncCore
import SystemPackage
import Testing

@testable import SyncLedger

/// What is seen on another drive than the one that the photos of its place were found on.
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

    private func sight(_ path: FilePath, isWhole: Bool = true, on drive: SeenDrive) throws -> SightedFiles {
        let files = [SettledFile(folder: world.folders[0].id, path: path, stamp: try #require(world.disk[path]))]
        if isWhole {
            return try world.ledger.sight(files, drive: { _ in drive }, stillThere: world.isThere, at: world.now)
        }
        try world.ledger.hold(
            files, for: .seconds(10), drive: { _ in drive }, stillThere: world.isThere, at: world.now)
        return SightedFiles()
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

    @Test func `the drive is asked for where that makes a difference`() throws {
        try PhotoState.uploaded.prepare(Self.photo, in: world)
        var asked = 0
        func ask() -> SeenDrive {
            asked += 1
            return .known
        }
        world.write(Self.new)
        _ = try reconcile(Self.photo, Self.new, drive: ask)
        #expect(asked == 0)
        world.write(Self.photo, size: 5)
        _ = try reconcile(Self.photo, Self.new, drive: ask)
        #expect(asked == 1)
        world.remove(Self.new)
        _ = try reconcile(Self.photo, drive: ask)
        #expect(asked == 2)
    }

    @Test(arguments: [PhotoState.pending, .uploading, .uploaded], [true, false])
    func `a file with a known name and another size waits, alone, too`(before: PhotoState, isWhole: Bool) throws {
        try before.prepare(Self.photo, in: world)
        let known = try #require(world.disk[Self.photo])
        world.write(Self.photo, size: 5)
        let sighted = try sight(Self.photo, isWhole: isWhole, on: .other)
        #expect(sighted.queued == 0 && sighted.waiting == (isWhole ? 1 : 0))
        #expect(try world.state(Self.photo) == before)
        world.put(known, at: Self.photo)
        #expect(try world.scan().map(\.unchanged) == [1])
    }

    @Test(arguments: [PhotoState.failed, .skipped, .missing])
    func `one of which nothing is to be kept is taken in`(before: PhotoState) throws {
        try before.prepare(Self.photo, in: world)
        world.write(Self.photo, size: 5)
        #expect(try sight(Self.photo, on: .other).waiting == 0)
        #expect(try world.state(Self.photo) == .pending)
    }

    @Test(arguments: [true, false])
    func `a file that is copied to the drive is whole with another size than it was met with`(tellsBirth: Bool) throws {
        var stamp = FileStamp(device: 7, inode: 9, size: 10, modified: 3, changed: 3, born: tellsBirth ? 3 : nil)
        world.put(stamp, at: Self.new)
        _ = try sight(Self.new, isWhole: false, on: .other)
        (stamp.size, stamp.modified, stamp.changed) = (1_000, 4, 4)
        world.put(stamp, at: Self.new)
        #expect(try sight(Self.new, on: .other).queued == 1)
        #expect(try world.storeAll().map(\.stamp) == [stamp])
        // Without a birth it may be another one by now.
        (stamp.size, stamp.modified, stamp.changed) = (2_000, 5, 5)
        world.put(stamp, at: Self.new)
        #expect(try sight(Self.new, on: .other).waiting == (tellsBirth ? 0 : 1))
    }
}
