import FoundationEssentials
import SyncCore
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

@Suite struct FolderDrivesTests {
    private let bench: Bench
    private var drives: FolderDrives { FolderDrives(ledger: bench.ledger, scanner: bench.disk) }
    private var folder: FolderRecord { bench.folders[0] }

    private static let first = DriveIdentity(.disk, uuid: "1111")
    private static let second = DriveIdentity(.disk, uuid: "2222")
    private static let card = Bench.gallery.appending("SD")
    private static let a = Bench.gallery.appending("a.jpg")
    private static let b = Bench.gallery.pushing("2024/b.jpg")
    private static let c = Bench.gallery.appending("c.jpg")

    init() throws { bench = try Bench() }

    /// Two photos are stored from one drive, and are not on the one that is in its place.
    private func swap(to drive: DriveIdentity? = Self.second) async throws {
        bench.disk.setIdentity(Self.first, at: Bench.gallery)
        bench.disk.write("sunset", to: Self.a)
        bench.disk.write("dawn", to: Self.b)
        try await bench.pass()
        for path in [Self.a, Self.b] { bench.disk.move(path, to: Self.away(path)) }
        bench.disk.setIdentity(drive, at: Bench.gallery)
    }

    private static func away(_ path: FilePath) -> FilePath { FilePath("/away" + path.string) }

    private func state(_ path: FilePath) throws -> PhotoState? { try bench.status(path)?.state }

    @Test(arguments: [second, DriveIdentity(.passing), DriveIdentity(.network, source: "nas:/photos")])
    func `while another drive is in its place no photo is missing, and what is new is stored`(drive: DriveIdentity)
        async throws
    {
        try await swap(to: drive)
        bench.disk.write("noon", to: Self.c)
        let result = try bench.scan()[0]
        #expect(result.missing == 0)
        let problem = try #require(result.problems.first)
        #expect(problem.path == Bench.gallery)
        #expect(problem.message.contains("not the drive that photos were found on, and 2 known files are not on it"))
        #expect(problem.message.contains("sync-agent sync --new-drive /pictures/gallery"))
        #expect(!problem.message.contains("not stored"))
        try await bench.pass()
        #expect(try state(Self.a) == .uploaded && state(Self.b) == .uploaded && state(Self.c) == .uploaded)
        #expect(try bench.ledger.overview().folders[0].record.problem?.contains("--new-drive") == true)
        #expect(try bench.ledger.overview().totals[.missing].files == 0)
    }

