import FoundationEssentials
import SyncCore
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

/// Files on a second drive that have names, sizes and times of photos of a first one, as of a camera whose clock was
/// never set.
@Suite struct CopySuppositionTests {
    private let forget: ForgetBench
    private var bench: Bench { forget.bench }
    private var folder: FolderRecord { bench.folders[0] }

    private static let first = DriveIdentity(.disk, uuid: "1111")
    private static let second = DriveIdentity(.disk, uuid: "2222")
    private static let a = Bench.gallery.appending("a.jpg")
    private static let b = Bench.gallery.pushing("2024/b.jpg")

    init() throws { forget = try ForgetBench() }

    /// Two photos are stored from the first drive, and the second one is there, with nothing on it.
    private func begin() async throws {
        bench.disk.setIdentity(Self.first, at: Bench.gallery)
        bench.disk.write("sunset", to: Self.a)
        bench.disk.write("dawn", to: Self.b)
        try await bench.pass()
        for path in [Self.a, Self.b] { bench.disk.move(path, to: Self.away(path)) }
        bench.disk.setIdentity(Self.second, at: Bench.gallery)
    }

    private func mountFirst() {
        for path in [Self.a, Self.b] {
            bench.disk.remove(path)
            bench.disk.move(Self.away(path), to: path)
        }
        bench.disk.setIdentity(Self.first, at: Bench.gallery)
    }

    private static func away(_ path: FilePath) -> FilePath { FilePath("/away" + path.string) }

    private func state(_ path: FilePath) throws -> PhotoState? { try bench.status(path)?.state }

    private func drive(_ file: FilePath) throws -> DriveIdentity? {
        try bench.ledger.drive(ofFile: file, in: folder.id)
    }

    @Test func `one of other content is told, takes nothing over, and its end deletes nothing`() async throws {
        try await begin()
        bench.disk.write("meadow", to: Self.a)
        bench.disk.write("dusk", to: Self.b)
        try await bench.pass()
        #expect(try state(Self.a) == .uploaded && state(Self.b) == .uploaded)
        #expect(bench.store.count(.put) == 2 && bench.events.summary.failed == 2)
        #expect(try drive("a.jpg") == Self.first && drive("2024/b.jpg") == Self.first)
        #expect(try bench.ledger.overview().folders[0].record.problem?.contains("give it another name") == true)
        // The next scan tells of both, and reads neither again.
        let told = try bench.scan()[0]
        #expect(told.queued == 0 && told.problems.map(\.path) == [Bench.gallery])
        let words = try #require(told.problems.first?.message)
        #expect(words.contains("2 files with known names are others, and are not stored"))
        #expect(try bench.ledger.drives(of: folder.id) == [FilePath(): Self.first])
        bench.disk.remove(Self.a)
        #expect(try bench.scan()[0].missing == 0)
        #expect(try await forget.plan(Self.a, onlyGone: true).photos.isEmpty)
        #expect(try bench.ledger.check() == [])
        mountFirst()
        try await bench.pass()
        #expect(try state(Self.a) == .uploaded && state(Self.b) == .uploaded)
        #expect(try bench.scan()[0].problems.isEmpty && bench.store.count(.put) == 2)
        bench.disk.remove(Self.a)
        #expect(try bench.scan()[0].missing == 1)
        #expect(try await forget.plan(Self.a, onlyGone: true).photos.map(\.path) == [Self.a])
    }

    @Test func `a true copy takes the place once it was read, and is not missed before`() async throws {
        try await begin()
        bench.disk.write("sunset", to: Self.a)
        bench.disk.write("dawn", to: Self.b)
        let seen = try bench.scan()[0]
        #expect(seen.problems.isEmpty && seen.queued == 2)
        #expect(try drive("a.jpg") == Self.first && state(Self.a) == .pending)
        // Nobody knows yet what it was.
        bench.disk.remove(Self.b)
        #expect(try bench.scan()[0].missing == 0)
        #expect(try await forget.plan(Self.b, onlyGone: true).photos.isEmpty)
        bench.disk.write("dawn", to: Self.b)
        try await bench.pass()
        #expect(try state(Self.a) == .uploaded && drive("a.jpg") == Self.second && drive("2024/b.jpg") == Self.second)
        #expect(try bench.scan()[0].problems.isEmpty && bench.store.count(.put) == 2)
        #expect(try bench.ledger.drives(of: folder.id) == [FilePath(): Self.second])
        bench.disk.remove(Self.a)
        #expect(try bench.scan()[0].missing == 1)
    }

    /// A copy of blocks, or FAT, whose inodes are numbers of the moment.
    @Test func `one with all of the stamp is read, too`() async throws {
        bench.disk.setIdentity(Self.first, at: Bench.gallery)
        bench.disk.write("sunset", to: Self.a)
        try await bench.pass()
        bench.disk.setIdentity(Self.second, at: Bench.gallery)
        #expect(try bench.scan()[0].queued == 1)
        #expect(try state(Self.a) == .pending && drive("a.jpg") == Self.first)
        try await bench.pass()
        #expect(try state(Self.a) == .uploaded && drive("a.jpg") == Self.second && bench.store.count(.put) == 1)
        #expect(try bench.scan()[0].queued == 0)
    }

