import FoundationEssentials
import SyncCore
import SystemPackage
import Testing

@testable import SyncLedger

/// Files that were seen before they were whole: they are not called safe, and nobody claims them.
@Suite struct HeldFileTests {
    static let photo: FilePath = "/pictures/gallery/2026/a.jpg"

    private let world: World

    init() throws { world = try World() }

    private func seen(_ paths: [FilePath]) throws -> [SettledFile] {
        try paths.map { path in
            SettledFile(folder: world.folders[0].id, path: path, stamp: try #require(world.disk[path]))
        }
    }

    private func hold(_ paths: FilePath..., for hold: Duration = .seconds(10)) throws {
        try world.ledger.hold(
            try seen(paths), for: hold, drive: { _ in .known }, stillThere: world.isThere, at: world.now)
    }

    private func claimed() throws -> [FilePath] { try world.ledger.claim(limit: 9, at: world.now).map(\.file) }

    @Test(arguments: [true, false])
    func `a new file is pending at once, and claimed when it is whole`(isScanned: Bool) throws {
        let stamp = world.write(Self.photo)
        if isScanned {
            let differences = try world.scan(settled: { _ in false })
            #expect(differences.flatMap(\.unsettled).map(\.stamp) == [stamp])
            #expect(differences.map(\.held) == [1] && differences.flatMap(\.new).isEmpty)
        } else {
            try hold(Self.photo)
        }
        #expect(try world.ledger.overview().totals[.pending].files == 1)
        #expect(try claimed() == [])
        let again = try world.scan(settled: { _ in false })
        #expect(again.map(\.isEmpty) == [true] && again.flatMap(\.unsettled).count == 1)
        #expect(try world.scan().map(\.released) == [1])
        #expect(try world.scan().map(\.unchanged) == [1])
        #expect(try claimed() == [Self.photo])
        #expect(try world.ledger.check() == [])
    }

    @Test func `a file that changes while it is held stays what it is, and is observed as it is then`() throws {
        world.write(Self.photo)
        try hold(Self.photo)
        let met = world.now
        for _ in 1...3 {
            world.now += 1
            world.write(Self.photo)
            try hold(Self.photo)
            #expect(try world.scan(settled: { _ in false }).map(\.isEmpty) == [true])
        }
        let observed = try world.ledger.observe(
            seen([Self.photo]), drive: { _ in .known }, stillThere: world.isThere, at: world.now)
        #expect(observed.queued == 1 && observed.delayed.isEmpty)
        #expect(try world.status(Self.photo)?.queuedAt == met)
        let claims = try world.ledger.claim(limit: 9, at: world.now)
        let stamp = try #require(world.disk[Self.photo])
        #expect(claims.map(\.stamp) == [stamp])
        #expect(claims.map(\.attempts) == [1])
    }

    @Test(arguments: [PhotoState.uploaded, .failed, .skipped, .missing, .lost])
    func `a known file that is being written anew is pending until it is read`(before: PhotoState) throws {
        try before.prepare(Self.photo, in: world)
        world.write(Self.photo)
        try hold(Self.photo)
        #expect(try world.state(Self.photo) == .pending)
        #expect(try claimed() == [])
        #expect(try world.scan().map(\.released) == [1])
        #expect(try world.storeAll().count == 1)
        #expect(try world.state(Self.photo) == .uploaded)
        #expect(try world.ledger.check() == [])
    }

    @Test func `a file that is written anew while it is sent is pending when it was sent, and held then`() throws {
        try PhotoState.pending.prepare(Self.photo, in: world)
        let claims = try world.ledger.claim(limit: 1, at: world.now)
        world.write(Self.photo)
        try hold(Self.photo)
        for claim in claims { try world.ledger.commit(claim, outcome: world.stored(claim), at: world.now) }
        #expect(try world.state(Self.photo) == .pending)
        #expect(try claimed() == [])
        try world.scan()
        #expect(try claimed() == [Self.photo])
    }

    @Test(arguments: [true, false])
    func `what goes before it is whole is forgotten, or missing as it was`(isStored: Bool) throws {
        if isStored { try PhotoState.uploaded.prepare(Self.photo, in: world) }
        world.write(Self.photo)
        try hold(Self.photo)
        world.remove(Self.photo)
        #expect(try world.ledger.markGone(world.folders[0].id, path: Self.photo, at: world.now) == 1)
        #expect(try world.state(Self.photo) == (isStored ? PhotoState.missing : nil))
        #expect(try world.ledger.nextTry(at: world.now) == nil)
    }

    @Test func `a file that was just written and is no photo takes no place in the queue once it is whole`() throws {
        let note: FilePath = "/pictures/gallery/notes.txt"
        world.write(note)
        try hold(note)
        let noted = try world.ledger.observe(
            seen([note]), drive: { _ in .known }, stillThere: world.isThere,
            whySkipped: { _ in SkipReason("it is a text") }, at: world.now)
        #expect(noted.queued == 0 && noted.skipped == 1)
        #expect(try world.state(note) == .skipped)
        #expect(try world.ledger.nextTry(at: world.now) == nil)
    }

    @Test func `what a filter leaves out is not held`() throws {
        try world.register([
            WatchedFolder(kind: .gallery, path: World.gallery.path, filter: try PathFilter(["- raw/"]))
        ])
        world.write("/pictures/gallery/raw/a.jpg")
        try hold("/pictures/gallery/raw/a.jpg")
        #expect(try world.ledger.overview().totals[.pending].files == 0)
        #expect(try world.scan(settled: { _ in false }).map(\.directoryID) == [nil])
    }

    @Test func `a renamed photo is held under its new name, and read again`() throws {
        let renamed: FilePath = "/pictures/gallery/2026/b.jpg"
        try PhotoState.uploaded.prepare(Self.photo, in: world)
        let id = try world.status(Self.photo)?.id
        world.rename(Self.photo, to: renamed)
        try hold(renamed)
        #expect(try world.status(renamed)?.id == id)
        #expect(try world.state(renamed) == .pending && world.status(Self.photo) == nil)
        #expect(try claimed() == [])
        try world.scan()
        #expect(try claimed() == [renamed])
    }

    @Test func `what is held is left alone by whoever tries again, and due when nobody sees it whole`() throws {
        world.write(Self.photo)
        try hold(Self.photo, for: .seconds(10))
        try world.ledger.makeAllDue(at: world.now)
        #expect(try world.ledger.retry(nil as [Int64]?) == RetriedPhotos())
        #expect(try claimed() == [])
        #expect(try world.ledger.nextTry(at: world.now) == world.now + 10)
        world.now += 10
        #expect(try claimed() == [Self.photo])
    }

    @Test func `what was claimed when nobody saw it whole, and is given back untried, waits as any other`() throws {
        world.write(Self.photo)
        try hold(Self.photo, for: .seconds(10))
        world.now += 10
        for claim in try world.ledger.claim(limit: 1, at: world.now) {
            try world.ledger.commit(claim, outcome: .released, at: world.now)
        }
        #expect(try world.scan(settled: { _ in false }).map(\.unchanged) == [1], "it is not held")
        #expect(try world.ledger.nextTry(at: world.now) == .distantPast)
        // Also by a clock that was set back.
        world.now -= 20
        #expect(try claimed() == [Self.photo])
    }

    @Test func `what changed in the hands of an agent that died is held where it is not whole, else not`() throws {
        let other: FilePath = "/pictures/gallery/2026/b.jpg"
        for path in [Self.photo, other] { world.write(path) }
        try world.scan()
        #expect(try claimed().count == 2)
        world.write(Self.photo)
        try world.scan()
        world.write(other)
        try hold(other)
        #expect(try world.ledger.recoverInterrupted(at: world.now) == 2)
        let again = try world.scan(settled: { _ in false })
        #expect(again.map(\.unchanged) == [1] && again.flatMap(\.unsettled).count == 1)
        #expect(try claimed() == [Self.photo])
        world.now += 10
        #expect(try claimed() == [other])
    }

    @Test func `the files of a burst are noted in groups`() throws {
        let paths = (0..<1_000).map { FilePath("/pictures/gallery/\($0 % 3)/\($0).jpg") }
        for path in paths { world.write(path) }
        let files = try seen(paths)
        for _ in 1...2 {
            try world.ledger.hold(
                files, for: .seconds(10), drive: { _ in .known }, stillThere: world.isThere, at: world.now)
            #expect(try world.ledger.overview().totals[.pending].files == 1_000)
        }
        let observed = try world.ledger.observe(
            files, drive: { _ in .known }, stillThere: world.isThere, at: world.now)
        #expect(observed.queued == 1_000)
        #expect(try world.ledger.check() == [])
    }
}
