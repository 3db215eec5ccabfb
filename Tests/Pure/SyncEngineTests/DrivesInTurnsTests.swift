import FoundationEssentials
import SyncCore
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

/// Two drives take turns at the place of a watched folder, which is known as that of the first one.
@Suite struct DrivesInTurnsTests {
    private let forget: ForgetBench
    private var bench: Bench { forget.bench }
    private var folder: FolderRecord { bench.folders[0] }
    private var drives: FolderDrives { FolderDrives(ledger: bench.ledger, scanner: bench.disk) }

    private static let first = DriveIdentity(.disk, uuid: "1111")
    private static let second = DriveIdentity(.disk, uuid: "2222")
    private static let third = DriveIdentity(.disk, uuid: "3333")
    /// On the first one.
    private static let a = Bench.gallery.appending("a.jpg")
    /// On the second one.
    private static let b = Bench.gallery.pushing("2024/b.jpg")
    private static let c = Bench.gallery.appending("c.jpg")

    init() throws { forget = try ForgetBench() }

    /// The photo of the first one is stored, and the second one is there, with photos that nobody has seen.
    private func begin() async throws {
        bench.disk.setIdentity(Self.first, at: Bench.gallery)
        bench.disk.write("sunset", to: Self.a)
        try await bench.pass()
        leave(Self.a)
        bench.disk.write("dawn", to: Self.b)
        bench.disk.write("noon", to: Self.c)
        bench.disk.setIdentity(Self.second, at: Bench.gallery)
    }

    private func leave(_ paths: FilePath...) {
        for path in paths { bench.disk.move(path, to: Self.away(path)) }
    }

    private func comeBack(_ paths: FilePath...) {
        for path in paths { bench.disk.move(Self.away(path), to: path) }
    }

    private func mountFirst() {
        leave(Self.b, Self.c)
        comeBack(Self.a)
        bench.disk.setIdentity(Self.first, at: Bench.gallery)
    }

    private func mountSecond() {
        leave(Self.a)
        comeBack(Self.b, Self.c)
        bench.disk.setIdentity(Self.second, at: Bench.gallery)
    }

    private static func away(_ path: FilePath) -> FilePath { FilePath("/away" + path.string) }

    private func state(_ path: FilePath) throws -> PhotoState? { try bench.status(path)?.state }

    private func isRefused(_ path: FilePath) async throws -> Bool {
        let plan = try await forget.plan(path, onlyGone: true)
        guard plan.photos.isEmpty, case .away(let reason)? = plan.refused.first?.refusal else { return false }
        return reason.contains("at /pictures/gallery is another drive than the one that it was found on")
    }

