import Glibc
import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

/// Which folder it is that photos are saved in: the one that has the job's file.
extension RestoreDownloaderTests {
    private func moveFolder(_ folder: String, to other: String) throws {
        try tree.path(folder).rename(to: tree.path(other))
    }

    private func isMark(_ name: String) -> Bool { name.hasPrefix(".sync-agent-restore-") }

    // MARK: Another folder in its place

    /// The drive is the folder itself: what is in its place meanwhile is the mount point, or nothing.
    @Test(arguments: [true, false])
    func `where the folder of the photos before is not, nothing is saved or counted, until it is back`(
        isMountPointThere: Bool
    ) async throws {
        let job = try await restore(["1.jpg", "2.jpg", "Paris/3.jpg"], output: output, ready: 1)
        #expect(try await delivery.run().saved == 1)
        try moveFolder("out", to: "drive")
        if isMountPointThere { try tree.makeFolder("out") }
        try finishRestores(job)
        let result = try await delivery.run()
        #expect(result.saved == 0 && result.unsaved[job]?.count == 2)
        #expect(result.problems.map(\.path) == ["\(output)/2.jpg", "\(output)/Paris/3.jpg"])
        let told = "\(output) is not the folder that the job saves in"
        #expect(result.problems.allSatisfy { $0.reason.hasPrefix(told) && $0.reason.contains("Mount the drive again") })
        #expect(result.problems.allSatisfy { $0.reason.contains("sync-agent restores \(job) --stop-saving") })
        #expect(try tree.photos() == ["drive/1.jpg"])
        #expect(try saved(job) == 1 && store.count(.get) == 1)
        if isMountPointThere { try output.removeFolder() }
        #expect(FolderIdentity(at: output) == nil)
        try moveFolder("drive", to: "out")
        #expect(try await delivery.run().saved == 2)
        #expect(try tree.files() == ["out/1.jpg", "out/2.jpg", "out/Paris/3.jpg"])
        #expect(try saved(job) == 3)
    }

    @Test func `another drive is not the one, also with the same device and inode`() async throws {
        let job = try await restore(["1.jpg", "2.jpg"], output: output, ready: 1)
        #expect(try await delivery.run().saved == 1)
        for name in try tree.files(below: "out") { try tree.path("out/\(name)").unlink() }
        try tree.write("of another", to: "out/other.jpg")
        try finishRestores(job)
        let result = try await delivery.run()
        #expect(result.saved == 0 && result.unsaved[job]?.count == 1)
        #expect(try tree.files() == ["out/other.jpg"])
    }

    @Test func `a drive that is mounted anew is the one by the job's file, also when its photos were moved away`()
        async throws
    {
        let job = try await restore(["1.jpg", "2.jpg"], output: output, ready: 1)
        #expect(try await delivery.run().saved == 1)
        try moveFolder("out", to: "before")
        try tree.makeFolder("out")
        for name in try tree.files(below: "before") where isMark(name) {
            try moveFolder("before/\(name)", to: "out/\(name)")
        }
        try finishRestores(job)
        #expect(try await delivery.run().saved == 1)
        #expect(try tree.files() == ["before/1.jpg", "out/2.jpg"])
    }

    @Test(arguments: ["the photo", "a folder", "another file"])
    func `where the job's file was deleted, a photo that was saved tells the folder, and nothing else of its name`(
        what: String
    ) async throws {
        let job = try await restore(["1.jpg", "2.jpg"], output: output, ready: 1)
        #expect(try await delivery.run().saved == 1)
        try moveFolder("out", to: "before")
        try tree.makeFolder("out")
        switch what {
        case "the photo": try moveFolder("before/1.jpg", to: "out/1.jpg")
        case "a folder": try tree.makeFolder("out/1.jpg")
        default: try tree.write([UInt8](repeating: 1, count: bytes("1.jpg").count), to: "out/1.jpg")
        }
        try finishRestores(job)
        let isTheOne = what == "the photo"
        #expect(try await delivery.run().saved == (isTheOne ? 1 : 0))
        #expect(try saved(job) == (isTheOne ? 2 : 1))
        #expect(try tree.files(below: "out").contains("2.jpg") == isTheOne)
    }

    /// Such a job has no file, and the place where a drive was mounted is empty.
    @Test(arguments: [true, false])
    func `a job of an older version, whose photos were moved away, goes on in a folder that is not empty`(
        isEmpty: Bool
    ) async throws {
        let job = try await restore(["1.jpg", "2.jpg"], output: output, ready: 1)
        let first = try #require(try ledger.restoreItems(of: job, after: 0, limit: 1).first)
        try ledger.noteSaved(first.id, at: time.now)
        try tree.makeFolder("out")
        if !isEmpty { try tree.write("mine", to: "out/album/other.jpg") }
        try finishRestores(job)
        let result = try await delivery.run()
        #expect(result.saved == (isEmpty ? 0 : 1) && result.problems.count == (isEmpty ? 1 : 0))
        #expect(try tree.photos(below: "out") == (isEmpty ? [] : ["2.jpg", "album/other.jpg"]))
    }

