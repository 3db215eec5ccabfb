import FoundationEssentials
import SyncCore
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

/// Drives of which the system does not tell what they are, or not yet.
@Suite struct UntoldDriveTests {
    private let forget: ForgetBench
    private var bench: Bench { forget.bench }
    private var folder: FolderRecord { bench.folders[0] }
    private var drives: FolderDrives { FolderDrives(ledger: bench.ledger, scanner: bench.disk) }

    private static let first = DriveIdentity(.disk, uuid: "1111")
    private static let second = DriveIdentity(.disk, uuid: "2222")
    /// On the first drive.
    private static let a = Bench.gallery.appending("a.jpg")
    private static let b = Bench.gallery.pushing("2024/b.jpg")
    /// On the second one.
    private static let c = Bench.gallery.appending("c.jpg")

    init() throws { forget = try ForgetBench() }

    private static func away(_ path: FilePath) -> FilePath { FilePath("/away" + path.string) }

    private func state(_ path: FilePath) throws -> PhotoState? { try bench.status(path)?.state }

    /// The photos of the first drive are stored, and the second one is there.
    /// - Parameters:
    ///   - first: what is told of the first one.
    ///   - second: the same.
    private func swap(from first: DriveIdentity?, to second: DriveIdentity?) async throws {
        bench.disk.setIdentity(first, at: Bench.gallery)
        bench.disk.write("sunset", to: Self.a)
        bench.disk.write("dawn", to: Self.b)
        try await bench.pass()
        for path in [Self.a, Self.b] { bench.disk.move(path, to: Self.away(path)) }
        bench.disk.write("noon", to: Self.c)
        bench.disk.setIdentity(second, at: Bench.gallery)
    }

    private func comeBack() {
        bench.disk.move(Self.c, to: Self.away(Self.c))
        for path in [Self.a, Self.b] { bench.disk.move(Self.away(path), to: path) }
        bench.disk.setIdentity(Self.first, at: Bench.gallery)
    }

    /// Why photos are not forgotten; `nil` where one is.
    private func refusals(_ paths: FilePath...) async throws -> [String]? {
        var reasons: [String] = []
        for path in paths {
            let plan = try await forget.plan(path, onlyGone: true)
            guard case .away(let reason)? = plan.refused.first?.refusal else { return nil }
            reasons.append(reason)
        }
        return reasons
    }

    /// As where udev(7) is late, and between a disk that tells a UUID and one that tells something else.
    @Test(arguments: [nil, DriveIdentity(.disk, fsid: "7")] as [DriveIdentity?])
    func `as long as nothing tells that it is the known one, no photo is missing or forgotten`(
        drive: DriveIdentity?
    ) async throws {
        try await swap(from: Self.first, to: drive)
        for _ in 0..<2 {
            let problem = try #require(try bench.scan()[0].problems.first)
            #expect(problem.path == Bench.gallery)
            #expect(problem.message.contains("nothing tells whether this is the drive that photos were found on"))
            #expect(problem.message.contains("2 known files are not on it. Nothing was marked as missing"))
            #expect(problem.message.contains("sync-agent sync --new-drive /pictures/gallery"))
            try await bench.pass()
            let reasons = try #require(try await refusals(Self.a, Self.b))
            #expect(reasons.allSatisfy { $0.contains("whether the drive at /pictures/gallery is the one") })
        }
        #expect(try state(Self.a) == .uploaded && state(Self.b) == .uploaded && state(Self.c) == .uploaded)
        // It is told, and the first one comes back.
        bench.disk.setIdentity(Self.second, at: Bench.gallery)
        #expect(try bench.scan()[0].problems.first?.message.contains("this is not the drive") == true)
        comeBack()
        let result = try bench.scan()[0]
        #expect(result.problems.isEmpty && result.missing == 0 && result.queued == 0)
        #expect(try await refusals(Self.c)?.first?.contains("is another drive") == true)
        #expect(try state(Self.c) == .uploaded)
    }

    @Test func `what was new on a drive that was never told is not missing when the known one is back`() async throws {
        try await swap(from: Self.first, to: nil)
        try await bench.pass()
        comeBack()
        #expect(try bench.scan()[0].missing == 0 && state(Self.c) == .uploaded)
        #expect(try await refusals(Self.c)?.first?.contains("nothing tells whether") == true)
        // It does not come back.
        #expect(try drives.accept(at: "", of: folder).taken.map(\.filesNotSeen) == [1])
        #expect(try bench.scan()[0].missing == 1 && state(Self.c) == .missing)
    }

    @Test func `a photo that was met on a drive that was not told, and is written on since, is stored`() async throws {
        try await swap(from: Self.first, to: nil)
        try await bench.pass()
        bench.disk.touch(Self.c, rewriting: "dusk")
        bench.disk.setIdentity(Self.second, at: Bench.gallery)
        try await bench.pass()
        #expect(try state(Self.c) == .uploaded && forget.isStored("dusk"))
        #expect(try bench.ledger.drive(ofFile: "c.jpg", in: folder.id) == Self.second)
    }

    @Test func `status calls no drive away that may be there`() async throws {
        try await swap(from: Self.first, to: nil)
        func words() throws -> String? {
            var elsewhere = PhotosElsewhere(ledger: bench.ledger, scanner: bench.disk)
            return try elsewhere.words(try #require(try bench.status(Self.a)))
        }
        #expect(
            try words() == "nothing tells whether the drive at /pictures/gallery is the one that it was found on")
        bench.disk.setIdentity(Self.second, at: Bench.gallery)
        #expect(try words() == "its drive is away: at /pictures/gallery is another one")
    }

