import FoundationEssentials
import SyncCore
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

@Suite struct FolderScanTests {
    private let bench: Bench

    init() throws { bench = try Bench() }

    @Test func `an empty root with known files keeps its state and says so`() async throws {
        bench.disk.write("sunset", to: Bench.gallery.appending("a.jpg"))
        bench.disk.write("dawn", to: Bench.gallery.appending("2024").appending("b.jpg"))
        try await bench.pass()
        bench.disk.setMounted(false)
        let result = try bench.scan()[0]
        #expect(result.missing == 0)
        #expect(result.problems.first?.message.contains("Is its drive mounted?") == true)
        #expect(try bench.states().values.allSatisfy { $0 == .uploaded })
    }

    @Test func `a folder whose files are below one that cannot be read is not called empty`() async throws {
        let trip = Bench.gallery.appending("2024")
        bench.disk.write("dawn", to: trip.appending("b.jpg"))
        try await bench.pass()
        bench.disk.setUnreadable(trip)
        let result = try bench.scan()[0]
        #expect(result.missing == 0 && result.problems.map(\.code) == [.denied, .missing])
        let message = try #require(result.problems.last?.message)
        #expect(message.contains("no file can be seen in the folder (\(trip) cannot be read), and 1 file is known"))
        #expect(!message.contains("the folder is empty"))
        #expect(try bench.states().values.allSatisfy { $0 == .uploaded })
    }

    @Test func `a removed file that cannot be looked at is left to a scan of its folder`() async throws {
        let photo = Bench.gallery.appending("a.jpg")
        bench.disk.write("sunset", to: photo)
        try await bench.pass()
        bench.disk.setUnseen(photo)
        let scan = FolderScan(ledger: bench.ledger, scanner: bench.disk, settle: .seconds(2))
        let answer = try scan.noteGone([photo], in: bench.folders[0], at: bench.time.now)
        #expect(answer.needsScan && answer.missing == 0)
        #expect(try bench.states()[photo.string] == .uploaded)
    }

    @Test func `a note in a folder that was emptied on purpose tells that its photos are gone`() async throws {
        let photo = Bench.gallery.appending("a.jpg")
        bench.disk.write("sunset", to: photo)
        try await bench.pass()
        bench.disk.remove(photo)
        #expect(try bench.scan()[0].problems.first?.message.contains("put a file (a note) into it") == true)
        bench.disk.write("all of it was moved", to: Bench.gallery.appending("note.txt"))
        let result = try bench.scan()[0]
        #expect(result.problems.isEmpty && result.missing == 1)
        #expect(try bench.states()[photo.string] == .missing)
    }

    @Test(arguments: [true, false])
    func `photos that wait are neither missing nor forgotten while their drive is away`(isWholeFolder: Bool)
        async throws
    {
        let drive = isWholeFolder ? Bench.gallery : Bench.gallery.appending("SD")
        let (stored, new) = (drive.appending("a.jpg"), drive.appending("b.jpg"))
        func mount(_ isMounted: Bool) {
            isWholeFolder ? bench.disk.setMounted(isMounted) : bench.disk.setDrive(drive, isMounted: isMounted)
        }
        if !isWholeFolder { bench.disk.write("noon", to: Bench.gallery.appending("c.jpg")) }
        bench.disk.write("sunset", to: stored)
        mount(true)
        try await bench.pass()
        bench.disk.write("sunset, retouched", to: stored)
        bench.disk.write("dawn", to: new)
        try bench.scan()

        mount(false)
        try await bench.pass()
        #expect(try bench.states()[stored.string] == .pending && bench.states()[new.string] == .pending)
        #expect(try bench.status(new)?.error?.contains("Is its drive mounted?") == true)

        mount(true)
        await bench.time.advance(by: .seconds(86_400))
        try await bench.pass()
        #expect(try bench.states()[stored.string] == .uploaded && bench.states()[new.string] == .uploaded)
    }