    @Test func `photos of both are neither missing nor forgotten`() async throws {
        try await begin()
        try await bench.pass()
        for _ in 0..<2 {
            #expect(try await isRefused(Self.a))
            mountFirst()
            let result = try bench.scan()[0]
            #expect(result.missing == 0 && result.queued == 0 && result.problems.isEmpty)
            #expect(try await isRefused(Self.b))
            #expect(try await isRefused(Self.c))
            mountSecond()
            let other = try bench.scan()[0]
            #expect(other.missing == 0 && other.queued == 0 && other.problems.map(\.path) == [Bench.gallery])
        }
        for path in [Self.a, Self.b, Self.c] { #expect(try state(path) == .uploaded) }
        #expect(bench.store.count(.put) == 3)
    }

    @Test func `photos that wait go on waiting while the other one is there`() async throws {
        try await begin()
        try bench.scan()
        mountFirst()
        try await bench.pass()
        #expect(try state(Self.b) == .pending && state(Self.c) == .pending)
        #expect(try bench.ledger.overview().totals[.pending].files == 2)
        #expect(try bench.status(Self.b)?.error?.contains("at /pictures/gallery is another drive") == true)
        mountSecond()
        await bench.time.advance(by: .seconds(86_400))
        try await bench.pass()
        #expect(try state(Self.b) == .uploaded && state(Self.c) == .uploaded && state(Self.a) == .uploaded)
    }

    @Test func `what is deleted on the one that is there is missing, whichever the place is known for`() async throws {
        try await begin()
        let hinted = Bench.gallery.appending("d.jpg")
        bench.disk.write("evening", to: hinted)
        try await bench.pass()
        bench.disk.remove(hinted)
        let scan = FolderScan(ledger: bench.ledger, scanner: bench.disk, settle: .seconds(2))
        let answer = try scan.noteGone([hinted, Self.a], in: folder, at: bench.time.now)
        #expect(answer.missing == 1)
        // With its directory.
        bench.disk.remove(Self.b)
        #expect(try bench.scan()[0].missing == 1)
        #expect(try state(Self.b) == .missing && state(hinted) == .missing && state(Self.a) == .uploaded)
        #expect(try await forget.plan(Self.b, onlyGone: true).photos.map(\.path) == [Self.b])
        mountFirst()
        #expect(try bench.scan()[0].missing == 0)
        #expect(try await isRefused(Self.b))
    }

    /// As where the system has not read yet what is on a device.
    @Test func `what nothing is told of is taken for none of both, until it is told`() async throws {
        try await begin()
        try await bench.pass()
        mountFirst()
        bench.disk.setIdentity(nil, at: Bench.gallery)
        bench.disk.write("evening", to: Bench.gallery.appending("d.jpg"))
        try await bench.pass()
        #expect(try bench.ledger.drive(ofFile: "d.jpg", in: folder.id) == DriveIdentity.untold)
        bench.disk.remove(Self.a)
        #expect(try bench.scan()[0].missing == 0)
        for path in [Self.a, Self.b, Self.c] {
            #expect(try state(path) == .uploaded)
            #expect(try await forget.plan(path, onlyGone: true).photos.isEmpty)
        }
        bench.disk.setIdentity(Self.first, at: Bench.gallery)
        #expect(try bench.scan()[0].missing == 1)
        #expect(try state(Self.a) == .missing && state(Self.b) == .uploaded && state(Self.c) == .uploaded)
        #expect(try bench.ledger.drive(ofFile: "d.jpg", in: folder.id) == Self.first)
    }

    @Test func `a file with the name of a photo of the other one waits, and is told`() async throws {
        try await begin()
        try await bench.pass()
        mountFirst()
        bench.disk.write("another noon", to: Self.c)
        let result = try bench.scan()[0]
        #expect(result.queued == 0 && result.problems.map(\.path) == [Bench.gallery])
        let words = try #require(result.problems.first?.message)
        #expect(words.contains("1 file is not stored: known files of the same names were found on another drive"))
        #expect(words.contains("(/pictures/gallery/c.jpg)"))
        #expect(words.contains("sync-agent sync --new-drive /pictures/gallery"))
        #expect(try state(Self.c) == .uploaded)
        // The other one does not come back.
        #expect(try drives.accept(at: "", of: folder).taken.map(\.filesNotSeen) == [2])
        let after = try bench.scan()[0]
        #expect(after.queued == 1 && after.missing == 1 && after.problems.isEmpty)
        #expect(try state(Self.b) == .missing && state(Self.c) == .pending)
        #expect(try drives.accept(at: "", of: folder).taken.isEmpty)
    }

    @Test func `a new drive takes the place of the one that is known, and not that of the other`() async throws {
        try await begin()
        try await bench.pass()
        leave(Self.b, Self.c)
        bench.disk.write("evening", to: Bench.gallery.appending("d.jpg"))
        bench.disk.setIdentity(Self.third, at: Bench.gallery)
        let problem = try #require(try bench.scan()[0].problems.first)
        #expect(problem.message.contains("1 known file is not on it"))
        #expect(try drives.accept(at: "", of: folder).taken.map(\.filesNotSeen) == [1])
        let result = try bench.scan()[0]
        #expect(result.missing == 1 && result.problems.isEmpty)
        #expect(try state(Self.a) == .missing && state(Self.b) == .uploaded && state(Self.c) == .uploaded)
    }

    @Test func `a copy of the one that is known takes its place, and not that of the other`() async throws {
        try await begin()
        try await bench.pass()
        leave(Self.b, Self.c)
        bench.disk.write("sunset", to: Self.a)
        bench.disk.write("evening", to: Bench.gallery.appending("d.jpg"))
        bench.disk.setIdentity(Self.third, at: Bench.gallery)
        try await bench.pass()
        let result = try bench.scan()[0]
        #expect(result.missing == 0 && result.problems.isEmpty)
        #expect(try bench.ledger.drives(of: folder.id) == [FilePath(): Self.third])
        bench.disk.remove(Self.a)
        #expect(try bench.scan()[0].missing == 1)
        #expect(try state(Self.a) == .missing && state(Self.b) == .uploaded && state(Self.c) == .uploaded)
    }
}