    @Test func `where the own drive is back before it was read, the photo is that of its drive`() async throws {
        try await begin()
        bench.disk.write("meadow", to: Self.a)
        bench.disk.write("dusk", to: Self.b)
        try bench.scan()
        mountFirst()
        bench.disk.write("evening", to: Self.a)
        try await bench.pass()
        #expect(try state(Self.a) == .uploaded && state(Self.b) == .uploaded && drive("a.jpg") == Self.first)
        #expect(try forget.isStored("evening") && !forget.isStored("meadow") && !forget.isStored("dusk"))
    }

    @Test(arguments: [false, true])
    func `a copy that is gone before it was read leaves the photo what it was`(isHinted: Bool) async throws {
        try await begin()
        bench.disk.write("sunset", to: Self.a)
        bench.disk.write("dusk", to: Self.b)
        try bench.scan()
        #expect(try state(Self.a) == .pending)
        bench.disk.remove(Self.a)
        if isHinted {
            let scan = FolderScan(ledger: bench.ledger, scanner: bench.disk, settle: .seconds(2))
            #expect(try scan.noteGone([Self.a], in: folder, at: bench.time.now).missing == 0)
        } else {
            #expect(try bench.scan()[0].missing == 0)
        }
        #expect(try state(Self.a) == .uploaded && drive("a.jpg") == Self.first)
        #expect(try await forget.plan(Self.a, onlyGone: true).photos.isEmpty)
        #expect(try bench.ledger.check() == [])
        mountFirst()
        try await bench.pass()
        #expect(try state(Self.a) == .uploaded && drive("a.jpg") == Self.first && bench.store.count(.put) == 2)
        #expect(try bench.scan()[0].problems.isEmpty)
    }

    @Test func `so does one that is gone when it is to be read`() async throws {
        try await begin()
        bench.disk.write("sunset", to: Self.a)
        bench.disk.write("dusk", to: Self.b)
        try bench.scan()
        bench.disk.remove(Self.a)
        try await bench.makePipeline().run(.untilDone(patience: .zero))
        #expect(try state(Self.a) == .uploaded && drive("a.jpg") == Self.first)
        #expect(try bench.scan()[0].missing == 0 && bench.ledger.check() == [])
        bench.disk.write("sunset", to: Self.a)
        try await bench.pass()
        #expect(try state(Self.a) == .uploaded && drive("a.jpg") == Self.second)
    }

    @Test(arguments: [Outcome.failed("it is cut", nil), .skipped("it is cut"), .skipped("it is cut", .unfit)])
    func `so does one that is broken, or no photo at all`(outcome: Outcome) async throws {
        try await begin()
        bench.disk.write("sunset", to: Self.a)
        bench.disk.write("dusk", to: Self.b)
        try bench.scan()
        for claim in try bench.ledger.claim(limit: 9, at: bench.time.now) {
            try bench.ledger.commit(claim, outcome: outcome, at: bench.time.now)
        }
        #expect(try state(Self.a) == .uploaded && state(Self.b) == .uploaded)
        #expect(try drive("a.jpg") == Self.first && bench.ledger.check() == [])
        let problem = try #require(try bench.ledger.overview().folders[0].record.problem)
        #expect(problem.contains("a.jpg: it is cut; the photo of this name"), "\(problem)")
        // It is not read again as it is, and is when it was copied anew.
        #expect(try bench.scan()[0].queued == 0)
        bench.disk.write("sunset", to: Self.a)
        try await bench.pass()
        #expect(try state(Self.a) == .uploaded && drive("a.jpg") == Self.second && bench.store.count(.put) == 2)
        bench.disk.remove(Self.b)
        #expect(try bench.scan()[0].missing == 0 && state(Self.b) == .uploaded)
    }

    @Test func `so does one over which the agent was ended twice`() async throws {
        try await begin()
        bench.disk.write("sunset", to: Self.a)
        try bench.scan()
        for _ in 0..<2 {
            let claim = try #require(try bench.ledger.claim(limit: 1, at: bench.time.now).first)
            let recovered = try bench.ledger.whileDecoding(claim) {
                try bench.ledger.recoverInterrupted(at: bench.time.now)
            }
            #expect(recovered == 1)
        }
        #expect(try state(Self.a) == .uploaded && drive("a.jpg") == Self.first)
        #expect(try bench.ledger.overview().folders[0].record.problem?.contains("ended twice") == true)
        #expect(try bench.scan()[0].queued == 0 && bench.ledger.check() == [])
    }

