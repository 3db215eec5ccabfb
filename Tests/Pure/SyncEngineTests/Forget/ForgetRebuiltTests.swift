import FoundationEssentials
import SyncCore
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

/// What `forget` takes for gone where the ledger was lost, and knows photos from the catalogue alone.
@Suite struct ForgetRebuiltTests {
    private let forget: ForgetBench
    private let here = Bench.gallery.appending("a.jpg")
    private let usb = Bench.gallery.appending("Usb")
    private let photos = [Bench.gallery.pushing("Usb/2019/b.jpg"), Bench.gallery.pushing("Usb/2020/c.jpg")]

    private var bench: Bench { forget.bench }

    init() throws {
        forget = try ForgetBench()
        bench.disk.write("sunset", to: here)
        bench.disk.write("moon", to: photos[0])
        bench.disk.write("dawn", to: photos[1])
    }

    /// A ledger that a rebuild has made of what is stored.
    /// - Parameter tellsDrives: whether the catalogue tells of drives.
    private func rebuilt(tellsDrives: Bool) async throws -> (ledger: Ledger, folder: FolderRecord) {
        let ledger = try Ledger.inMemory()
        let folder = try ledger.register([WatchedFolder(kind: .gallery, path: Bench.gallery)])[0]
        let now = bench.time.now
        let stored = try await bench.memory.list(prefix: "users/ana/photos/", after: nil, limit: 100).objects
        try ledger.noteListed(stored, keys: try forget.keys, tellsRestores: false, at: now)
        var cursor = CatalogCursor()
        let photos = try bench.ledger.catalogPhotos(&cursor, limit: 100)
        try ledger.noteCatalog(photos, in: [bench.folders[0].id.rawValue: folder.id], at: now)
        if tellsDrives {
            let told = try bench.ledger.catalogFolders().filter { $0.path.path == Bench.gallery }
            let drives = try #require(told.first?.drives)
            try ledger.noteCatalogDrives([folder.id: drives], at: now)
        }
        return (ledger, folder)
    }

    private func plan(_ ledger: Ledger) async throws -> ForgetPlan {
        var found: [PhotoStatus] = []
        try ledger.photos(at: Bench.gallery) { found.append($0) }
        return try await forget.planner(ledger).plan(found, onlyGone: true)
    }

    private func scan(_ rebuilt: (ledger: Ledger, folder: FolderRecord)) throws -> FolderScan.Summary {
        try FolderScan(ledger: rebuilt.ledger, scanner: bench.disk, settle: .seconds(2))
            .run(rebuilt.folder, from: Bench.gallery, at: bench.time.now)
    }

    private func reasons(_ plan: ForgetPlan) -> Set<String> {
        Set(
            plan.refused.map { refused in
                if case .away(let reason) = refused.refusal { reason } else { "\(refused.refusal)" }
            })
    }

    @Test func `photos of a drive that is away are not forgotten, before a pass and after it`() async throws {
        bench.disk.setDrive(usb, isMounted: true)
        try await bench.pass()
        bench.disk.setDrive(usb, isMounted: false)
        let rebuilt = try await rebuilt(tellsDrives: true)
        for _ in 0..<2 {
            let plan = try await plan(rebuilt.ledger)
            #expect(plan.photos.isEmpty && plan.refused.count == 2)
            #expect(reasons(plan).allSatisfy { $0.hasPrefix("no drive is mounted at /pictures/gallery/Usb (") })
            #expect(reasons(plan).count == 1)
            let problem = try #require(try scan(rebuilt).problems.first)
            #expect(problem.path == usb && problem.message.contains("2 files are known on the one that was"))
        }
        bench.disk.setDrive(usb, isMounted: true)
        #expect(try scan(rebuilt).problems.isEmpty)
        bench.disk.remove(photos[0])
        #expect(try scan(rebuilt).missing == 1)
        #expect(try await plan(rebuilt.ledger).photos.map(\.path) == [photos[0]])
    }

    @Test func `nor are they while another drive is in its place`() async throws {
        bench.disk.setDrive(usb, isMounted: true)
        bench.disk.setIdentity(DriveIdentity(.disk, uuid: "1111"), at: usb)
        try await bench.pass()
        for photo in photos { bench.disk.move(photo, to: FilePath("/away" + photo.string)) }
        bench.disk.write("another", to: usb.appending("d.jpg"))
        bench.disk.setIdentity(DriveIdentity(.disk, uuid: "2222"), at: usb)
        let rebuilt = try await rebuilt(tellsDrives: true)
        for _ in 0..<2 {
            let plan = try await plan(rebuilt.ledger)
            #expect(plan.photos.isEmpty && plan.refused.count == 2)
            #expect(reasons(plan).allSatisfy { $0.contains("at /pictures/gallery/Usb is another drive") })
            let problem = try #require(try scan(rebuilt).problems.first)
            #expect(problem.message.contains("2 known files are not on it"))
        }
        let drives = FolderDrives(ledger: rebuilt.ledger, scanner: bench.disk)
        #expect(try drives.accept(at: "Usb", of: rebuilt.folder).taken.map(\.filesNotSeen) == [2])
        #expect(try await plan(rebuilt.ledger).photos.count == 2)
    }