    @Test func `a file on another drive that has a known name, and waits, is told`() async throws {
        try await swap()
        bench.disk.write("another photo of that name", to: Self.a)
        let problem = try #require(try bench.scan()[0].problems.first)
        #expect(
            problem.message.contains(
                "2 known files are not on it; 1 file with a known name is another, and is not stored"))
        #expect(try bench.ledger.overview().folders[0].record.problem?.contains("is not stored") == true)
    }

    @Test func `files of the same names and sizes are other ones where their times are others`() async throws {
        try await swap()
        bench.disk.write("meadow", to: Self.a, modifiedSeconds: 2_000_000)
        bench.disk.write("dusk", to: Self.b, modifiedSeconds: 1_000_001)
        let problem = try #require(try bench.scan()[0].problems.first)
        #expect(
            problem.message.contains(
                "1 known file is not on it; 1 file with a known name is another, and is not stored"))
        try await bench.pass()
        #expect(try state(Self.a) == .uploaded && state(Self.b) == .uploaded)
        #expect(try bench.ledger.check() == [])
    }

    @Test func `a file at which nobody can look is not called another one`() async throws {
        try await swap()
        bench.disk.write("another photo of that name", to: Self.a)
        bench.disk.write("dawn, and more", to: Self.b)
        bench.disk.setUnseen(Self.b)
        let others = try drives.others(in: folder)
        #expect(others.map(\.filesNotSeen) == [2])
        #expect(others.first?.words.contains("1 file with a known name is another") == true)
    }

    @Test func `when the drive is back its photos are as they were`() async throws {
        try await swap()
        #expect(try bench.scan()[0].problems.count == 1)
        bench.disk.setIdentity(Self.first, at: Bench.gallery)
        for path in [Self.a, Self.b] { bench.disk.move(Self.away(path), to: path) }
        let result = try bench.scan()[0]
        #expect(result.problems.isEmpty && result.missing == 0 && result.queued == 0)
        #expect(try bench.ledger.overview().folders[0].record.problem == nil)
        bench.disk.remove(Self.a)
        #expect(try bench.scan()[0].missing == 1)
    }

    @Test func `photos of a drive in whose place another one is are not forgotten`() async throws {
        let forget = try ForgetBench()
        let (disk, path) = (forget.bench.disk, Self.a)
        disk.setIdentity(Self.first, at: Bench.gallery)
        disk.write("sunset", to: path)
        try await forget.bench.pass()
        disk.move(path, to: Self.away(path))
        disk.write("noon", to: Self.c)
        disk.setIdentity(Self.second, at: Bench.gallery)
        // With a scan or without.
        for _ in 0..<2 {
            let plan = try await forget.plan(path, onlyGone: true)
            #expect(plan.photos.isEmpty && plan.refused.map(\.photo.path) == [path])
            guard case .away(let reason)? = plan.refused.first?.refusal else {
                Issue.record("\(plan.refused)")
                return
            }
            #expect(reason.contains("at /pictures/gallery is another drive"))
            try await forget.bench.pass()
        }
        disk.setIdentity(Self.first, at: Bench.gallery)
        #expect(try await forget.plan(path, onlyGone: true).photos.map(\.path) == [path])
    }

    @Test func `a photo that waits is not forgotten while another drive is in its place`() async throws {
        bench.disk.setIdentity(Self.first, at: Bench.gallery)
        bench.disk.write("sunset", to: Self.a)
        try bench.scan()
        bench.disk.move(Self.a, to: Self.away(Self.a))
        bench.disk.write("noon", to: Self.c)
        bench.disk.setIdentity(Self.second, at: Bench.gallery)
        try await bench.pass()
        #expect(try state(Self.a) == .pending && state(Self.c) == .uploaded)
        #expect(try bench.status(Self.a)?.error?.contains("another drive") == true)
    }

    @Test func `a drive with all the photos takes the place of the old one`() async throws {
        try await swap()
        bench.disk.write("sunset", to: Self.a)
        bench.disk.write("dawn", to: Self.b)
        let result = try bench.scan()[0]
        #expect(result.problems.isEmpty && result.missing == 0)
        try await bench.pass()
        #expect(bench.store.count(.put) == 2)
        bench.disk.remove(Self.a)
        #expect(try bench.scan()[0].missing == 1)
    }

    @Test func `somebody says that a drive takes the place of the old one`() async throws {
        try await swap()
        bench.disk.write("noon", to: Self.c)
        #expect(try bench.scan()[0].missing == 0)
        // What is not there is mistyped.
        let mistyped = try drives.accept(at: "2024", of: folder)
        #expect(mistyped.taken.isEmpty && mistyped.empty == [Bench.gallery.appending("2024")])
        bench.disk.write("evening", to: Self.b.removingLastComponent().appending("d.jpg"))
        let acceptance = try drives.accept(at: "2024", of: folder)
        #expect(acceptance.taken.map(\.path) == [Bench.gallery] && acceptance.taken.map(\.filesNotSeen) == [2])
        let result = try bench.scan()[0]
        #expect(result.problems.isEmpty)
        #expect(try state(Self.a) == .missing && state(Self.b) == .missing)
        #expect(try drives.accept(at: "", of: folder).taken.isEmpty)
    }

    @Test func `an empty mount point takes no drive's place, and is not noted as one`() async throws {
        try await swap()
        let empty = try bench.scan()[0]
        #expect(empty.problems.count == 1 && empty.problems[0].message.contains("Is its drive mounted?"))
        let acceptance = try drives.accept(at: "", of: folder)
        #expect(acceptance.taken.isEmpty && acceptance.empty == [Bench.gallery])
        bench.disk.write("noon", to: Self.c)
        #expect(try bench.scan()[0].missing == 0)
        #expect(try state(Self.a) == .uploaded && state(Self.b) == .uploaded)
    }

    @Test func `a drive on which no known file is seen is not taken for theirs`() async throws {
        bench.disk.write("sunset", to: Self.a)
        try await bench.pass()
        bench.disk.move(Self.a, to: Self.away(Self.a))
        bench.disk.setIdentity(Self.second, at: Bench.gallery)
        #expect(try bench.scan()[0].problems.count == 1)
        bench.disk.move(Self.away(Self.a), to: Self.a)
        bench.disk.setIdentity(Self.first, at: Bench.gallery)
        #expect(try bench.scan()[0].problems.isEmpty)
        bench.disk.setIdentity(Self.second, at: Bench.gallery)
        bench.disk.move(Self.a, to: Self.away(Self.a))
        bench.disk.write("noon", to: Self.c)
        #expect(try bench.scan()[0].missing == 0 && state(Self.a) == .uploaded)
    }

    @Test func `a drive with other files of the same names takes no place by itself`() async throws {
        try await swap()
        bench.disk.write("another sunset", to: Self.a)
        bench.disk.write("dawn", to: Self.b)
        let result = try bench.scan()[0]
        #expect(result.problems.first?.message.contains("1 known file is not on it") == true)
        // What has another size waits; what has the same is read.
        #expect(try state(Self.a) == .uploaded && state(Self.b) == .pending)
    }

    @Test func `a photo that waits is not stored from what another drive has under its name`() async throws {
        bench.disk.setIdentity(Self.first, at: Bench.gallery)
        bench.disk.write("sunset", to: Self.a)
        try bench.scan()
        bench.disk.move(Self.a, to: Self.away(Self.a))
        bench.disk.write("another sunset", to: Self.a)
        bench.disk.setIdentity(Self.second, at: Bench.gallery)
        try await bench.makePipeline().run(.untilDone(patience: .zero))
        #expect(try state(Self.a) == .pending && bench.memory.keys.isEmpty)
        #expect(try bench.status(Self.a)?.error?.contains("at /pictures/gallery is another drive") == true)
        bench.disk.setIdentity(Self.first, at: Bench.gallery)
        bench.disk.move(Self.away(Self.a), to: Self.a)
        await bench.time.advance(by: .seconds(86_400))
        try await bench.pass()
        #expect(try state(Self.a) == .uploaded && bench.disk.reduced == [Self.a])
    }

    @Test func `the command that is proposed can be pasted`() throws {
        let other = OtherDrive(path: "/media/My SD", isMounted: true, filesNotSeen: 1)
        #expect(other.remedy.hasSuffix("sync-agent sync --new-drive '/media/My SD'"))
    }

    @Test func `a removal that is told while another drive is there needs a look at the whole folder`() async throws {
        try await swap()
        let scan = FolderScan(ledger: bench.ledger, scanner: bench.disk, settle: .seconds(2))
        for gone in [Self.a, Self.b.removingLastComponent()] {
            let answer = try scan.noteGone([gone], in: folder, at: bench.time.now)
            #expect(answer.needsScan && answer.missing == 0)
        }
        _ = try scan.run(folder, from: Self.b.removingLastComponent(), at: bench.time.now)
        #expect(try state(Self.a) == .uploaded && state(Self.b) == .uploaded)
    }

    @Test func `where nothing ever tells one drive from another, what is not there is missing`() async throws {
        bench.disk.write("sunset", to: Self.a)
        try await bench.pass()
        bench.disk.remove(Self.a)
        bench.disk.write("noon", to: Self.c)
        #expect(try bench.scan()[0].problems.isEmpty)
        #expect(try state(Self.a) == .missing)
    }

    // MARK: Below a folder

    private var photo: FilePath { Self.card.appending("x.jpg") }

    /// One photo in the folder, and one on a drive below it.
    private func plug() async throws {
        bench.disk.setIdentity(Self.first, at: Bench.gallery)
        bench.disk.setIdentity(Self.second, at: Self.card)
        bench.disk.setDrive(Self.card, isMounted: true)
        bench.disk.write("sunset", to: Self.a)
        bench.disk.write("noon", to: Self.c)
        bench.disk.write("dawn", to: photo)
        try await bench.pass()
    }

    @Test func `another drive below a folder concerns the photos of its place alone`() async throws {
        try await plug()
        bench.disk.move(photo, to: Self.away(photo))
        bench.disk.write("tower", to: Self.card.appending("y.jpg"))
        bench.disk.setIdentity(DriveIdentity(.disk, uuid: "3333"), at: Self.card)
        bench.disk.remove(Self.a)
        let result = try bench.scan()[0]
        #expect(result.missing == 1 && result.problems.map(\.path) == [Self.card])
        #expect(try state(Self.a) == .missing && state(photo) == .uploaded)
        #expect(try drives.accept(at: "SD", of: folder).taken.map(\.path) == [Self.card])
        #expect(try bench.scan()[0].problems.isEmpty)
        #expect(try state(photo) == .missing)
    }

    @Test func `files in the place of a drive that is not mounted do not tell that its photos are gone`() async throws {
        try await plug()
        bench.disk.move(photo, to: Self.away(photo))
        bench.disk.write("tower", to: Self.card.appending("y.jpg"))
        bench.disk.removeDrive(Self.card)
        bench.disk.setIdentity(nil, at: Self.card)
        for _ in 0..<2 {
            let result = try bench.scan()[0]
            #expect(result.missing == 0 && result.problems.map(\.path) == [Self.card])
            #expect(result.problems.first?.message.contains("no drive is mounted here, but other files") == true)
        }
        #expect(try state(photo) == .uploaded)
        // Its place has to be named: a folder above may have more of them.
        #expect(try drives.accept(at: "", of: folder).taken.isEmpty)
        #expect(try drives.accept(at: "SD", of: folder).taken.map(\.filesNotSeen) == [1])
        let result = try bench.scan()[0]
        #expect(result.missing == 1 && result.problems.isEmpty)
        #expect(try drives.accept(at: "SD", of: folder).taken.isEmpty)
    }

    @Test func `a folder of the same file system that is no longer mounted is a drive that is away`() async throws {
        try await plug()
        bench.disk.move(photo, to: Self.away(photo))
        bench.disk.removeDrive(Self.card)
        bench.disk.setIdentity(Self.first, at: Self.card)
        #expect(try drives.accept(at: "SD", of: folder).empty == [Self.card])
        bench.disk.write("tower", to: Self.card.appending("y.jpg"))
        #expect(try bench.scan()[0].missing == 0 && state(photo) == .uploaded)
    }

    @Test func `whoever gives up a drive is told to make its folder where that is gone`() async throws {
        try await plug()
        bench.disk.setDrive(Self.card, isMounted: false)
        let presence = FolderPresence(ledger: bench.ledger, scanner: bench.disk)
        let gone = try presence.check(folder).whyKept("SD/x.jpg")
        #expect(gone?.contains("make the folder (mkdir /pictures/gallery/SD), put a file, such as a note") == true)
        bench.disk.makeFolder(Self.card)
        let empty = try presence.check(folder).whyKept("SD/x.jpg")
        #expect(empty?.contains("where it does not come back, put a file, such as a note, there") == true)
    }

    @Test func `photos over which a drive was mounted are not missing`() async throws {
        bench.disk.setIdentity(Self.first, at: Bench.gallery)
        bench.disk.write("sunset", to: Self.a)
        bench.disk.write("dawn", to: photo)
        try await bench.pass()
        bench.disk.move(photo, to: Self.away(photo))
        bench.disk.write("tower", to: Self.card.appending("y.jpg"))
        bench.disk.setDrive(Self.card, isMounted: true)
        bench.disk.setIdentity(Self.second, at: Self.card)
        for _ in 0..<2 {
            let result = try bench.scan()[0]
            #expect(result.missing == 0 && result.problems.map(\.path) == [Self.card])
        }
        bench.disk.removeDrive(Self.card)
        bench.disk.setIdentity(nil, at: Self.card)
        bench.disk.remove(Self.card.appending("y.jpg"))
        bench.disk.move(Self.away(photo), to: photo)
        #expect(try bench.scan()[0].problems.isEmpty)
        #expect(try state(photo) == .uploaded)
        bench.disk.remove(photo)
        #expect(try bench.scan()[0].missing == 1)
    }
}
