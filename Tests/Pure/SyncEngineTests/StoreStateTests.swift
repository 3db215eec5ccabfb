import FoundationEssentials
import SyncCore
import SyncDigest
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

/// What is noted of a store, for `status`.
@Suite struct StoreStateTests {
    @Test func `a store that took a photo before its refusal was noted is noted as one that takes photos`()
        async throws
    {
        let bench = try Bench()
        for index in 1...4 { bench.disk.write("photo \(index)", to: Bench.gallery.appending("\(index).jpg")) }
        try bench.scan()
        let claims = try bench.ledger.claim(limit: 4, at: bench.time.now)
        let pipeline = try bench.makePipeline()
        let refusal = StoreError(.noSpace, operation: "put", key: "photo", message: "its disk is full")
        let verdicts = claims.prefix(3).map { pipeline.gate.judge($0, refusal) }
        guard case .closed(let closing) = verdicts[2] else {
            Issue.record("the gate is open")
            return
        }
        try await pipeline.report(closing, .untilStopped)
        #expect(try bench.ledger.overview().store?.error != nil)
        #expect(pipeline.gate.noteAccepted(claims[3].photoID) == .opened)
        try await pipeline.report(closing, .untilStopped)
        #expect(try bench.ledger.overview().store?.error == nil)
    }

    @Test(arguments: [StoreError.Code.throttled, .serverFailed, .connectionLost])
    func `a store that fails at each photo for a quarter of an hour takes none since the first`(
        code: StoreError.Code
    ) async throws {
        let bench = try Bench()
        for index in 1...5 { bench.disk.write("photo \(index)", to: Bench.gallery.appending("\(index).jpg")) }
        try bench.scan()
        let claims = try bench.ledger.claim(limit: 5, at: bench.time.now)
        let pipeline = try bench.makePipeline()
        let failure = StoreError(code, operation: "put", key: "photo", message: "it asks to slow down")
        let begin = bench.time.now
        for claim in claims[..<3] { try await pipeline.fail(claim, failure, .untilStopped) }
        #expect(try note(bench)?.error == nil)
        await bench.time.advance(by: FailingSpell.patience)
        try await pipeline.fail(claims[3], failure, .untilStopped)
        #expect(try note(bench)?.error == "put: it asks to slow down" && note(bench)?.since == begin)
        // It answers well all the while: nothing waits for it, and a look does not end that.
        #expect(pipeline.gate.closedBy == nil)
        try await pipeline.noteAnswer()
        #expect(try note(bench)?.error != nil)
        try await pipeline.noteAccepted(claims[4], SentCount(isStored: true))
        #expect(try note(bench)?.error == nil)
    }

