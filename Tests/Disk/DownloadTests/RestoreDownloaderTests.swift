import FoundationEssentials
import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct RestoreDownloaderTests {
    private static let trips: FilePath = "/pictures/trips"

    let tree: TemporaryTree
    let memory = InMemoryStore()
    let store: FaultyStore
    let ledger: Ledger
    let time = ManualTime()
    private let folder: FolderRecord

    init() throws {
        tree = try TemporaryTree()
        store = FaultyStore(memory)
        ledger = try Ledger.inMemory()
        folder = try ledger.register([WatchedFolder(kind: .vacations, path: Self.trips)])[0]
    }

    /// Of whom it is known that nobody else is there any more.
    let owner = ClaimOwner(name: "me", hasEnded: { $0 != "me" })

    var delivery: RestoreDownloader { downloader() }

    private func downloader(_ calls: DownloadCalls = DownloadCalls()) -> RestoreDownloader {
        RestoreDownloader(
            store: store, ledger: LedgerQueue(ledger), owner: owner,
            pool: BlockingPool(name: "disk", threads: 3), time: time.source, calls: calls)
    }

    var output: FilePath { tree.path("out") }

    func bytes(_ name: String) -> [UInt8] { Array("bytes of \(name)".utf8) }

    func key(_ name: String) throws -> ObjectKey {
        try KeyLayout(user: "ana").photo(PhotoID(ContentDigest(of: Array(name.utf8)).md5))
    }

    /// A job that has brought back these, each named as its place in the output.
    /// - Parameter ready: how many of them; see ``finishRestores(_:)``.
    /// - Parameter reservation: of which the job is made.
    @discardableResult
    func restore(
        _ names: [String], output: FilePath?, paths: Bool = true, digests: Bool = true, ready: Int = .max,
        as reservation: RestoreReservation? = nil
    ) async throws -> RestoreJobID {
        for name in names {
            try await memory.store(bytes(name), at: key(name))
            memory.setClass(.deepArchive, restore: .restored(until: nil), of: try key(name))
        }
        let items = try names.map { name in
            RestoreJobDraft.Item(
                key: try key(name), path: paths ? Self.trips.pushing(FilePath(name)) : nil,
                destination: FilePath(name), size: Int64(bytes(name).count),
                sha256: digests ? SHA256Digest(of: bytes(name)) : nil, storageClass: .deepArchive, tier: .bulk)
        }
        let draft = RestoreJobDraft(requestedBy: "ana", tier: .bulk, days: 7, output: output, items: items)
        let job = try #require(try ledger.addRestoreJob(draft, as: reservation, at: time.now).job)
        try finishRestores(job.id, ready)
        return job.id
    }

    func finishRestores(_ job: RestoreJobID, _ count: Int = .max) throws {
        let ids = try ledger.restoreItems(of: job, after: 0, limit: .max).map(\.id)
        try ledger.note(RestoreOutcome(state: .restored), of: Array(ids.prefix(count)), at: time.now)
    }

    func saved(_ job: RestoreJobID) throws -> Int? { try ledger.restoreJob(job)?.saved }

    @Test func `photos get their own names, folders and bytes, and are noted`() async throws {
        let names = ["Paris/1.jpg", "Paris/day/2.jpg", "3 Zürich.jpg"]
        let job = try await restore(names, output: output)
        let result = try await delivery.run()
        #expect(result.saved == 3)
        #expect(result.failures == [])
        #expect(try tree.files(below: "out") == ["3 Zürich.jpg", "Paris/1.jpg", "Paris/day/2.jpg"])
        for name in names { #expect(try tree.read("out/\(name)") == bytes(name)) }
        #expect(try saved(job) == 3)
        let calls = store.calls.count
        #expect(try await delivery.run().saved == 0)
        #expect(store.calls.count == calls)
    }

    /// A catalogue that somebody has forged, or a ledger of another program.
    @Test func `what would be saved outside of the folder is refused, and its neighbours are saved`() async throws {
        let job = try await restore(["../outside.jpg", "inside.jpg"], output: output)
        let result = try await delivery.run()
        #expect(result.saved == 1)
        #expect(result.failures.count == 1 && result.failures[0].contains("would not be below the folder"))
        #expect(try tree.photos() == ["out/inside.jpg"])
        #expect(try saved(job) == 1)
    }

    @Test func `a photo gets the time of its file, or else that at which it was taken`() async throws {
        let (written, taken) = (Int64(1_500_000_000), CaptureTime(clock: 1_400_032_400_000, offset: 540))
        let stamp = FileStamp(device: 1, inode: 1, size: 1, modified: written * 1_000_000_000)
        _ = try ledger.observe(folder.id, file: "a.jpg", stamp: stamp, stillThere: { _ in true }, at: time.now)
        for claim in try ledger.claim(limit: 1, at: time.now) {
            try ledger.commit(
                claim,
                outcome: .uploaded(
                    ContentDigest(of: [1]),
                    ObjectRecord(
                        key: try key("b.jpg"), size: 1, md5: nil, sha256: nil, contentType: "image/jpeg",
                        storageClass: .deepArchive, takenAt: taken, storedAt: time.now)), at: time.now)
        }
        try await restore(["a.jpg", "b.jpg"], output: output)
        _ = try await delivery.run()
        #expect(try tree.stamp("out/a.jpg").modified == written * 1_000_000_000)
        #expect(try tree.stamp("out/b.jpg").modified == 1_400_000_000 * 1_000_000_000)
    }

    @Test func `what nobody wants saved is left alone`() async throws {
        try await restore(["1.jpg"], output: nil)
        #expect(try await delivery.run().saved == 0)
        #expect(store.calls == [])
    }

    @Test func `only the job that is named is saved`() async throws {
        try await restore(["1.jpg"], output: output)
        let job = try await restore(["2.jpg"], output: output)
        #expect(try await delivery.run(job: job).saved == 1)
        #expect(try tree.files(below: "out") == ["2.jpg"])
    }

    @Test func `killed between file and note, a later run finds the file and downloads nothing`() async throws {
        let job = try await restore(["Paris/1.jpg"], output: output)
        try tree.write(bytes("Paris/1.jpg"), to: "out/Paris/1.jpg")
        #expect(try await delivery.run().saved == 1)
        #expect(store.count(.get) == 0)
        #expect(try saved(job) == 1)
    }

    @Test func `something else of that name is kept and told, and the others are saved`() async throws {
        let job = try await restore(["1.jpg", "2.jpg"], output: output)
        try tree.write("precious", to: "out/1.jpg")
        let result = try await delivery.run()
        #expect(result.saved == 1)
        #expect(result.failures.count == 1)
        #expect(
            result.failures.first
                == "\(output)/1.jpg: another file has this name, and stays; restore into another folder (--output)")
        #expect(try tree.read("out/1.jpg") == Array("precious".utf8))
        #expect(try saved(job) == 1)
        // Who moves it away gets the photo.
        let held = result.unsaved[job] ?? []
        try tree.write("out of the way", to: "out/1.jpg")
        #expect(try await delivery.run(leavingOut: held).failures == [])
        #expect(try await delivery.run().failures.count == 1)
    }

    @Test func `a folder of that name stays, and is called one`() async throws {
        _ = try await restore(["1.jpg"], output: output)
        try tree.write("precious", to: "out/1.jpg/a.txt")
        let reason = "a folder has this name, and stays; restore into another folder (--output)"
        #expect(try await delivery.run().failures == ["\(output)/1.jpg: \(reason)"])
        #expect(try tree.read("out/1.jpg/a.txt") == Array("precious".utf8))
    }

    @Test func `the photo itself in the place of its copy stays, is told of, and is no failure`() async throws {
        let original = Array("much more than the copy".utf8)
        let object = ObjectRecord(
            key: try key("1.jpg"), size: 1, md5: ContentDigest(of: original).md5, sha256: nil,
            contentType: "image/jpeg", storageClass: .deepArchive, storedAt: time.now)
        let stamp = FileStamp(device: 1, inode: 1, size: 1, modified: 1)
        _ = try ledger.observe(folder.id, file: "1.jpg", stamp: stamp, stillThere: { _ in true }, at: time.now)
        for claim in try ledger.claim(limit: 1, at: time.now) {
            try ledger.commit(claim, outcome: .uploaded(ContentDigest(of: original), object), at: time.now)
        }
        let job = try await restore(["1.jpg"], output: output)
        try tree.write(original, to: "out/1.jpg")
        let result = try await delivery.run()
        #expect(result.failures == [])
        #expect(try tree.read("out/1.jpg") == original)
        #expect(store.count(.get) == 0)
        #expect(try saved(job) == 1)
        let item = try #require(try ledger.restoreItems(of: job, after: 0, limit: 1).first)
        #expect(item.note == "the original is there, and stays")
    }

    @Test func `a file that another process is downloading is no failure`() async throws {
        try await restore(["1.jpg"], output: output)
        let gate = Gate()
        store.add(StoreFault(.get, number: 1, .hold(gate)))
        let delivery = delivery
        async let first = delivery.run()
        await gate.waitForArrivals(1)
        let second = try await self.delivery.run()
        #expect(second.saved == 0)
        #expect(second.failures == [])
        gate.open()
        #expect(try await first.saved == 1)
    }

    @Test func `what was saved before a cancellation is noted`() async throws {
        let job = try await restore((1...9).map { "\($0).jpg" }, output: output)
        let gate = Gate()
        store.add(StoreFault(.get, numbers: 4...(.max), .hold(gate)))
        let delivery = delivery
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await delivery.run() }
            await gate.waitForArrivals(3)
            group.cancelAll()
            gate.open()
            await #expect(throws: CancellationError.self) { try await group.waitForAll() }
        }
        #expect(try saved(job) == tree.photos(below: "out").filter { !$0.contains("part") }.count)
        #expect(try await self.delivery.run().saved == 9 - (saved(job) ?? 0) || saved(job) == 9)
        #expect(try tree.files(below: "out").count == 9)
    }

    @Test func `an outage is thrown, and what is left is saved later`() async throws {
        let job = try await restore((1...5).map { "\($0).jpg" }, output: output)
        store.add(StoreFault(.get, numbers: 3...8, .failBefore(.credentialsRejected)))
        await #expect(throws: StoreError.self) { try await delivery.run() }
        #expect(try saved(job) == 2)
        for _ in 0..<5 { _ = try? await delivery.run() }
        #expect(try saved(job) == 5)
    }

    @Test func `one copy that the store denies is told, and does not stop the others`() async throws {
        let job = try await restore((1...5).map { "\($0).jpg" }, output: output)
        store.add(StoreFault(.get, key: try key("2.jpg").rawValue, number: 1, .failBefore(.accessDenied)))
        let result = try await delivery.run()
        #expect(result.saved == 4 && result.problems.map(\.path) == ["\(output)/2.jpg"])
        #expect(try await delivery.run().saved == 1)
        #expect(try saved(job) == 5)
    }

    @Test func `a store that denies all is not asked for each`() async throws {
        try await restore((1...30).map { "\($0).jpg" }, output: output)
        store.add(StoreFault(.get, numbers: 1...30, .failBefore(.accessDenied)))
        await #expect(throws: StoreError.self) { try await delivery.run() }
        #expect((20...23).contains(store.count(.get)))
    }

    @Test func `a copy that has ended is told, and does not stop the others`() async throws {
        try await restore(["1.jpg", "2.jpg"], output: output)
        memory.setClass(.deepArchive, of: try key("1.jpg"))
        let result = try await delivery.run()
        #expect(result.saved == 1)
        #expect(result.problems.map(\.path) == ["\(output)/1.jpg"])
        #expect(result.unsaved.values.map(\.count) == [1])
    }

    @Test func `bytes that are not the photo's are not kept`() async throws {
        try await restore(["1.jpg"], output: output)
        try await memory.delete(key("1.jpg"))
        try await memory.store(Array("another photo".utf8), at: key("1.jpg"))
        let time = TimeSource(
            now: { Date(timeIntervalSince1970: 0) }, monotonic: { .zero }, sleep: { _ in }, random: { 0 })
        let delivery = RestoreDownloader(
            store: store, ledger: LedgerQueue(ledger), owner: owner,
            pool: BlockingPool(name: "disk", threads: 3), time: time)
        #expect(try await delivery.run().failures.count == 1)
        #expect(try tree.photos(below: "out").filter { !$0.contains("part") } == [])
    }

    @Test func `a folder that cannot be made is told, and the disk is asked once for each photo`() async throws {
        try tree.write("a file", to: "blocked")
        try await restore(["Paris/1.jpg"], output: tree.path("blocked/out"))
        let result = try await delivery.run()
        #expect(result.problems.map(\.path) == ["\(tree.path("blocked/out/Paris/1.jpg"))"])
        #expect(store.count(.get) == 0)
    }

    @Test func `more items than a page are all saved`() async throws {
        let job = try await restore((1...250).map { "Paris/\($0).jpg" }, output: output)
        #expect(try await delivery.run().saved == 250)
        #expect(try saved(job) == 250)
    }

    // MARK: Stopped meanwhile

    @Test func `a photo that comes when the saving was stopped gets no name, and none of it is left`() async throws {
        let names = (1...9).map { "Paris/\($0).jpg" }
        let job = try await restore(names, output: output)
        let gate = Gate()
        store.add(StoreFault(.get, numbers: 1...(.max), .hold(gate)))
        let delivery = delivery
        async let running = delivery.run()
        await gate.waitForArrivals(3)
        let left = try #require(try ledger.stopSaving(job)).left
        #expect(left.count == 9 && !left.contains(where: \.isBeingSaved))
        gate.open()
        let result = try await running
        #expect(result.saved == 0 && result.problems == [])
        #expect(try saved(job) == 0 && tree.files() == [])
        // What has not begun does not begin.
        #expect(store.count(.get) <= 6)
    }

    @Test func `a photo that gets its name when the saving is stopped is saved, and noted`() async throws {
        let job = try await restore(["1.jpg"], output: output)
        var calls = DownloadCalls()
        let link = calls.link
        calls.link = { [ledger] (old, new) throws(Errno) in
            _ = try? ledger.stopSaving(job)
            try link(old, new)
        }
        #expect(try await downloader(calls).run().saved == 1)
        #expect(try saved(job) == 1 && tree.files() == ["out/1.jpg"])
        let items = try ledger.restoreItems(of: job, after: 0, limit: .max)
        #expect(!items.contains(where: \.isLeftToSave) && !items.contains(where: \.isBeingSaved))
    }

    @Test func `what a killed process had begun of photos that are given up goes, and nothing else`() async throws {
        let job = try await restore((1...3).map { "Paris/\($0).jpg" }, output: output, ready: 1)
        #expect(try await delivery.run().saved == 1)
        try finishRestores(job)
        for name in ["1", "2", "another"] { try tree.write("half", to: "out/Paris/.\(name).jpg.sync-agent-part") }
        let busy = try NewFile(for: output.pushing("Paris/3.jpg"))
        try ledger.stopSaving(job)
        #expect(try await delivery.run().saved == 0)
        let kept = [".1.jpg.sync-agent-part", ".3.jpg.sync-agent-part", ".another.jpg.sync-agent-part", "1.jpg"]
        #expect(try tree.files(below: "out/Paris") == kept)
        #expect(try ledger.endedRestoreMarks() == [])
        try busy.remove()
    }

    @Test func `nothing goes from a folder that only has the place of the job's`() async throws {
        let job = try await restore(["1.jpg", "2.jpg"], output: output, ready: 1)
        #expect(try await delivery.run().saved == 1)
        for name in try tree.files(below: "out") { try output.pushing(FilePath(name)).unlink() }
        try tree.write("half", to: "out/.2.jpg.sync-agent-part")
        try ledger.stopSaving(job)
        #expect(try await delivery.run().saved == 0)
        #expect(try tree.files() == ["out/.2.jpg.sync-agent-part"])
    }

    @Test func `a photo that could not be saved is in nobody's hand`() async throws {
        let job = try await restore(["1.jpg"], output: output)
        var calls = DownloadCalls()
        calls.link = { (_, _) throws(Errno) in throw .ioError }
        #expect(try await downloader(calls).run().unsaved[job]?.count == 1)
        let left = try #require(try ledger.stopSaving(job)).left
        #expect(left.map(\.isBeingSaved) == [false])
    }

    // MARK: A full disk

    @Test func `on a full disk each photo that did not come is named, and what goes elsewhere is saved`() async throws {
        let full = tree.path("full")
        let names = (1...250).map { "Paris/\($0).jpg" }
        let job = try await restore(names, output: full)
        let other = try await restore(["a.jpg"], output: output)
        var calls = DownloadCalls()
        let write = calls.write
        calls.write = { file, offset, bytes in
            let path = FilePath("/proc/self/fd/\(file.rawValue)").resolved
            if path?.starts(with: full) ?? true { throw Errno.noSpace }
            return try write(file, offset, bytes)
        }
        let result = try await downloader(calls).run()
        #expect(result.saved == 1)
        #expect(try saved(other) == 1 && saved(job) == 0)
        #expect(result.problems.map(\.path) == names.map { "\(full)/\($0)" })
        #expect(result.problems.allSatisfy { $0.reason.contains("the disk is full") })
        #expect(result.unsaved.mapValues(\.count) == [job: 250])
        #expect(result.lines.count == 11 && result.lines.last?.hasPrefix("240 more photos: ") == true)
        // The disk is asked a few times, not once for each.
        #expect(store.count(.get) <= 8)
        #expect(try await delivery.run().saved == 250)
    }

    @Test func `a name that is taken and free at once fails its photo in the end`() async throws {
        let job = try await restore(["1.jpg"], output: output)
        var calls = DownloadCalls()
        calls.link = { (_, _) throws(Errno) in throw .fileExists }
        let result = try await downloader(calls).run()
        #expect(result.saved == 0 && result.unsaved[job]?.count == 1)
        #expect(result.problems.allSatisfy { $0.reason.contains("shows nothing there") })
        #expect(try await delivery.run().saved == 1)
    }
}
