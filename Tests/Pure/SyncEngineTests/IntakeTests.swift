import FoundationEssentials
import Logging
import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct IntakeTests {
    let bench: Bench
    let source = ScriptedSource()
    private let skipped = Wakeup()
    /// The thread that has told of it.
    private let teller = Lock("")
    let photo = Bench.gallery.appending("a.jpg")
    let watchdog: DiskWatchdog

    init() throws {
        bench = try Bench()
        watchdog = DiskWatchdog(time: bench.time.source)
    }

    /// Runs the intake while `body` plays with it.
    /// - Parameters:
    ///   - logger: that of the bench, which says nothing, else.
    ///   - disks: one thread for all folders, else.
    ///   - folders: those of the bench, else.
    func running(
        _ logger: Logger? = nil, disks: DiskLanes? = nil, folders: [FolderRecord]? = nil,
        _ body: @Sendable () async throws -> Void
    ) async throws {
        let intake = Intake(
            folders: folders ?? bench.folders, ledger: LedgerQueue(bench.ledger), scanner: bench.disk,
            reducer: bench.disk, source: source,
            disks: disks ?? DiskLanes(sharing: BlockingPool(name: "intake", threads: 1)), settle: .seconds(2),
            rescanEvery: .seconds(3_600), patience: bench.patience, watchdog: watchdog, work: bench.work,
            skipped: { [skipped, teller] in
                let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
                teller.withLock { $0 = name ?? "unknown" }
                skipped.signal()
            }, time: bench.time.source, logger: logger ?? bench.logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                do { try await intake.run(onWatching: {}) } catch is CancellationError {}
            }
            try await body()
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    /// Waits for the intake's signal that the queue has something new.
    private func queued() async {
        await bench.work.wait(atMost: nil, time: bench.time.source)
    }

    /// Waits until what was hinted at is noted as not whole yet.
    private func noted() async {
        // One sleeper waits for the hourly rescan, the other for the file.
        await bench.time.waitForSleepers(2)
        await bench.time.advance(by: .milliseconds(100))
        await queued()
    }

    /// Waits until what was hinted at is noted, and then for the settle time.
    private func settled() async {
        await noted()
        await bench.time.waitForSleepers(2)
        await bench.time.advance(by: .milliseconds(1_900))
    }

    /// Waits until the folder's problem has these words.
    private func problem(_ words: String) async throws {
        try await eventually(words) {
            try bench.ledger.overview().folders[0].record.problem.flatMap { $0.contains(words) ? words : nil }
        }
    }

    /// What there is to do in the queue.
    private func claimed() throws -> [FilePath] {
        guard case .photos(let claims) = try bench.ledger.claimNext(at: bench.time.now) else { return [] }
        return claims.map(\.file)
    }

    @Test func `a closed file is known at once, and queued when it has been quiet for the settle time`() async throws {
        try await running {
            bench.disk.write("sunset", to: photo)
            source.send(.file(photo))
            await noted()
            let before = try (bench.states(), claimed())
            #expect(before.0 == [photo.string: .pending] && before.1 == [])
            await bench.time.waitForSleepers(2)
            await bench.time.advance(by: .milliseconds(1_900))
            await queued()
        }
        #expect(try bench.states() == [photo.string: .pending])
        #expect(try claimed() == [photo])
    }

    @Test func `a file that is being written is known, and has its turn when it is whole, or after five settle times`()
        async throws
    {
        try await running {
            bench.disk.write("sun", to: photo)
            bench.disk.setBeingWritten(photo, true)
            source.send(.writing(photo))
            await noted()
            let meanwhile = try (bench.states(), claimed(), bench.ledger.nextTry(at: bench.time.now))
            #expect(meanwhile.0 == [photo.string: .pending] && meanwhile.1 == [])
            let wait = try #require(meanwhile.2).timeIntervalSince(bench.time.now)
            #expect(abs(wait - 10) < 0.01)
            // Written on, and closed: it is another file than the one that waits.
            bench.disk.write("sunset", to: photo)
            bench.disk.setBeingWritten(photo, false)
            source.send(.file(photo))
            await bench.time.waitForSleepers(2)
            await bench.time.advance(by: .seconds(2))
            await queued()
        }
        #expect(try claimed() == [photo])
    }

    @Test func `a file that goes before it is whole is forgotten`() async throws {
        let other = Bench.gallery.appending("b.jpg")
        try await running {
            bench.disk.write("sunset", to: photo)
            source.send(.file(photo))
            await noted()
            bench.disk.remove(photo)
            bench.disk.write("dawn", to: other)
            source.send(.gone(photo), .tree(Bench.gallery))
            await queued()
        }
        #expect(try bench.states() == [other.string: .pending])
    }

    @Test func `a file that waits for its next try is tried when it was closed, though nobody wrote to it`()
        async throws
    {
        try await running {
            bench.disk.write("sunset", to: photo)
            source.send(.file(photo))
            await settled()
            await queued()
            guard case .photos(let claims) = try bench.ledger.claimNext(at: bench.time.now), let claim = claims.first
            else {
                Issue.record("nothing to claim")
                return
            }
            let later = bench.time.now.addingTimeInterval(64)
            try bench.ledger.commit(claim, outcome: .postponed("it is open", until: later), at: bench.time.now)
            let isWaiting = if case .nothing = try bench.ledger.claimNext(at: bench.time.now) { true } else { false }
            #expect(isWaiting)
            source.send(.file(photo))
            await settled()
            await queued()
        }
        guard case .photos(let claims) = try bench.ledger.claimNext(at: bench.time.now) else {
            Issue.record("it still waits for its next try")
            return
        }
        #expect(claims.map(\.file) == [photo])
    }

    @Test func `where times are whole seconds, a file is queued when a later write would have another one`()
        async throws
    {
        let now = Int64(bench.time.now.timeIntervalSince1970)
        try await running {
            await bench.time.waitForSleepers(1)
            bench.disk.write("sunset", to: photo, modifiedSeconds: now + 2)
            bench.disk.setChanged(photo, (now + 2) * 1_000_000_000)
            source.send(.file(photo))
            await settled()
            // It was closed for long enough, and is waited for all the same.
            await noted()
            let before = try claimed()
            #expect(before == [])
            await bench.time.waitForSleepers(2)
            await bench.time.advance(by: .milliseconds(1_900))
            await queued()
        }
        #expect(try claimed() == [photo])
    }

    @Test(arguments: [true, false])
    func `what is skipped at once is told, and takes no place in the queue`(isClosed: Bool) async throws {
        let note = Bench.gallery.appending("notes.txt")
        bench.disk.write("text", to: note)
        try await running {
            if isClosed {
                source.send(.file(note))
                await settled()
            } else {
                source.send(.tree(Bench.gallery))
            }
            await skipped.wait(atMost: nil, time: bench.time.source)
        }
        #expect(try bench.states() == [note.string: .skipped])
        // By whoever has noted it: what comes next waits for no task between.
        if isClosed { #expect(teller.withLock { $0 }.hasPrefix("intake-")) }
    }

    @Test func `what another drive has under a known name changes nothing when it is hinted at`() async throws {
        let new = Bench.gallery.appending("b.jpg")
        bench.disk.setIdentity(DriveIdentity(.disk, uuid: "1111"), at: Bench.gallery)
        bench.disk.write("sunset", to: photo)
        try await bench.pass()
        bench.disk.setIdentity(DriveIdentity(.disk, uuid: "2222"), at: Bench.gallery)
        bench.disk.write("another sunset", to: photo)
        bench.disk.write("dawn", to: new)
        try await running {
            source.send(.file(photo), .file(new))
            await settled()
            let file = try await eventually("the new file in the queue") { try claimed().first }
            #expect(file == new)
        }
        #expect(try bench.states() == [photo.string: .uploaded, new.string: .uploading])
    }

    @Test func `the first file in a folder that was empty has the whole folder looked at`() async throws {
        let other = Bench.gallery.appending("b.jpg")
        bench.disk.setIdentity(DriveIdentity(.disk, uuid: "1111"), at: Bench.gallery)
        bench.disk.write("sunset", to: photo)
        try await bench.pass()
        bench.disk.remove(photo)
        bench.disk.setIdentity(DriveIdentity(.disk, uuid: "2222"), at: Bench.gallery)
        try await running {
            source.send(.tree(Bench.gallery))
            try await problem("the folder is empty")
            bench.disk.write("dawn", to: other)
            source.send(.file(other))
            await settled()
            try await problem("this is not the drive that photos were found on")
        }
    }

    @Test func `a tree that was moved in is scanned`() async throws {
        let trip = Bench.vacations.appending("Paris")
        bench.disk.write("beach", to: trip.appending("day 1").appending("a.jpg"))
        try await running {
            source.send(.tree(trip))
            await queued()
        }
        #expect(try bench.ledger.overview().totals[.pending].files == 1)
    }

    @Test func `a part that cannot be read is noted when it is met, and not only by the next scan of the whole`()
        async throws
    {
        let trip = Bench.vacations.appending("Paris")
        bench.disk.write("tower", to: Bench.vacations.appending("b.jpg"))
        bench.disk.setUnreadable(trip)
        try await running {
            source.send(.tree(trip))
            await queued()
        }
        let problem = try bench.ledger.overview().folders[1].record.problem
        #expect(problem?.contains("Paris: permission denied") == true)
    }

    @Test func `how a folder is watched is in the ledger`() async throws {
        bench.disk.write("sunset", to: photo)
        try await running {
            source.send(.tree(Bench.gallery))
            await queued()
        }
        let folder = try #require(try bench.ledger.overview().folders.first)
        #expect(folder.record.watching == .polling)
        #expect(folder.record.note == "a network drive")
    }

    @Test func `a scan hands over what is new since the folder is watched, and what that shows outlives the agent`()
        async throws
    {
        let now = Int64(bench.time.source.now().timeIntervalSince1970 * 1e9)
        let (old, known) = (Bench.gallery.appending("old.jpg"), Bench.gallery.appending("known.jpg"))
        try await running {
            bench.disk.write("known", to: known)
            source.send(.tree(Bench.gallery))
            await queued()
            for (file, changed) in [(old, now - 1), (known, now + 1), (photo, now + 2)] {
                if file != known { bench.disk.write("\(file)", to: file) }
                bench.disk.setChanged(file, changed)
            }
            await bench.time.advance(by: .seconds(3))
            source.send(.tree(Bench.gallery))
            let folder = try await eventually("the finding in the ledger") {
                try bench.ledger.overview().folders.first { $0.record.untold != nil }
            }
            #expect(folder.record.untold == UntoldFile(path: "a.jpg", found: now + 2))
        }
        #expect(source.judged == [AppearedFile(path: "a.jpg", changed: now + 2)])
        #expect(source.knownUntold == [:])
    }

    @Test func `a hint about a file that is still there does not make it missing`() async throws {
        bench.disk.write("sunset", to: photo)
        try await bench.pass()
        let other = Bench.gallery.appending("b.jpg")
        bench.disk.write("dawn", to: other)
        try await running {
            // The second hint's effect proves that the first was worked off.
            source.send(.gone(photo), .tree(Bench.gallery))
            await queued()
        }
        #expect(try bench.states() == [photo.string: .uploaded, other.string: .pending])
    }

    /// Two files that exchange their names (renameat2(2)): of one of them, the last that is told is that it is gone.
    @Test func `another file under the name of one that is said to be gone is looked at`() async throws {
        bench.disk.write("sunset", to: photo)
        try await bench.pass()
        bench.disk.write("another sunset", to: photo)
        try await running {
            source.send(.gone(photo))
            await settled()
            await queued()
        }
        #expect(try bench.states() == [photo.string: .pending])
        #expect(try claimed() == [photo])
    }

    @Test func `a folder under the name of one that is said to be gone is scanned, and nothing in it is missing`()
        async throws
    {
        let trip = Bench.vacations.appending("Paris")
        let (known, new) = (trip.appending("a.jpg"), trip.appending("b.jpg"))
        bench.disk.write("tower", to: known)
        try await bench.pass()
        bench.disk.write("beach", to: new)
        try await running {
            source.send(.gone(trip))
            await queued()
        }
        #expect(try bench.states() == [known.string: .uploaded, new.string: .pending])
    }

    @Test func `a file that was removed is missing, and what is stored stays`() async throws {
        bench.disk.write("sunset", to: photo)
        try await bench.pass()
        let other = Bench.gallery.appending("b.jpg")
        bench.disk.write("dawn", to: other)
        bench.disk.remove(photo)
        try await running {
            source.send(.gone(photo), .tree(Bench.gallery))
            await queued()
        }
        #expect(try bench.states() == [photo.string: .missing, other.string: .pending])
        #expect(bench.memory.keys.count == 1)
    }

    @Test(arguments: [true, false])
    func `what is never stored is told once it is quiet, whether its name says so or not`(isNamed: Bool) async throws {
        let link = Bench.gallery.appending("link.jpg")
        try await running {
            bench.disk.makeLink(link)
            source.send(isNamed ? .others(Bench.gallery) : .file(link))
            await bench.time.waitForSleepers(2)
            #expect(try bench.ledger.leftOut(naming: 9).items == [])
            await bench.time.advance(by: .seconds(2))
            _ = try await eventually("what is left out") {
                try bench.ledger.leftOut(naming: 9).items.map(\.path) == [link] ? true : nil
            }
        }
    }
}