    /// The drive of a job with two photos is taken out, and comes back: nothing goes into its place meanwhile.
    private func expectWait(of job: RestoreJobID, meanwhile: () throws -> Void = {}) async throws {
        try moveFolder("out", to: "drive")
        try tree.makeFolder("out")
        try meanwhile()
        #expect(try await delivery.run().unsaved[job]?.count == 2)
        #expect(try tree.files(below: "out") == [] && saved(job) == 0)
        try output.removeFolder()
        try moveFolder("drive", to: "out")
        #expect(try await delivery.run().saved == 2)
        #expect(try tree.files() == ["out/1.jpg", "out/2.jpg"])
    }

    @Test func `killed before its first photo is noted, a job knows its folder`() async throws {
        let job = try await restore(["1.jpg", "2.jpg"], output: output)
        store.add(StoreFault(.get, numbers: 1...2, .failBefore(.credentialsRejected)))
        await #expect(throws: StoreError.self) { try await delivery.run() }
        try await expectWait(of: job)
    }

    @Test func `a drive that is taken out while a photo comes gets it when it is back`() async throws {
        let job = try await restore(["1.jpg"], output: output)
        let gate = Gate()
        store.add(StoreFault(.get, number: 1, .hold(gate)))
        let delivery = delivery
        async let running = delivery.run()
        await gate.waitForArrivals(1)
        try moveFolder("out", to: "drive")
        try tree.makeFolder("out")
        gate.open()
        let result = try await running
        #expect(result.saved == 0 && result.unsaved[job]?.count == 1)
        #expect(try tree.files(below: "out") == [] && saved(job) == 0)
        try output.removeFolder()
        try moveFolder("drive", to: "out")
        #expect(try await self.delivery.run().saved == 1)
        #expect(try tree.files() == ["out/1.jpg"])
    }

    @Test func `a place that nobody can look into is told as that, and not as a drive that is away`() async throws {
        let place = tree.path("above/out")
        let job = try await restore(["1.jpg", "2.jpg"], output: place, ready: 1)
        #expect(try await delivery.run().saved == 1)
        try moveFolder("above", to: "there")
        #expect(symlink("above", tree.path("above").string) == 0)
        try finishRestores(job)
        let result = try await delivery.run()
        #expect(result.problems.map(\.path) == ["\(place)/2.jpg"])
        #expect(result.problems.allSatisfy { $0.reason.hasPrefix("\(place): ") && !$0.reason.contains("mount") })
        try tree.path("above").unlink()
        try moveFolder("there", to: "above")
        #expect(try await delivery.run().saved == 1)
    }

    // MARK: A folder in it

    @Test(arguments: [true, false])
    func `a folder of photos that is moved away while they come is made anew, and no part is left`(
        isPlaceFree: Bool
    ) async throws {
        let job = try await restore(["Paris/1.jpg", "Paris/2.jpg", "Rome/3.jpg"], output: output)
        let gate = Gate()
        store.add(StoreFault(.get, numbers: 1...3, .hold(gate)))
        let delivery = delivery
        async let running = delivery.run()
        await gate.waitForArrivals(3)
        try moveFolder("out/Paris", to: "out/Oslo")
        if !isPlaceFree { try tree.write("mine", to: "out/Paris") }
        gate.open()
        let result = try await running
        if isPlaceFree {
            #expect(result.saved == 3 && result.problems == [])
            #expect(try tree.files() == ["out/Paris/1.jpg", "out/Paris/2.jpg", "out/Rome/3.jpg"])
        } else {
            #expect(result.saved == 1 && result.unsaved[job]?.count == 2)
            #expect(result.problems.map(\.path) == [1, 2].map { "\(output)/Paris/\($0).jpg" })
            #expect(result.problems.allSatisfy { $0.reason.contains("something that is no folder has this name") })
            #expect(try tree.photos() == ["out/Paris", "out/Rome/3.jpg"])
        }
    }

    // MARK: The job's file

    @Test func `a job's file is there before its first photo, and goes when no more is to be saved`() async throws {
        let job = try await restore(["1.jpg", "2.jpg"], output: output, ready: 1)
        let gate = Gate()
        store.add(StoreFault(.get, number: 1, .hold(gate)))
        let delivery = delivery
        async let running = delivery.run()
        await gate.waitForArrivals(1)
        let marks = try tree.files(below: "out").filter(isMark)
        #expect(marks.count == 1 && marks.allSatisfy { $0.hasPrefix(".sync-agent-restore-\(job)-") })
        #expect(try ledger.restoreJob(job)?.job.isMarked == true)
        gate.open()
        #expect(try await running.saved == 1)
        #expect(try tree.files(below: "out") == marks + ["1.jpg"])
        try ledger.stopSaving(job)
        #expect(try await self.delivery.run().saved == 0)
        #expect(try tree.files() == ["out/1.jpg"])
    }