    /// Its own drive was there for a moment, without it.
    @Test func `a file that vanished before it was read is read when it is back`() async throws {
        try await begin()
        bench.disk.write("meadow", to: Self.a)
        try bench.scan()
        let aside = Self.away("/second/a.jpg")
        bench.disk.move(Self.a, to: aside)
        bench.disk.move(Self.away(Self.b), to: Self.b)
        bench.disk.setIdentity(Self.first, at: Bench.gallery)
        try await bench.makePipeline().run(.untilDone(patience: .zero))
        #expect(try state(Self.a) == .missing && state(Self.b) == .uploaded)
        bench.disk.move(Self.b, to: Self.away(Self.b))
        bench.disk.move(aside, to: Self.a)
        bench.disk.setIdentity(Self.second, at: Bench.gallery)
        try bench.scan()
        #expect(try state(Self.a) == .pending)
        try await bench.pass()
        #expect(try state(Self.a) == .uploaded && drive("a.jpg") == Self.second && forget.isStored("meadow"))
        #expect(try state(Self.b) == .uploaded && bench.ledger.check() == [])
    }

    @Test func `so is one whose drive takes the place before it was read`() async throws {
        try await begin()
        bench.disk.write("meadow", to: Self.a)
        bench.disk.write("noon", to: Bench.gallery.appending("c.jpg"))
        try bench.scan()
        let drives = FolderDrives(ledger: bench.ledger, scanner: bench.disk)
        #expect(try drives.accept(at: "", of: folder).taken.count == 1)
        bench.disk.move(Self.a, to: Self.away("/second/a.jpg"))
        try bench.scan()
        #expect(try state(Self.a) == .missing)
        bench.disk.move(Self.away("/second/a.jpg"), to: Self.a)
        try await bench.pass()
        #expect(try state(Self.a) == .uploaded && drive("a.jpg") == Self.second && forget.isStored("meadow"))
    }

    @Test func `a true copy counts as one, though another file had its place before`() async throws {
        try await begin()
        bench.disk.write("meadow", to: Self.a)
        bench.disk.write("dawn", to: Self.b)
        try await bench.pass()
        #expect(try drive("a.jpg") == Self.first && drive("2024/b.jpg") == Self.second)
        bench.disk.rename(Self.a, to: Bench.gallery.appending("meadow.jpg"))
        bench.disk.write("sunset", to: Self.a)
        try await bench.pass()
        #expect(try state(Self.a) == .uploaded && drive("a.jpg") == Self.second && forget.isStored("meadow"))
        #expect(try bench.scan()[0].problems.isEmpty)
        #expect(try bench.ledger.drives(of: folder.id) == [FilePath(): Self.second])
    }

    @Test func `a file that is no copy is named beside the known ones that are not on its drive`() async throws {
        try await begin()
        bench.disk.write("meadow", to: Self.a)
        try await bench.pass()
        for _ in 0..<2 {
            let problem = try #require(try bench.ledger.overview().folders[0].record.problem)
            #expect(problem.contains("/pictures/gallery/a.jpg") && problem.contains("not on it"), "\(problem)")
            try bench.scan()
        }
    }

    @Test func `what is stored can be restored while a file that counts as a copy waits`() async throws {
        try await begin()
        bench.disk.write("meadow", to: Self.a)
        try bench.scan()
        let photo = try #require(try bench.status(Self.a))
        #expect(photo.state == .pending && photo.object == nil)
        let places = RestoreSelection.Places(workingFolder: "/", vacationRoots: [], candidates: { [$0] })
        let found = try await RestoreSelection(
            of: [Self.a.string], in: places, ledger: LedgerQueue(bench.ledger), store: bench.store)
        #expect(found.problems.isEmpty && found.objects.map(\.path) == [Self.a])
    }

    @Test func `somebody says that the second one takes the place, and its photos are stored`() async throws {
        try await begin()
        bench.disk.write("meadow", to: Self.a)
        bench.disk.write("dusk", to: Self.b)
        try await bench.pass()
        let drives = FolderDrives(ledger: bench.ledger, scanner: bench.disk)
        let taken = try drives.accept(at: "", of: folder).taken
        #expect(
            taken.map(\.takeover) == [
                "this drive takes the place; 2 files with known names are others, and are stored anew"
            ])
        try await bench.pass()
        #expect(try state(Self.a) == .uploaded && drive("a.jpg") == Self.second)
        #expect(try forget.isStored("meadow") && forget.isStored("dusk"))
    }

    @Test func `status says what is at the place of a photo whose drive is away`() async throws {
        try await begin()
        bench.disk.write("another sunset", to: Self.a)
        try await bench.pass()
        func words(_ path: FilePath) throws -> String? {
            var elsewhere = PhotosElsewhere(ledger: bench.ledger, scanner: bench.disk)
            return try elsewhere.words(try #require(try bench.status(path)))
        }
        #expect(try words(Self.b) == "its drive is away: at /pictures/gallery is another one")
        #expect(try words(Self.a)?.contains("the file of this name there is not stored") == true)
        mountFirst()
        #expect(try words(Self.a) == nil && words(Self.b) == nil)
    }
}