    @Test(arguments: [true, false])
    func `photos on a drive that is not mounted are not missing, and status says so`(isAlone: Bool) async throws {
        let drive = Bench.gallery.appending("SD")
        let photo = drive.pushing("DCIM/a.jpg")
        if !isAlone { bench.disk.write("sunset", to: Bench.gallery.appending("b.jpg")) }
        bench.disk.write("dawn", to: photo)
        bench.disk.setDrive(drive, isMounted: true)
        try await bench.pass()
        #expect(try mounts() == [true])

        bench.disk.setDrive(drive, isMounted: false)
        let result = try bench.scan()[0]
        #expect(result.missing == 0)
        let problem = try #require(result.problems.first)
        #expect(problem.path == drive && problem.message.contains("no drive is mounted here, and 1 file is known"))
        #expect(try bench.status(photo)?.state == .uploaded)
        #expect(try mounts() == [false])
        #expect(try bench.scan()[0].problems == [problem])

        bench.disk.setDrive(drive, isMounted: true)
        #expect(try bench.scan()[0].problems.isEmpty)
        #expect(try mounts() == [true])
        try await bench.pass()
        #expect(bench.disk.reduced.count == (isAlone ? 1 : 2))
    }

    @Test func `photos that are deleted from a mounted drive are missing`() async throws {
        let drive = Bench.gallery.appending("SD")
        bench.disk.write("sunset", to: Bench.gallery.appending("b.jpg"))
        bench.disk.write("dawn", to: drive.appending("a.jpg"))
        bench.disk.setDrive(drive, isMounted: true)
        try await bench.pass()
        bench.disk.remove(drive.appending("a.jpg"))
        #expect(try bench.scan()[0].missing == 1)
        // An empty drive that is taken away is no news.
        bench.disk.setDrive(drive, isMounted: false)
        #expect(try bench.scan()[0].problems.isEmpty)
        #expect(try mounts().isEmpty)
    }

    @Test func `a place of a drive that holds other files now is a folder like any other`() async throws {
        let drive = Bench.gallery.appending("SD")
        bench.disk.write("dawn", to: drive.appending("a.jpg"))
        bench.disk.setDrive(drive, isMounted: true)
        try await bench.pass()
        bench.disk.remove(drive.appending("a.jpg"))
        bench.disk.removeDrive(drive)
        bench.disk.write("noon", to: drive.appending("b.jpg"))
        let result = try bench.scan()[0]
        #expect(result.missing == 1 && result.problems.isEmpty)
        #expect(try mounts().isEmpty)
    }

    private func mounts() throws -> [Bool] {
        try bench.ledger.overview().folders.flatMap { $0.mounts.map(\.isMounted) }
    }

    @Test func `a file that was deleted is missing, and comes back without an upload`() async throws {
        let path = Bench.gallery.appending("a.jpg")
        bench.disk.write("sunset", to: path)
        bench.disk.write("dawn", to: Bench.gallery.appending("b.jpg"))
        try await bench.pass()
        bench.disk.remove(path)
        #expect(try bench.scan()[0].missing == 1)
        #expect(try bench.status(path)?.state == .missing)
        bench.disk.write("sunset", to: path)
        try await bench.pass()
        #expect(try bench.status(path)?.state == .uploaded)
        #expect(bench.store.count(.put) == 2)
        #expect(bench.memory.keys.count == 2)
    }

    @Test func `a folder that cannot be read says nothing about its photos`() async throws {
        let trip = Bench.vacations.appending("Paris")
        bench.disk.write("beach", to: trip.appending("day 1").appending("a.jpg"))
        bench.disk.write("tower", to: Bench.vacations.appending("b.jpg"))
        try await bench.pass()
        bench.disk.setUnreadable(trip)
        bench.disk.remove(trip.appending("day 1").appending("a.jpg"))
        let result = try bench.scan()[1]
        #expect(result.problems.map(\.code) == [.denied])
        #expect(try bench.status(trip.appending("day 1").appending("a.jpg"))?.state == .uploaded)
    }

