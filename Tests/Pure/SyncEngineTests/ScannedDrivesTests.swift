import FoundationEssentials
import SyncCore
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

/// Drives that come and go while a folder is scanned, and parts of a folder that are on drives of their own.
@Suite struct ScannedDrivesTests {
    private let bench: Bench
    private var folder: FolderRecord { bench.folders[0] }
    private var scan: FolderScan { FolderScan(ledger: bench.ledger, scanner: bench.disk, settle: .seconds(2)) }

    private static let first = DriveIdentity(.disk, uuid: "1111")
    private static let second = DriveIdentity(.disk, uuid: "2222")
    private static let third = DriveIdentity(.disk, uuid: "3333")
    private static let card = Bench.gallery.appending("SD")
    private static let a = Bench.gallery.appending("a.jpg")
    private static let photo = card.appending("x.jpg")
    /// In the folder that is read last.
    private static let last = Bench.gallery.pushing("Z/z.jpg")

    init() throws { bench = try Bench() }

    private static func away(_ path: FilePath) -> FilePath { FilePath("/away" + path.string) }

    private func state(_ path: FilePath) throws -> PhotoState? { try bench.status(path)?.state }

    /// Does something each time that a scan has come to a folder, before the folder is read.
    private func meanwhile(at place: FilePath, times: Int = 1, _ action: @escaping @Sendable (FakeDisk) -> Void) {
        let (disk, left) = (bench.disk, Lock(times))
        disk.onScan { [weak disk] folder in
            guard let disk, folder == place else { return }
            let isDue = left.withLock { left in
                left -= 1
                return left >= 0
            }
            if isDue { action(disk) }
        }
    }

    private func store() async throws {
        bench.disk.write("sunset", to: Self.a)
        bench.disk.write("dawn", to: Self.photo)
        bench.disk.write("noon", to: Self.last)
        try await bench.pass()
    }

    /// As ``store()``, from a drive with another one below it.
    private func storeFromTwoDrives() async throws {
        bench.disk.setIdentity(Self.first, at: Bench.gallery)
        bench.disk.setIdentity(Self.second, at: Self.card)
        bench.disk.setDrive(Self.card, isMounted: true)
        try await store()
    }

    // MARK: While it is scanned

    @Test func `a drive that is mounted over photos while they are scanned makes none of them missing`() async throws {
        bench.disk.setIdentity(Self.first, at: Bench.gallery)
        try await store()
        let new = Self.card.appending("y.jpg")
        meanwhile(at: Self.card) { disk in
            disk.move(Self.photo, to: Self.away(Self.photo))
            disk.write("tower", to: new)
            disk.setDrive(Self.card, isMounted: true)
            disk.setIdentity(Self.second, at: Self.card)
        }
        // It is known as another one from then on, though it was mounted before anything was noted of its place.
        for _ in 1...2 {
            let result = try bench.scan()[0]
            #expect(result.missing == 0 && result.problems.map(\.path) == [Self.card])
            #expect(result.problems.first?.message.contains("not the drive that photos were found on") == true)
            #expect(result.filesSeen == 3)
        }
        #expect(try state(Self.photo) == .uploaded && state(new) == .pending)
        #expect(try bench.ledger.overview().folders[0].record.problem?.contains("--new-drive") == true)
    }

    @Test func `what such a drive has under a known name and in another size changes nothing`() async throws {
        bench.disk.setIdentity(Self.first, at: Bench.gallery)
        try await store()
        meanwhile(at: Self.card) { disk in
            disk.write("another dawn", to: Self.photo)
            disk.setDrive(Self.card, isMounted: true)
            disk.setIdentity(Self.second, at: Self.card)
        }
        #expect(try bench.scan()[0].queued == 0)
        #expect(try state(Self.photo) == .uploaded)
    }