    @Test func `a hint that files are gone needs a look at the whole folder`() async throws {
        try await swap(from: Self.first, to: nil)
        let scan = FolderScan(ledger: bench.ledger, scanner: bench.disk, settle: .seconds(2))
        let answer = try scan.noteGone([Self.a], in: folder, at: bench.time.now)
        #expect(answer.needsScan && answer.missing == 0)
        #expect(try state(Self.a) == .uploaded)
    }

    @Test func `somebody says that it takes the place of the known one`() async throws {
        try await swap(from: Self.first, to: nil)
        #expect(try drives.accept(at: "", of: folder).taken.map(\.filesNotSeen) == [2])
        let result = try bench.scan()[0]
        #expect(result.problems.isEmpty)
        #expect(try state(Self.a) == .missing && state(Self.b) == .missing)
    }

    @Test func `a drive that is told is not the one that was not by a copy of one photo of that`() async throws {
        try await swap(from: nil, to: Self.second)
        bench.disk.write("sunset", to: Self.a)
        for _ in 0..<2 {
            let problem = try #require(try bench.scan()[0].problems.first)
            #expect(problem.message.contains("nothing tells whether this is the drive that photos were found on"))
            #expect(problem.message.contains("1 known file is not on it"))
            #expect(try await refusals(Self.b)?.first?.contains("nothing tells whether") == true)
        }
        #expect(try state(Self.b) == .uploaded)
        #expect(try bench.ledger.drives(of: folder.id).isEmpty)
        #expect(try drives.accept(at: "", of: folder).taken.map(\.filesNotSeen) == [1])
        #expect(try bench.ledger.drives(of: folder.id) == [FilePath(): Self.second])
        #expect(try bench.scan()[0].missing == 1 && state(Self.b) == .missing)
    }

    @Test func `files that were read, and are none of its photos, do not make a drive the one that was not told`()
        async throws
    {
        try await swap(from: nil, to: Self.second)
        bench.disk.write("meadow", to: Self.a)
        bench.disk.write("dusk", to: Self.b)
        for _ in 0..<2 {
            try await bench.pass()
            #expect(try bench.scan()[0].problems.first?.message.contains("nothing tells whether") == true)
        }
        #expect(try bench.ledger.drives(of: folder.id).isEmpty)
        #expect(try state(Self.a) == .uploaded && state(Self.b) == .uploaded)
        #expect(try !forget.isStored("meadow") && !forget.isStored("dusk"))
        bench.disk.remove(Self.a)
        #expect(try bench.scan()[0].missing == 0)
        #expect(try await refusals(Self.a)?.first?.contains("nothing tells whether") == true)
    }

    @Test func `copies prove no drive while they wait to be read, and once all were read they do`() async throws {
        try await swap(from: nil, to: Self.second)
        bench.disk.write("sunset", to: Self.a)
        bench.disk.write("dawn", to: Self.b)
        for _ in 0..<2 {
            #expect(try bench.scan()[0].missing == 0 && state(Self.a) == .pending)
            #expect(try bench.ledger.drives(of: folder.id).isEmpty)
        }
        try await bench.pass()
        #expect(try bench.scan()[0].problems.isEmpty)
        #expect(try bench.ledger.drives(of: folder.id) == [FilePath(): Self.second])
        #expect(try bench.ledger.drive(ofFile: "a.jpg", in: folder.id) == Self.second)
        bench.disk.remove(Self.b)
        #expect(try bench.scan()[0].missing == 1)
    }

    @Test func `a place below that tells nothing of itself makes no doubt of the drive around it`() async throws {
        let usb = Bench.gallery.appending("Usb")
        bench.disk.setDrive(usb, isMounted: true)
        bench.disk.setIdentity(DriveIdentity(.passing), at: usb)
        bench.disk.write("noon", to: usb.appending("c.jpg"))
        try await bench.pass()
        #expect(try state(usb.appending("c.jpg")) == .uploaded)
        #expect(try bench.ledger.drive(ofFile: "Usb/c.jpg", in: folder.id) == nil)
        bench.disk.setIdentity(Self.first, at: Bench.gallery)
        #expect(try !drives.places(of: folder).isOther(at: "a.jpg"))
    }

    @Test func `a file that is gone when it is to be read is looked up alone, however many are known`() async throws {
        bench.disk.setIdentity(nil, at: Bench.gallery)
        let known = (0..<60).map { Bench.gallery.appending("\($0).jpg") }
        for path in known { bench.disk.write(path.string, to: path) }
        try await bench.pass()
        for path in known { bench.disk.move(path, to: Self.away(path)) }
        bench.disk.write("dawn", to: Self.b)
        bench.disk.write("noon", to: Self.c)
        bench.disk.setIdentity(Self.second, at: Bench.gallery)
        #expect(try !bench.scan()[0].problems.isEmpty)
        bench.disk.remove(Self.c)
        let before = bench.disk.stampReads
        try await bench.makePipeline().run(.untilDone(patience: .zero))
        #expect(try state(Self.b) == .uploaded && state(Self.c) == nil && state(known[0]) == .uploaded)
        #expect(bench.disk.stampReads - before < 30)
    }

    @Test func `a file that was met on the drive proves that it is the one that was not told`() async throws {
        try await swap(from: nil, to: nil)
        comeBack()
        bench.disk.remove(Self.b)
        let result = try bench.scan()[0]
        #expect(result.problems.isEmpty && result.missing == 1)
        #expect(try bench.ledger.drives(of: folder.id) == [FilePath(): Self.first])
        #expect(try state(Self.a) == .uploaded && state(Self.b) == .missing)
    }
}