    @Test func `every folder that cannot be read is named, the first with its reason`() throws {
        for name in ["Paris", "Rome", "Oslo"] { bench.disk.setUnreadable(Bench.vacations.appending(name)) }
        #expect(try bench.scan()[1].problems.count == 3)
        let problem = try #require(try bench.ledger.overview().folders[1].record.problem)
        #expect(problem.contains("Oslo: permission denied; and 2 more: "))
        #expect(problem.contains("vacations/Paris, ") && problem.hasSuffix("vacations/Rome"))
    }

    @Test func `a folder that vanished takes its photos along`() async throws {
        bench.disk.write("beach", to: Bench.vacations.appending("Paris").appending("a.jpg"))
        bench.disk.write("tower", to: Bench.vacations.appending("b.jpg"))
        try await bench.pass()
        bench.disk.remove(Bench.vacations.appending("Paris").appending("a.jpg"))
        #expect(try bench.scan()[1].missing == 1)
    }

    @Test func `a file that was just written is handed back with what is left of its time`() throws {
        let now = Int64(bench.time.now.timeIntervalSince1970)
        bench.disk.write("fresh", to: Bench.gallery.appending("a.jpg"), modifiedSeconds: now - 1)
        bench.disk.write("from the future", to: Bench.gallery.appending("b.jpg"), modifiedSeconds: now + 3_600)
        var seen: [Int] = []
        let scan = FolderScan(ledger: bench.ledger, scanner: bench.disk, settle: .seconds(2))
        let result = try scan.run(bench.folders[0], from: Bench.gallery, at: bench.time.now) { seen.append($0) }
        #expect(result.filesSeen == 2 && seen.last == 2)
        #expect(result.unsettled.map(\.file) == [Bench.gallery.appending("a.jpg")])
        #expect(result.unsettled.map(\.wait) == [.seconds(1)])
        #expect(result.queued == 1)
        // Nor is it called safe until then, and only the other one is claimed.
        #expect(try bench.ledger.overview().totals[.pending].files == 2)
        #expect(try bench.ledger.claim(limit: 9, at: bench.time.now).map(\.file) == [Bench.gallery.appending("b.jpg")])
    }

    @Test func `a photo that was just written is not taken in yet for those who look at its folder`() async throws {
        let trip = Bench.vacations.appending("Rome")
        let photo = trip.appending("a.jpg")
        bench.disk.write("fresh", to: photo, modifiedSeconds: Int64(bench.time.now.timeIntervalSince1970))
        let pool = BlockingPool(name: "look", threads: 1)
        for unseen in [[photo], []] {
            try bench.scan()
            let look = try await FolderSnapshot.take(
                at: trip, bench.disk, ledger: LedgerQueue(bench.ledger), pool: pool)
            #expect(look.unseen == unseen)
            await bench.time.advance(by: .seconds(2))
        }
    }

    @Test func `a file that was just written and is no photo has no turn in the queue once it is whole`() async throws {
        bench.disk.write("text", to: Self.note, modifiedSeconds: Int64(bench.time.now.timeIntervalSince1970))
        #expect(try check()[0].queued == 0)
        #expect(try bench.status(Self.note)?.state == .pending)
        await bench.time.advance(by: .seconds(2))
        let result = try check()[0]
        #expect(result.queued == 0 && result.skipped == 1)
        #expect(try bench.status(Self.note)?.state == .skipped)
    }

    @Test func `where times are whole seconds, what is written twice within one of them is seen`() throws {
        let now = Int64(bench.time.now.timeIntervalSince1970)
        let photo = Bench.gallery.appending("a.jpg")
        func write(_ text: String) {
            bench.disk.write(text, to: photo, modifiedSeconds: now)
            bench.disk.setChanged(photo, now * 1_000_000_000)
        }
        func queued(after seconds: Double) throws -> Int {
            try FolderScan(ledger: bench.ledger, scanner: bench.disk, settle: .zero)
                .run(bench.folders[0], from: Bench.gallery, at: bench.time.now.addingTimeInterval(seconds)).queued
        }
        write("one")
        #expect(try queued(after: 0.1) == 0)
        write("two")
        #expect(try queued(after: 1.9) == 0)
        #expect(try queued(after: 2) == 1)
    }

    // MARK: What is skipped at once