    @Test func `another drive in the place of the whole folder is seen while it is scanned`() async throws {
        bench.disk.setIdentity(Self.first, at: Bench.gallery)
        try await store()
        meanwhile(at: Bench.gallery) { disk in
            for path in [Self.a, Self.photo, Self.last] { disk.move(path, to: Self.away(path)) }
            disk.write("tower", to: Bench.gallery.appending("y.jpg"))
            disk.setIdentity(Self.second, at: Bench.gallery)
        }
        let result = try bench.scan()[0]
        #expect(result.missing == 0 && result.problems.map(\.path) == [Bench.gallery])
        for path in [Self.a, Self.photo, Self.last] { #expect(try state(path) == .uploaded) }
    }

    @Test func `a drive that comes back behind a scan is looked at once more`() async throws {
        bench.disk.setDrive(Self.card, isMounted: true)
        try await store()
        bench.disk.setDrive(Self.card, isMounted: false)
        meanwhile(at: Self.last.removingLastComponent()) { $0.setDrive(Self.card, isMounted: true) }
        let result = try bench.scan()[0]
        #expect(result.missing == 0 && result.problems.isEmpty && result.filesSeen == 3)
        #expect(try state(Self.photo) == .uploaded)
    }

    @Test func `a drive that is taken out while it is scanned is one that is away`() async throws {
        let (one, two) = (Self.card.pushing("1/x.jpg"), Self.card.pushing("2/y.jpg"))
        bench.disk.setDrive(Self.card, isMounted: true)
        bench.disk.write("beach", to: one)
        bench.disk.write("tower", to: two)
        try await store()
        meanwhile(at: two.removingLastComponent()) { $0.setDrive(Self.card, isMounted: false) }
        for _ in 1...2 {
            let result = try bench.scan()[0]
            #expect(result.missing == 0 && result.problems.map(\.path) == [Self.card])
            #expect(result.problems.first?.message.contains("no drive is mounted here") == true)
        }
        #expect(try state(one) == .uploaded && state(two) == .uploaded)
    }

    @Test func `where drives come and go each time, that is told`() async throws {
        bench.disk.setDrive(Self.card, isMounted: true)
        try await store()
        bench.disk.setDrive(Self.card, isMounted: false)
        meanwhile(at: Self.last.removingLastComponent(), times: 2) { disk in
            disk.setDrive(Self.card, isMounted: disk.mountPoints(below: Bench.gallery).isEmpty)
        }
        let result = try bench.scan()[0]
        #expect(result.missing == 0 && result.problems.map(\.path) == [Self.card])
        #expect(result.problems.first?.message.contains("while the folder was looked at") == true)
        #expect(try state(Self.photo) == .uploaded)
        bench.disk.setDrive(Self.card, isMounted: true)
        #expect(try bench.scan()[0].problems.isEmpty)
    }

    // MARK: Parts

    @Test func `a scan of a part tells what is wrong with its own places`() async throws {
        try await storeFromTwoDrives()
        bench.disk.move(Self.photo, to: Self.away(Self.photo))
        bench.disk.write("tower", to: Self.card.appending("y.jpg"))
        bench.disk.setIdentity(Self.third, at: Self.card)
        let other = try scan.run(folder, from: Self.last.removingLastComponent(), at: bench.time.now)
        #expect(other.problems.isEmpty && other.missing == 0)
        let part = try scan.run(folder, from: Self.card, at: bench.time.now)
        #expect(part.problems.map(\.path) == [Self.card] && part.missing == 0)
        #expect(try state(Self.photo) == .uploaded)
    }

    @Test func `the deepest place decides, and the mounts are asked for once for all that is gone`() async throws {
        try await storeFromTwoDrives()
        let many = (1...50).map { Self.card.appending("\($0).jpg") }
        for path in many { bench.disk.write("photo \(path)", to: path) }
        try await bench.pass()
        // Another drive around one that is as it was.
        for path in [Self.a, Self.last] { bench.disk.move(path, to: Self.away(path)) }
        bench.disk.write("tower", to: Bench.gallery.appending("y.jpg"))
        bench.disk.setIdentity(Self.third, at: Bench.gallery)
        for path in many { bench.disk.remove(path) }
        let before = bench.disk.mountReads
        let onCard = try scan.noteGone(many, in: folder, at: bench.time.now)
        #expect(onCard.missing == 50 && !onCard.needsScan)
        #expect(bench.disk.mountReads - before <= 2)
        let around = try scan.noteGone([Self.a, Self.photo], in: folder, at: bench.time.now)
        #expect(around.missing == 0 && around.needsScan)
        #expect(try state(Self.a) == .uploaded && state(Self.photo) == .uploaded)
    }

    @Test func `the drives are looked at again when the mounts have changed, and not for each directory`()
        async throws
    {
        bench.disk.setIdentity(Self.first, at: Bench.gallery)
        let photos = (1...20).map { Bench.gallery.appending("\($0)").appending("a.jpg") }
        for path in photos { bench.disk.write("photo \(path)", to: path) }
        try await bench.pass()
        func checks(changing count: Int) throws -> Int {
            for path in photos.prefix(count) { bench.disk.write("another of \(count), \(path)", to: path) }
            let before = bench.disk.mountReads
            let result = try scan.run(folder, from: folder.path, at: bench.time.now)
            #expect(result.filesSeen == photos.count)
            return bench.disk.mountReads - before
        }
        let few = try checks(changing: 1)
        #expect(try checks(changing: 20) == few)
    }

    @Test func `what cannot be looked at is not gone`() async throws {
        try await store()
        let scan = FolderScan(ledger: bench.ledger, scanner: ClosedDisk(), settle: .seconds(2))
        let answer = try scan.noteGone([Self.a], in: folder, at: bench.time.now)
        #expect(answer.needsScan && answer.missing == 0)
        #expect(try state(Self.a) == .uploaded)
    }

    @Test func `files in the place of a drive that is taken out do not prove a drive there`() async throws {
        bench.disk.setIdentity(Self.first, at: Bench.gallery)
        bench.disk.setIdentity(DriveIdentity(.passing), at: Self.card)
        bench.disk.setDrive(Self.card, isMounted: true)
        try await store()
        #expect(try bench.ledger.drives(of: folder.id) == [FilePath(): Self.first])
        bench.disk.removeDrive(Self.card)
        bench.disk.setIdentity(Self.second, at: Self.card)
        try bench.scan()
        #expect(try bench.ledger.drives(of: folder.id) == [FilePath(): Self.first])
        bench.disk.setDrive(Self.card, isMounted: true)
        try bench.scan()
        #expect(try bench.ledger.drives(of: folder.id) == [FilePath(): Self.first, "SD": Self.second])
    }
}

/// Folders that may not be entered.
private struct ClosedDisk: TreeScanner {
    func scan(root: FilePath, from start: FilePath, visit: (ScannedFolder) throws -> Void) throws {
        throw ScanError(.denied, path: start, message: "permission denied")
    }

    func stamp(of file: FilePath) throws(ScanError) -> FileStamp? {
        throw ScanError(.denied, path: file, message: "permission denied")
    }

    func isBeingWritten(_ file: FilePath) -> Bool { false }
}