    // MARK: Before there is a job

    /// - Parameter whenMade: what happens as soon as the folder was made.
    private func folders(
        owner: ClaimOwner? = nil, whenMade: @escaping @Sendable () -> Void = {}
    ) -> RestoreFolders {
        var calls = Folder.Calls()
        calls.make = { (path, mode) throws(Errno) in
            try path.makeFolder(mode)
            whenMade()
        }
        return RestoreFolders(
            ledger: LedgerQueue(ledger), owner: owner ?? self.owner, pool: BlockingPool(name: "disk", threads: 1),
            time: time.source, calls: calls)
    }

    /// Of all that are about to be made.
    private func reservations() throws -> [RestoreReservation] {
        try ledger.abandonedReservations(of: { _ in true }, at: time.now)
    }

    @Test func `a drive that is taken out before the first photo is there is waited for`() async throws {
        let job = try await restore(
            ["1.jpg", "2.jpg"], output: output, ready: 0, as: folders().reserve(output))
        #expect(try ledger.restoreJob(job)?.job.isMarked == true)
        try await expectWait(of: job) { try finishRestores(job) }
    }

    /// Nobody goes on from a job that was written down without it: the place where a drive was mounted would be filled.
    @Test func `a job has its file from the moment when it is written down`() async throws {
        let reservation = try await folders().reserve(output)
        #expect(try ledger.restoreJobs(limit: 9) == [] && tree.files(below: "out").count == 1)
        let job = try await restore(["1.jpg", "2.jpg"], output: output, ready: 0, as: reservation)
        let made = try #require(try ledger.restoreJob(job)).job
        #expect(job == reservation.job && made.isMarked && made.mark == reservation.mark)
        #expect(try tree.files(below: "out") == [reservation.mark.string])
        #expect(try reservations() == [])
        await folders().cancel(reservation)
        #expect(try tree.files(below: "out") == [reservation.mark.string])
    }

    @Test func `of a folder that vanishes before it has the file of its job, nothing is left, and no job is made`()
        async throws
    {
        let output = output
        let folders = folders { try? output.removeFolder() }
        let told = await #expect(throws: DownloadError.self) { try await folders.reserve(output) }
        #expect(told?.path == output && told?.code == .folderMissing)
        #expect(try reservations() == [] && ledger.restoreJobs(limit: 9) == [])
        #expect(FolderIdentity(at: output) == nil)
        // Nor a number.
        #expect(try await self.folders().reserve(output).job == RestoreJobID(rawValue: 1))
    }

    @Test func `where no job comes of it, a folder that was there stays, and one that was made goes`() async throws {
        let folders = folders()
        for isThere in [false, true] {
            if isThere { try tree.makeFolder("out") }
            let reservation = try await folders.reserve(output)
            #expect(try tree.files(below: "out") == [reservation.mark.string])
            await folders.cancel(reservation)
            #expect((FolderIdentity(at: output) != nil) == isThere)
            #expect(try tree.files() == [] && reservations() == [])
        }
        try tree.write("mine", to: "blocked")
        await #expect(throws: FolderError.self) { try await folders.reserve(tree.path("blocked")) }
        #expect(try tree.files() == ["blocked"] && reservations() == [])
    }

    /// Whoever comes next: an agent's round, and a command that is to save there.
    @Test(arguments: [true, false])
    func `what a process left that was killed before there was a job is taken away, folder and all`(
        isRound: Bool
    ) async throws {
        let killed = folders(owner: ClaimOwner(name: "killed"))
        let left = try await killed.reserve(output)
        let other = folders(owner: ClaimOwner(name: "other", hasEnded: { _ in false }))
        try await other.leaveEnded()
        #expect(try tree.files(below: "out") == [left.mark.string] && reservations() == [left])
        if isRound {
            #expect(try await delivery.run().saved == 0)
            #expect(FolderIdentity(at: output) == nil)
        } else {
            let next = try await folders().reserve(output)
            #expect(next.job == left.job && next.mark != left.mark && next.madeFolders == 1)
            #expect(try tree.files(below: "out") == [next.mark.string])
        }
        #expect(try reservations().contains(left) == false)
    }

    @Test func `a command whose number was given up meanwhile takes away what it has made since`() async throws {
        let slow = try await folders().reserve(output)
        try ledger.cancel(slow)
        let next = try await folders().reserve(tree.path("other"))
        #expect(next.job == slow.job)
        await folders().cancel(slow)
        #expect(FolderIdentity(at: output) == nil)
        #expect(try tree.files() == ["other/\(next.mark.string)"] && reservations() == [next])
    }