    @Test func `one photo at which a store fails for long says nothing of the store`() async throws {
        let bench = try Bench()
        let gate = try bench.makePipeline().gate
        for _ in 1...9 {
            #expect(gate.noteFailing(1) == nil)
            await bench.time.advance(by: FailingSpell.patience)
        }
        #expect(gate.noteFailing(2) == nil)
        #expect(gate.noteFailing(3) != nil && gate.isInDoubt)
        // Once is enough, until it has taken one.
        #expect(gate.noteFailing(4) == nil)
        gate.noteAccepted(1)
        for photo in 5...9 { #expect(gate.noteFailing(Int64(photo)) == nil) }
        // What failed yesterday, and was done with then, says nothing of today.
        await bench.time.advance(by: .seconds(86_400))
        #expect(gate.noteFailing(10) == nil)
    }

    @Test func `a store that fails at later photos is told again, where the earlier ones do not wait any more`()
        async throws
    {
        let bench = try Bench()
        let gate = try bench.makePipeline().gate
        for begin: Int64 in [1, 5] {
            for photo in begin...begin + 2 { #expect(gate.noteFailing(photo) == nil) }
            await bench.time.advance(by: FailingSpell.patience)
            #expect(gate.noteFailing(begin + 3) == FailingSpell.patience && gate.isInDoubt)
            gate.trust()
            #expect(!gate.isInDoubt)
        }
    }

    private func note(_ bench: Bench) throws -> Overview.StoreNote? { try bench.ledger.overview().store }

    @Test func `a store that refuses pass after pass does so since the first, till it takes a photo`() async throws {
        let bench = try Bench(faults: [StoreFault(.put, numbers: 1...9, .failBefore(.noSpace))])
        for index in 1...3 { bench.disk.write("photo \(index)", to: Bench.gallery.appending("\(index).jpg")) }
        await #expect(throws: StoreError.self) { try await bench.pass() }
        let since = try #require(try note(bench)?.since)
        for _ in 1...2 {
            await bench.time.advance(by: .seconds(60))
            try bench.ledger.makeAllDue(at: bench.time.now)
            await #expect(throws: StoreError.self) { try await bench.pass() }
            #expect(try note(bench)?.since == since && note(bench)?.error != nil)
        }
        try bench.ledger.noteStoreAnswer(at: bench.time.now)
        #expect(try note(bench)?.since == since)
        await bench.time.advance(by: .seconds(60))
        try bench.ledger.makeAllDue(at: bench.time.now)
        try await bench.pass()
        #expect(bench.memory.keys.count == 3)
        #expect(try note(bench)?.error == nil && note(bench)?.since == nil)
    }

    @Test func `a refusal that an earlier pass has met ends with the first photo, though others wait`() async throws {
        let denied = try KeyLayout(user: "ana").photo(PhotoID(ContentDigest(of: Array("photo 2".utf8)).md5)).rawValue
        let bench = try Bench(faults: [StoreFault(.put, key: denied, .failBefore(.invalidRequest))])
        try bench.ledger.noteStore(error: "its disk is full", isRefusal: true, at: bench.time.now)
        for index in 1...2 { bench.disk.write("photo \(index)", to: Bench.gallery.appending("\(index).jpg")) }
        try await bench.pass()
        #expect(try bench.ledger.overview().totals.waiting == 1)
        #expect(try note(bench)?.error == nil && note(bench)?.since == nil)
    }

    @Test func `a store without room is told with the first photo, until it takes one`() async throws {
        let bench = try Bench(faults: [StoreFault(.put, number: 1, .failBefore(.noSpace))])
        bench.disk.write("photo", to: Bench.gallery.appending("1.jpg"))
        let begin = bench.time.now
        try await bench.pass()
        #expect(try bench.ledger.overview().totals.waiting == 1)
        let note = try #require(try note(bench))
        #expect(note.error?.contains("scripted by the test") == true && note.since == begin)
        // It holds nothing back, and that it answers is no end of it.
        try bench.ledger.noteStoreAnswer(at: bench.time.now)
        #expect(try self.note(bench)?.error != nil)
        try bench.ledger.makeAllDue(at: bench.time.now)
        try await bench.pass()
        #expect(bench.memory.keys.count == 1)
        #expect(try self.note(bench)?.error == nil && self.note(bench)?.since == nil)
    }

    @Test func `where no photo waits, a look ends what was noted`() async throws {
        let bench = try Bench()
        try bench.ledger.noteStore(error: "its disk is full", isRefusal: true, at: bench.time.now)
        try await bench.pass()
        #expect(try note(bench)?.error == nil && note(bench)?.since == nil)
    }

    /// A photo that waits for a reason of its own: the store is not asked to take it.
    private func writeWaiting(to bench: Bench) throws {
        bench.disk.write("photo", to: Bench.gallery.appending("1.jpg"))
        try bench.scan()
        let claim = try #require(try bench.ledger.claim(limit: 1, at: bench.time.now).first)
        try bench.ledger.commit(
            claim, outcome: .postponed("it cannot be read", until: bench.time.now + 3_600), at: bench.time.now)
        #expect(try bench.ledger.overview().totals.waiting == 1)
    }

    @Test(arguments: [StoreError.Code.unreachable, .credentialsRejected])
    func `an outage ends with the first good answer, also in a later run, while a photo waits for itself`(
        code: StoreError.Code
    ) async throws {
        let bench = try Bench(faults: [StoreFault(.check, numbers: 1...1, .failBefore(code))])
        try writeWaiting(to: bench)
        await #expect(throws: StoreError.self) { try await bench.makePipeline().run(.untilDone(patience: .zero)) }
        #expect(try note(bench)?.error != nil && note(bench)?.since != nil)
        // As after a restart: what is known is in the ledger alone.
        try await bench.makePipeline().run(.untilDone(patience: .zero))
        #expect(bench.store.count(.put) == 0)
        #expect(try bench.ledger.overview().totals.waiting == 1)
        #expect(try note(bench)?.error == nil && note(bench)?.since == nil)
    }

    @Test func `a refusal outlasts later good answers and outages, till the store takes a photo`() async throws {
        let bench = try Bench(faults: [StoreFault(.check, numbers: 1...1, .failBefore(.unreachable))])
        try bench.ledger.noteStore(error: "its disk is full", isRefusal: true, at: bench.time.now)
        let since = try #require(try note(bench)?.since)
        try writeWaiting(to: bench)
        await bench.time.advance(by: .seconds(60))
        await #expect(throws: StoreError.self) { try await bench.makePipeline().run(.untilDone(patience: .zero)) }
        for _ in 1...2 {
            try await bench.makePipeline().run(.untilDone(patience: .zero))
            #expect(try note(bench)?.error != nil && note(bench)?.since == since)
        }
        bench.disk.write("another photo", to: Bench.gallery.appending("2.jpg"))
        try await bench.pass()
        #expect(try bench.ledger.overview().totals.waiting == 1)
        #expect(try note(bench)?.error == nil && note(bench)?.since == nil)
    }

    @Test func `an outage after a refusal that is over is an outage`() async throws {
        let bench = try Bench(faults: [StoreFault(.check, numbers: 2...2, .failBefore(.unreachable))])
        try bench.ledger.noteStore(error: "its disk is full", isRefusal: true, at: bench.time.now)
        let pipeline = try bench.makePipeline()
        // Nothing waits: that is the end of the refusal.
        try await pipeline.run(.untilDone(patience: .zero))
        #expect(try note(bench)?.error == nil)
        try writeWaiting(to: bench)
        await #expect(throws: StoreError.self) { try await pipeline.run(.untilDone(patience: .zero)) }
        #expect(try note(bench)?.error != nil)
        try await bench.makePipeline().run(.untilDone(patience: .zero))
        #expect(try note(bench)?.error == nil && note(bench)?.since == nil)
    }
}
