import FoundationEssentials
import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct PhotoPipelineTests {
    @Test func `each kind of folder stores its files where they belong`() async throws {
        let bench = try Bench()
        bench.disk.write("sunset", to: Bench.gallery.appending("a.jpg"))
        bench.disk.write("beach", to: Bench.vacations.appending("Paris").appending("b.jpg"))
        bench.disk.write("image", to: Bench.projects.appending("p1.jpg"))
        bench.disk.write("text []", to: Bench.projects.appending("projects.json"))
        bench.disk.write("text", to: Bench.gallery.appending("notes.txt"))
        try await bench.pass()

        let sunset = ContentDigest(of: Array("sunset".utf8)).md5
        let beach = ContentDigest(of: Array("beach".utf8)).md5
        let keys = [
            "users/ana/photos/\(sunset).dat", "users/ana/photos/\(beach).dat", "users/ana/projects/p1.jpg",
            "users/ana/projects/projects.json",
        ].sorted()
        #expect(bench.memory.keys.map(\.rawValue) == keys)
        #expect(bench.memory.content(try ObjectKey("users/ana/photos/\(sunset).dat")) == Array("SUNSET".utf8))
        #expect(try bench.status(Bench.gallery.appending("notes.txt"))?.state == .skipped)
    }

    @Test func `a stored object carries its digests, its pixels and its type`() async throws {
        let bench = try Bench()
        bench.disk.write("sunset", to: Bench.gallery.appending("a.jpg"))
        try await bench.pass()
        let key = try #require(bench.memory.keys.first)
        let info = try #require(bench.memory.info(key))
        #expect(info.contentType == "image/jpeg")
        #expect(
            info.metadata == [
                "md5": "\(ContentDigest(of: Array("sunset".utf8)).md5)",
                "sha256": "\(ContentDigest(of: Array("SUNSET".utf8)).sha256)",
                "stored-md5": "\(ContentDigest(of: Array("SUNSET".utf8)).md5)", "width": "4", "height": "3",
            ])
    }

    @Test func `the object of a film tells how long it lasts`() async throws {
        let bench = try Bench()
        bench.disk.write("film", to: Bench.gallery.appending("a.mp4"))
        bench.disk.onCopy { $0.duration = .milliseconds(12_345) }
        try await bench.pass()
        let key = try #require(bench.memory.keys.first)
        #expect(bench.memory.info(key)?.metadata["duration"] == "12.345")
    }

    @Test func `a broken photo fails with its reason and holds nobody up`() async throws {
        let bench = try Bench()
        for index in 1...7 {
            bench.disk.write(index == 2 ? "broken" : "photo \(index)", to: Bench.gallery.appending("\(index).jpg"))
        }
        try await bench.pass()
        #expect(bench.memory.keys.count == 6)
        let failed = try #require(try bench.status(Bench.gallery.appending("2.jpg")))
        #expect(failed.state == .failed)
        #expect(failed.error == "Premature end of JPEG file")
    }

    @Test func `a photo that is read while a folder above is a link is looked at again`() async throws {
        let bench = try Bench()
        let photo = Bench.gallery.appending("a.jpg")
        bench.disk.write("sunset", to: photo)
        bench.disk.setBelowLink(photo, true)
        try await bench.pass()
        #expect(try bench.status(photo)?.state == .pending)
        bench.disk.setBelowLink(photo, false)
        try bench.ledger.makeAllDue(at: bench.time.now)
        try await bench.pass()
        #expect(try bench.status(photo)?.state == .uploaded)
    }

    @Test func `the same photo under two names is sent once`() async throws {
        let bench = try Bench()
        bench.disk.write("sunset", to: Bench.gallery.appending("a.jpg"))
        bench.disk.write("sunset", to: Bench.vacations.appending("b.jpg"))
        try await bench.pass()
        #expect(bench.store.count(.put) == 1)
        #expect(try bench.states().values.allSatisfy { $0 == .uploaded })
        #expect(bench.events.summary.uploaded == 1)
        #expect(bench.events.summary.alreadyStored == 1)
    }

    @Test func `a photo whose twin is stored while it waits is not sent, though neither was known when it was read`()
        async throws
    {
        let gate = Gate()
        let bench = try Bench(faults: [StoreFault(.put, .hold(gate))])
        for name in ["a.jpg", "b.jpg"] { bench.disk.write("sunset", to: Bench.gallery.appending(name)) }
        try bench.scan()
        async let run: Void = bench.makePipeline().run(.untilDone(patience: .zero))
        // It goes on when the test ends early, too.
        defer { gate.open() }
        await gate.waitForArrivals(1)
        try await eventually("both") { bench.disk.reduced.count >= 2 ? () : nil }
        gate.open()
        try await run
        #expect(bench.store.count(.put) == 1)
        #expect(try bench.states().values.allSatisfy { $0 == .uploaded })
        #expect(bench.events.summary.alreadyStored == 1)
    }

    @Test func `a pass counts what has become of each file`() async throws {
        let bench = try Bench()
        for name in ["a.jpg", "b.jpg"] { bench.disk.write("sunset", to: Bench.gallery.appending(name)) }
        bench.disk.write("broken", to: Bench.gallery.appending("c.jpg"))
        bench.disk.write("text", to: Bench.gallery.appending("notes.txt"))
        let waiting = Bench.gallery.appending("d.jpg")
        bench.disk.write("noon", to: waiting)
        bench.disk.setBelowLink(waiting, true)
        try await bench.pass()
        var expected = PassSummary()
        expected.uploaded = 1
        expected.alreadyStored = 1
        expected.failed = 1
        expected.skipped = 1
        expected.postponed = 1
        (expected.bytesRead, expected.bytesSent) = (12, 6)
        #expect(bench.events.summary == expected)
    }

    @Test func `a second pass sends and reads nothing`() async throws {
        let bench = try Bench()
        bench.disk.write("sunset", to: Bench.gallery.appending("a.jpg"))
        try await bench.pass()
        try await bench.pass()
        #expect(bench.store.count(.put) == 1)
        #expect(bench.disk.reduced.count == 1)
    }

    @Test func `a rename keeps the upload, and reading the file proves it`() async throws {
        let bench = try Bench()
        let (old, new) = (Bench.gallery.appending("a.jpg"), Bench.gallery.appending("b.jpg"))
        bench.disk.write("sunset", to: old)
        try await bench.pass()
        let before = try #require(try bench.status(old))
        bench.disk.rename(old, to: new)
        try await bench.pass()
        #expect(try bench.states() == [new.string: .uploaded])
        let after = try #require(try bench.status(new))
        #expect(after.id == before.id && after.key == before.key && after.uploadedAt == before.uploadedAt)
        #expect(bench.disk.reduced.count == 1)
        #expect(bench.store.count(.put) == 1)
    }

    @Test func `photos of a renamed folder keep their uploads, and are not read`() async throws {
        let bench = try Bench()
        let (old, new) = (Bench.gallery.pushing("a/1.jpg"), Bench.gallery.pushing("b/1.jpg"))
        bench.disk.write("sunset", to: old)
        try await bench.pass()
        bench.disk.move(old, to: new)
        try await bench.pass()
        #expect(try bench.states() == [new.string: .uploaded])
        #expect(bench.disk.examined == [old])
    }

    @Test func `a touched photo is read again, and sent only when it is another one`() async throws {
        let bench = try Bench()
        let path = Bench.gallery.appending("a.jpg")
        bench.disk.write("sunset", to: path)
        try await bench.pass()
        bench.disk.touch(path)
        try await bench.pass()
        #expect(bench.disk.examined == [path, path])
        #expect(bench.store.count(.put) == 1)
        // As `exiftool -P -overwrite_original_in_place` and `cp -p` do it.
        bench.disk.touch(path, rewriting: "sunrse")
        try await bench.pass()
        #expect(bench.store.count(.put) == 2)
        #expect(try bench.status(path)?.md5 == ContentDigest(of: Array("sunrse".utf8)).md5)
        #expect(try bench.states() == [path.string: .uploaded])
    }

    @Test func `an edited photo is stored beside its earlier version`() async throws {
        let bench = try Bench()
        let path = Bench.gallery.appending("a.jpg")
        bench.disk.write("sunset", to: path)
        try await bench.pass()
        bench.disk.write("sunset, cropped", to: path)
        try await bench.pass()
        #expect(bench.memory.keys.count == 2)
        #expect(try bench.status(path)?.md5 == ContentDigest(of: Array("sunset, cropped".utf8)).md5)
    }

    @Test func `three photos are in flight, and the next begins when one ends`() async throws {
        let gate = Gate()
        let bench = try Bench(faults: [StoreFault(.put, .hold(gate))])
        for index in 1...9 { bench.disk.write("photo \(index)", to: Bench.gallery.appending("\(index).jpg")) }
        try bench.scan()
        async let run: Void = bench.makePipeline().run(.untilDone(patience: .zero))
        await gate.waitForArrivals(3)
        gate.letOne()
        await gate.waitForArrivals(4)
        #expect(bench.memory.keys.count == 1)
        // What is prepared ahead is bounded: three in flight, three ready, three being prepared at most.
        #expect(bench.disk.reduced.count <= 9)
        gate.open()
        try await run
        #expect(bench.store.mostInFlight(.put) == 3)
        #expect(bench.memory.keys.count == 9)
    }

    @Test func `of many small files in one group, each has its own end`() async throws {
        let refused = try key("photo 7")
        let bench = try Bench(faults: [StoreFault(.put, key: refused, .failBefore(.invalidRequest))])
        for index in 1...100 {
            bench.disk.write("photo \(index)", to: Bench.gallery.appending("\(index).jpg"))
            bench.disk.write("text \(index)", to: Bench.gallery.appending("\(index).txt"))
        }
        for index in 1...9 { bench.disk.write("broken \(index)", to: Bench.gallery.appending("broken\(index).jpg")) }
        try await bench.pass()
        #expect(bench.memory.keys.count == 99)
        let counts = try bench.states().values.reduce(into: [PhotoState: Int]()) { $0[$1, default: 0] += 1 }
        #expect(counts == [.uploaded: 99, .pending: 1, .skipped: 100, .failed: 9])
        #expect(bench.events.summary.uploaded == 99 && bench.events.summary.skipped == 100)
        #expect(try bench.status(Bench.gallery.appending("7.jpg"))?.attempts == 1)
        #expect(bench.events.all.count == 209 && Set(bench.events.all.map(\.file)).count == 209)
    }

    @Test func `no more than two batches are out of the queue`() async throws {
        let gate = Gate()
        let bench = try Bench(faults: [StoreFault(.put, .hold(gate))])
        let bulk = String(repeating: "x", count: 600_000)
        for index in 1...30 { bench.disk.write("photo \(index) \(bulk)", to: Bench.gallery.appending("\(index).jpg")) }
        try bench.scan()
        async let run: Void = bench.makePipeline().run(.untilDone(patience: .zero))
        await gate.waitForArrivals(3)
        let uploading = try bench.ledger.overview().totals[.uploading].files
        #expect(uploading <= 3 + 3 + 1)
        gate.open()
        try await run
        #expect(bench.memory.keys.count == 30)
    }

    @Test func `a photo whose upload fails for now is tried again when its time has come`() async throws {
        let bench = try Bench(faults: [StoreFault(.put, number: 1, .failBefore(.serverFailed))])
        let path = Bench.gallery.appending("a.jpg")
        bench.disk.write("sunset", to: path)
        try await bench.pass()
        let waiting = try #require(try bench.status(path))
        #expect(waiting.state == .pending)
        #expect(waiting.error?.contains("scripted by the test") == true)
        try await bench.pass()
        #expect(try bench.status(path)?.state == .pending)
        await bench.time.advance(by: .seconds(31))
        try await bench.pass()
        #expect(try bench.status(path)?.state == .uploaded)
    }

    private static let refusals: [StoreError.Code] = [
        .notFound, .invalidRequest, .tooLarge, .unsupported, .conflict, .invalidResponse, .badDigest,
        .accessDenied, .credentialsRejected, .wrongRegion, .storeMissing, .timedOut, .unreachable, .clockSkew,
        .settingRefused, .noSpace,
    ]

    private func key(_ photo: String) throws -> String {
        try KeyLayout(user: "ana").photo(PhotoID(ContentDigest(of: Array(photo.utf8)).md5)).rawValue
    }

    @Test(arguments: refusals)
    func `what a store refuses once is never failed: the photo waits, and is stored later`(code: StoreError.Code)
        async throws
    {
        let bench = try Bench(faults: [StoreFault(.put, number: 1, .failBefore(code))])
        let path = Bench.gallery.appending("a.jpg")
        bench.disk.write("sunset", to: path)
        try await bench.pass()
        let waiting = try #require(try bench.status(path))
        #expect(waiting.state == .pending)
        #expect(waiting.error?.contains("scripted by the test") == true)
        #expect(try bench.ledger.delayedPhotos(limit: 9).map(\.path) == [path])
        await bench.time.advance(by: .seconds(31))
        try await bench.pass()
        #expect(try bench.status(path)?.state == .uploaded)
        #expect(bench.events.summary.failed == 0)
    }

    @Test(arguments: refusals)
    func `one key that is always refused holds up none of the others, and does not end the pass`(code: StoreError.Code)
        async throws
    {
        let bench = try Bench(faults: [StoreFault(.put, key: key("photo 3"), .failBefore(code))])
        for index in 1...9 { bench.disk.write("photo \(index)", to: Bench.gallery.appending("\(index).jpg")) }
        for _ in 1...3 {
            try await bench.pass()
            try bench.ledger.makeAllDue(at: bench.time.now)
        }
        #expect(bench.memory.keys.count == 8)
        let refused = try #require(try bench.status(Bench.gallery.appending("3.jpg")))
        #expect(refused.state == .pending && refused.attempts == 3)
        #expect(refused.error?.contains(try key("photo 3")) == true)
        let error = try bench.ledger.overview().store?.error
        // That there is no room for it, the store says of itself.
        #expect((error != nil) == (code == .noSpace))
    }

    @Test func `what was refused by a clock that was wrong is tried as soon as it is right`() async throws {
        let bench = try Bench()
        let path = Bench.gallery.appending("a.jpg")
        bench.disk.write("sunset", to: path)
        try bench.scan()
        let later = bench.time.now.addingTimeInterval(10 * 365 * 86_400)
        let claim = try #require(try bench.ledger.claim(limit: 1, at: later).first)
        try bench.ledger.commit(claim, outcome: .postponed("refused", until: later + 30), at: later)
        try await bench.pass()
        #expect(try bench.status(path)?.state == .uploaded)
    }

    @Test func `an answer that is lost does not make a second object`() async throws {
        let bench = try Bench(faults: [StoreFault(.put, number: 1, .failAfter(.connectionLost))])
        bench.disk.write("sunset", to: Bench.gallery.appending("a.jpg"))
        try await bench.pass()
        await bench.time.advance(by: .seconds(31))
        try await bench.pass()
        #expect(try bench.states().values.allSatisfy { $0 == .uploaded })
        #expect(bench.memory.keys.count == 1)
    }

    @Test(
        arguments: [
            StoreError.Code.unreachable, .accessDenied, .credentialsRejected, .noSpace, .storeMissing, .settingRefused,
            .timedOut, .wrongRegion, .unsupported, .invalidResponse,
        ])
    func `a store that is away as a whole ends a pass with its error, and no photo loses a try`(code: StoreError.Code)
        async throws
    {
        let bench = try Bench(faults: [StoreFault(.put, .failBefore(code))])
        for index in 1...9 { bench.disk.write("photo \(index)", to: Bench.gallery.appending("\(index).jpg")) }
        let error = try await #require(throws: StoreError.self) { try await bench.pass() }
        #expect(error.code == code)
        let overview = try bench.ledger.overview()
        #expect(overview.totals[.pending].files == 9)
        #expect(overview.store?.error != nil)
        for index in 1...9 { #expect(try bench.status(Bench.gallery.appending("\(index).jpg"))?.attempts == 0) }
    }

    @Test func `a store that does not answer the first check is told before anything is read`() async throws {
        let bench = try Bench(faults: [StoreFault(.check, .failBefore(.unreachable))])
        bench.disk.write("sunset", to: Bench.gallery.appending("a.jpg"))
        await #expect(throws: StoreError.self) { try await bench.pass() }
        #expect(bench.disk.reduced.isEmpty)
    }

    @Test func `a file that changes while it is read waits until it is whole`() async throws {
        let bench = try Bench()
        let path = Bench.gallery.appending("a.jpg")
        bench.disk.write("half", to: path)
        let disk = bench.disk
        let now = Int64(bench.time.now.timeIntervalSince1970)
        disk.onReduce { [unowned disk] changed in
            if disk.reduced.count == 1 { disk.write("the whole photo", to: changed, modifiedSeconds: now) }
        }
        try await bench.pass()
        #expect(bench.memory.keys.isEmpty)
        #expect(try bench.status(path)?.state == .pending)
        await bench.time.advance(by: .seconds(3))
        try await bench.pass()
        #expect(try bench.status(path)?.md5 == ContentDigest(of: Array("the whole photo".utf8)).md5)
    }

    @Test func `a file that another process writes to is not read`() async throws {
        let bench = try Bench()
        let path = Bench.gallery.appending("a.jpg")
        bench.disk.write("sunset", to: path)
        bench.disk.setBeingWritten(path, true)
        try await bench.pass()
        #expect(bench.disk.reduced.isEmpty)
        #expect(try bench.status(path)?.error == "another process has it open for writing")
        bench.disk.setBeingWritten(path, false)
        await bench.time.advance(by: .seconds(3))
        try await bench.pass()
        #expect(try bench.status(path)?.state == .uploaded)
    }

    @Test func `a file that is gone before its turn is forgotten`() async throws {
        let bench = try Bench()
        let (path, other) = (Bench.gallery.appending("a.jpg"), Bench.gallery.appending("b.jpg"))
        for file in [path, other] { bench.disk.write("\(file)", to: file) }
        try bench.scan()
        bench.disk.remove(path)
        try await bench.makePipeline().run(.untilDone(patience: .zero))
        #expect(try bench.states() == [other.string: .uploaded])
    }
}