    @Test func `what a killed process left in a folder of people's own goes, and the folder stays`() async throws {
        try tree.write("mine", to: "out/a.txt")
        _ = try await folders(owner: ClaimOwner(name: "killed")).reserve(output)
        try await folders().leaveEnded()
        #expect(try tree.files() == ["out/a.txt"] && reservations() == [])
    }

    @Test(arguments: ["no job", "killed", "stopped", "stopped with a photo", "stopped with another's file"])
    func `folders above that were made go with the folder, where nothing was saved`(end: String) async throws {
        try tree.makeFolder("mine")
        let place = tree.path("mine/a/b/out")
        let owner = ClaimOwner(name: end == "killed" ? "killed" : "me")
        let reservation = try await folders(owner: owner).reserve(place)
        #expect(reservation.madeFolders == 3)
        if end == "no job" { await folders().cancel(reservation) }
        if end.hasPrefix("stopped") {
            let job = try await restore(["1.jpg", "2.jpg"], output: place, ready: 0, as: reservation)
            if end.hasSuffix("photo") {
                try finishRestores(job, 1)
                #expect(try await delivery.run().saved == 1)
                try tree.path("mine/a/b/out/1.jpg").unlink()
            }
            if end.hasSuffix("file") { try tree.write("of another", to: "mine/a/file") }
            try ledger.stopSaving(job)
        }
        try await folders().leaveEnded()
        let left = ["mine", "mine/a", "mine/a/b", "mine/a/b/out"].count { FolderIdentity(at: tree.path($0)) != nil }
        #expect(left == (end.hasSuffix("photo") ? 4 : end.hasSuffix("file") ? 2 : 1))
        #expect(try reservations() == [] && ledger.endedRestoreMarks() == [])
    }

    @Test func `hidden files of jobs that this ledger does not have are told, and stay`() async throws {
        #expect(try await folders().strangers(in: output) == [])
        let reservation = try await folders().reserve(output)
        let stranger = ".sync-agent-restore-7-0123456789abcdef"
        for name in [stranger, ".sync-agent-restore-7", ".sync-agent-restore-7-0123456789abcdeg", "1.jpg"] {
            try tree.write("of another", to: "out/\(name)")
        }
        #expect(try await folders().strangers(in: output).map(\.string) == [stranger])
        try await restore(["2.jpg"], output: output, as: reservation)
        #expect(try await folders().strangers(in: output).map(\.string) == [stranger])
        #expect(try await delivery.run().saved == 1)
        #expect(try tree.files(below: "out").contains(stranger))
    }

    // MARK: On a drive that is away

    @Test func `what a killed process left on a drive that is away goes when the drive is back`() async throws {
        let left = try await folders(owner: ClaimOwner(name: "killed")).reserve(output)
        try moveFolder("out", to: "drive")
        for _ in 1...2 { try await folders().leaveEnded() }
        #expect(try reservations() == [left] && tree.files() == ["drive/\(left.mark)"])
        try moveFolder("drive", to: "out")
        try await folders().leaveEnded()
        #expect(try reservations() == [] && FolderIdentity(at: output) == nil)
    }

    @Test func `an empty folder that has the place of one that was made stays`() async throws {
        _ = try await folders(owner: ClaimOwner(name: "killed")).reserve(output)
        try moveFolder("out", to: "drive")
        try tree.makeFolder("out")
        try await folders().leaveEnded()
        #expect(try reservations() == [] && FolderIdentity(at: output) != nil)
    }

    @Test func `the file of a job that ended while its drive was away goes when the drive is back`() async throws {
        let job = try await restore(["1.jpg"], output: output, ready: 0, as: folders().reserve(output))
        try moveFolder("out", to: "drive")
        try ledger.stopSaving(job)
        for _ in 1...2 { #expect(try await delivery.run().saved == 0) }
        #expect(try tree.files(below: "drive").filter(isMark).count == 1)
        #expect(try ledger.endedRestoreMarks().map(\.job) == [job])
        try moveFolder("drive", to: "out")
        #expect(try await delivery.run().saved == 0)
        #expect(try tree.files() == [] && ledger.endedRestoreMarks() == [])
    }

    @Test func `of a file that cannot be put, neither its folder nor its reservation is left`() async throws {
        // The folder's path is short enough (PATH_MAX), and that of the file is not.
        var place = output
        while place.length < 3_900 { place.append(String(repeating: "n", count: 100)) }
        place.append(String(repeating: "n", count: 4_070 - place.length - 1))
        let folders = folders()
        let last = place
        await #expect(throws: DownloadError.self) { try await folders.reserve(last) }
        #expect(FolderIdentity(at: last) == nil && FolderIdentity(at: output) == nil)
        #expect(try reservations() == [])
    }
}