    private static let note = Bench.gallery.appending("notes.txt")

    private func check(_ time: TimeSource? = nil) throws -> [FolderScan.Summary] {
        let scan = FolderScan(
            ledger: bench.ledger, scanner: bench.disk, settle: .seconds(2),
            triage: FileTriage(scanner: bench.disk, reducer: bench.disk, time: time ?? bench.time.source))
        return try bench.folders.map { try scan.run($0, from: $0.path, at: bench.time.now) }
    }

    /// Moves on with each reading.
    private func clock(tickingBy tick: Duration) -> TimeSource {
        let readings = Lock(0)
        let next: @Sendable () -> Int = {
            readings.withLock { count in
                count += 1
                return count
            }
        }
        return TimeSource(
            now: bench.time.source.now, monotonic: { tick * next() }, sleep: bench.time.source.sleep,
            random: bench.time.source.random)
    }

    @Test func `a new file that is no photo is skipped without a turn in the queue`() async throws {
        bench.disk.write("text", to: Self.note)
        bench.disk.write("sunset", to: Bench.gallery.appending("a.jpg"))
        bench.disk.write("text", to: Bench.projects.appending("readme"))
        let results = try check()
        #expect(results.map(\.skipped) == [1, 0, 0] && results.map(\.queued) == [1, 0, 1])
        let note = try #require(try bench.status(Self.note))
        #expect(note.state == .skipped && note.attempts == 0)
        #expect(note.why == "neither a photo nor a video; it stays on this machine")
        try await bench.makePipeline().run(.untilDone(patience: .zero))
        #expect(bench.disk.examined.compactMap(\.lastComponent?.string).sorted() == ["a.jpg", "readme"])
        #expect(try check().map(\.skipped) == [0, 0, 0])
        // What it becomes is read.
        bench.disk.write("noon", to: Self.note)
        #expect(try check().map(\.queued) == [1, 0, 0])
        try await bench.makePipeline().run(.untilDone(patience: .zero))
        #expect(try bench.status(Self.note)?.state == .uploaded)
    }

    @Test func `what a filter leaves out is for the filter of its turn to say`() async throws {
        let rules = WatchedFolder(kind: .gallery, path: Bench.gallery, filter: try PathFilter(["- raw/"]))
        let folder = try #require(try bench.ledger.register([rules]).first)
        bench.disk.write("text", to: Bench.gallery.pushing("raw/a.txt"))
        let scan = FolderScan(
            ledger: bench.ledger, scanner: bench.disk, settle: .seconds(2),
            triage: FileTriage(scanner: bench.disk, reducer: bench.disk, time: bench.time.source))
        #expect(try scan.run(folder, from: folder.path, at: bench.time.now).queued == 1)
        #expect(bench.disk.textReads == 0)
    }

    @Test func `a file that is being written has its turn in the queue`() throws {
        bench.disk.write("text", to: Self.note)
        bench.disk.setBeingWritten(Self.note, true)
        #expect(try check()[0].queued == 1)
        #expect(try bench.status(Self.note)?.state == .pending)
    }

    @Test func `where a look takes longer than a turn in the queue, the files have their turns`() throws {
        for index in 0..<100 { bench.disk.write("text \(index)", to: Bench.gallery.appending("\(index)")) }
        let slow = clock(tickingBy: .milliseconds(10))
        let result = try check(slow)[0]
        #expect(result.skipped == bench.disk.textReads && result.skipped < 10)
        #expect(result.queued == 100 - result.skipped)
    }

    @Test func `a forecast looks at each file, however long that takes`() throws {
        for index in 0..<100 { bench.disk.write("text \(index)", to: Bench.gallery.appending("\(index)")) }
        let scan = FolderScan(
            ledger: bench.ledger, scanner: bench.disk, settle: .seconds(2),
            triage: FileTriage(
                scanner: bench.disk, reducer: bench.disk, isPatient: true, time: clock(tickingBy: .seconds(3_600))))
        #expect(try scan.run(bench.folders[0], from: Bench.gallery, at: bench.time.now).skipped == 100)
    }
}