    @Test func `photos of a drive that takes turns with the one that is there are not, and come back with it`()
        async throws
    {
        let (other, away) = (usb.appending("d.jpg"), FilePath("/away"))
        func mount(_ uuid: String) {
            bench.disk.setIdentity(DriveIdentity(.disk, uuid: uuid), at: usb)
        }
        bench.disk.setDrive(usb, isMounted: true)
        mount("1111")
        try await bench.pass()
        for photo in photos { bench.disk.move(photo, to: FilePath(away.string + photo.string)) }
        bench.disk.write("another", to: other)
        mount("2222")
        try await bench.pass()
        for photo in photos { bench.disk.move(FilePath(away.string + photo.string), to: photo) }
        bench.disk.move(other, to: away.appending("d.jpg"))
        mount("1111")
        let rebuilt = try await rebuilt(tellsDrives: true)
        for _ in 0..<2 {
            let plan = try await plan(rebuilt.ledger)
            #expect(plan.photos.isEmpty)
            #expect(reasons(plan).contains { $0.contains("at /pictures/gallery/Usb is another drive") })
            #expect(try scan(rebuilt).problems.isEmpty)
        }
        for photo in photos { bench.disk.move(photo, to: FilePath(away.string + photo.string)) }
        bench.disk.move(away.appending("d.jpg"), to: other)
        mount("2222")
        _ = try scan(rebuilt)
        var states: [FilePath: PhotoState] = [:]
        try rebuilt.ledger.photos(at: Bench.gallery) { states[$0.path] = $0.state }
        #expect(states == [here: .uploaded, photos[0]: .uploaded, photos[1]: .uploaded, other: .uploaded])
    }

    @Test func `a file on another drive that has the name of one of them, and another size, waits`() async throws {
        bench.disk.setDrive(usb, isMounted: true)
        bench.disk.setIdentity(DriveIdentity(.disk, uuid: "1111"), at: usb)
        try await bench.pass()
        for photo in photos { bench.disk.move(photo, to: FilePath("/away" + photo.string)) }
        bench.disk.write("another dawn", to: photos[1])
        bench.disk.setIdentity(DriveIdentity(.disk, uuid: "2222"), at: usb)
        let rebuilt = try await rebuilt(tellsDrives: true)
        let problem = try #require(try scan(rebuilt).problems.first)
        #expect(
            problem.message.contains(
                "2 known files are not on it; 1 file with a known name is another, and is not stored"))
        var states: [FilePath: PhotoState] = [:]
        try rebuilt.ledger.photos(at: Bench.gallery) { states[$0.path] = $0.state }
        #expect(states == [here: .uploaded, photos[0]: .missing, photos[1]: .missing])
        let drives = FolderDrives(ledger: rebuilt.ledger, scanner: bench.disk)
        #expect(try drives.accept(at: "Usb", of: rebuilt.folder).taken.count == 1)
        #expect(try scan(rebuilt).queued == 1)
    }

    @Test func `of an older catalogue, an empty place of a drive tells nothing, and is looked at once`() async throws {
        try await bench.pass()
        photos.forEach(bench.disk.remove)
        bench.disk.makeFolder(usb)
        let ledger = try await rebuilt(tellsDrives: false).ledger
        let (looks, usb) = (Lock(0), usb)
        bench.disk.onScan { folder in if folder == usb { looks.withLock { $0 += 1 } } }
        let plan = try await plan(ledger)
        #expect(plan.photos.isEmpty && plan.refused.count == 2)
        #expect(
            reasons(plan) == [
                "/pictures/gallery/Usb is empty (where its photos were deleted on purpose, put a file, such as a note, "
                    + "into it; or remove the folder)"
            ])
        let count = looks.withLock { $0 }
        #expect(count == 1)
        bench.disk.write("they were", to: usb.appending("note.txt"))
        #expect(try await self.plan(ledger).photos.count == 2)
    }

    @Test func `what a catalogue alone tells of makes no doubt of a drive that tells what it is`() async throws {
        try await bench.pass()
        for photo in photos + [here] { bench.disk.remove(photo) }
        bench.disk.write("noon", to: Bench.gallery.appending("d.jpg"))
        bench.disk.setIdentity(DriveIdentity(.disk, uuid: "1111"), at: Bench.gallery)
        let rebuilt = try await rebuilt(tellsDrives: false)
        #expect(try scan(rebuilt).problems.isEmpty)
    }

    @Test func `where the folder of a photo is gone, the one above it tells`() async throws {
        try await bench.pass()
        bench.disk.remove(photos[0])
        let ledger = try await rebuilt(tellsDrives: false).ledger
        #expect(try await plan(ledger).photos.map(\.path) == [photos[0]])
    }

    @Test func `an empty folder tells of a photo that was seen there that it is gone`() async throws {
        try await bench.pass()
        let rebuilt = try await rebuilt(tellsDrives: false)
        _ = try scan(rebuilt)
        bench.disk.remove(photos[0])
        bench.disk.makeFolder(photos[0].removingLastComponent())
        #expect(try await plan(rebuilt.ledger).photos.map(\.path) == [photos[0]])
    }
}
