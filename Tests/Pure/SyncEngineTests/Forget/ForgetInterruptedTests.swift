import FoundationEssentials
import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

/// Deletions that end at each request, and photos that come back while they are under way.
@Suite struct ForgetInterruptedTests {
    private let forget: ForgetBench
    private let path = Bench.gallery.appending("a.jpg")
    private let back = Bench.gallery.appending("back.jpg")

    private var bench: Bench { forget.bench }

    init() throws { forget = try ForgetBench() }

    /// Four photos of which three are gone from the disk.
    private func prepare() async throws {
        let texts = ["sunset", "stars", "dawn", "moon"]
        for text in texts { bench.disk.write(text, to: Bench.gallery.appending("\(text).jpg")) }
        try await bench.pass()
        for text in texts.dropLast() { bench.disk.remove(Bench.gallery.appending("\(text).jpg")) }
        try await bench.pass()
    }

    static let requests: [(StoreOperation, Int)] = [
        (.list, 1), (.list, 2), (.list, 3), (.list, 4), (.deleteMany, 1), (.head, 1), (.head, 2), (.head, 3),
    ]

    @Test(
        arguments: requests, [true, false])
    func `whatever request it ends at, nothing is called safe that is gone, and the next one goes on`(
        request: (operation: StoreOperation, number: Int), isAnswerLost: Bool
    ) async throws {
        try await prepare()
        bench.store.add(
            StoreFault(
                request.operation, number: request.number,
                isAnswerLost ? .failAfter(.connectionLost) : .failBefore(.unreachable)))
        do {
            try await forget.forget(Bench.gallery)
        } catch is StoreError {}
        #expect(try forget.wronglySafe().isEmpty)
        #expect(try bench.ledger.check() == [])
        // The photo that is here was never named in vain.
        #expect(try bench.status(Bench.gallery.appending("moon.jpg"))?.state == .uploaded)
        try await forget.forget(Bench.gallery)
        for text in ["sunset", "stars", "dawn"] { #expect(try !forget.isStored(text)) }
        #expect(try forget.isStored("moon"))
        #expect(try bench.ledger.openDeletions().isEmpty)
        #expect(try bench.ledger.check() == [])
    }

    @Test func `an object that the store does not let us look at is deleted, and stays noted until that is proved`()
        async throws
    {
        try await prepare()
        bench.store.add(StoreFault(.head, number: 1, .failBefore(.accessDenied)))
        try await forget.forget(Bench.gallery)
        #expect(try bench.ledger.openDeletions().count == 1)
        try await forget.forget(Bench.gallery)
        #expect(try bench.ledger.openDeletions().isEmpty)
        for text in ["sunset", "stars", "dawn"] { #expect(try !forget.isStored(text)) }
    }

    @Test(
        arguments: requests)
    func `a process that is killed at any request leaves a ledger from which the next one goes on`(
        request: (operation: StoreOperation, number: Int)
    ) async throws {
        try await prepare()
        let (ledger, copies) = (bench.ledger, Lock<[Ledger]>([]))
        bench.store.add(
            StoreFault(
                request.operation, number: request.number,
                .meanwhile {
                    guard let copy = try? ledger.copyInMemory() else { return }
                    copies.withLock { $0.append(copy) }
                }))
        try await forget.forget(Bench.gallery)
        let left = try #require(copies.withLock { $0.first })
        // What was under way has happened by now: the request had been sent.
        #expect(try forget.wronglySafe(left).allSatisfy { try self.isNamed($0, in: left) })
        try await forget.deletions(left).run()
        var photos: [PhotoStatus] = []
        try left.photos(at: Bench.gallery) { photos.append($0) }
        let plan = try await forget.planner(left).begin(try await forget.planner(left).plan(photos, onlyGone: true))
        try await forget.deletions(left).run()
        #expect(plan.photos.count + 1 == photos.count)
        #expect(try forget.wronglySafe(left).isEmpty)
        #expect(try left.openDeletions().isEmpty)
        #expect(try left.check() == [])
    }

    /// Before it was forgotten, a photo is known as stored: nothing had been deleted then, but in this test, which goes on.
    private func isNamed(_ path: FilePath, in ledger: Ledger) throws -> Bool {
        var isKnown = false
        try ledger.photos(at: path) { _ in isKnown = true }
        return try isKnown && ledger.openDeletions().isEmpty
    }

    @Test func `the same photo under a new path keeps the object, when its deletion was not begun`() async throws {
        try await prepare()
        _ = try await forget.planner().begin(try await forget.plan(Bench.gallery.appending("sunset.jpg")))
        bench.disk.write("sunset", to: back)
        try await bench.pass()
        #expect(try bench.status(back)?.state == .uploaded)
        let result = try await forget.deletions().run()
        #expect(result.deleted.isEmpty)
        #expect(try forget.isStored("sunset"))
        #expect(try bench.ledger.openDeletions().isEmpty)
    }

    @Test func `one that comes while the object is being deleted waits, and is stored anew`() async throws {
        try await prepare()
        let key = try ForgetBench.key("sunset")
        _ = try await forget.planner().begin(try await forget.plan(Bench.gallery.appending("sunset.jpg")))
        // As a process that was killed behind its request leaves it.
        #expect(try bench.ledger.beginDeletions([key], at: bench.time.now) == [key])
        bench.disk.write("sunset", to: back)
        try await bench.pass()
        #expect(try bench.status(back)?.state == .pending)
        #expect(try bench.status(back)?.error?.contains("being deleted for good") == true)
        #expect(!bench.disk.reduced.contains(back))
        #expect(try await forget.deletions().run().deleted.map(\.key) == [key])
        try bench.ledger.makeAllDue(at: bench.time.now)
        try await bench.pass()
        #expect(try bench.status(back)?.state == .uploaded)
        #expect(try forget.isStored("sunset"))
        #expect(try forget.wronglySafe().isEmpty)
    }

    @Test(arguments: [false, true])
    func `of a deletion that begins when its photo was looked up, the commit knows, and it is stored anew`(
        isKnown: Bool
    ) async throws {
        try await prepare()
        let key = try ForgetBench.key("sunset")
        let plan = try await forget.plan(Bench.gallery.appending("sunset.jpg"))
        if !isKnown { _ = try await forget.planner().begin(plan) }
        bench.disk.write("sunset", to: back)
        let (ledger, time) = (bench.ledger, bench.time)
        let gone = plan.photos.map { (id: $0.id, state: $0.state) }
        let begun = Lock<[ObjectKey]>([])
        let begin: @Sendable () -> Void = {
            guard begun.withLock({ $0.isEmpty }) else { return }
            if isKnown { _ = try? ledger.beginForget(gone, at: time.now) }
            let keys = (try? ledger.beginDeletions([key], at: time.now)) ?? []
            begun.withLock { $0 = keys }
        }
        // What the ledger knows is not decoded: the store is asked for it.
        if isKnown {
            bench.store.add(StoreFault(.head, key: key.rawValue, .meanwhile(begin)))
        } else {
            bench.disk.onReduce { [back] file in if file == back { begin() } }
        }
        try await bench.pass()
        #expect(begun.withLock { $0 } == [key])
        #expect(try bench.status(back)?.state == .pending)
        #expect(try forget.wronglySafe().isEmpty)
        #expect(try await forget.deletions().run().deleted.map(\.key) == [key])
        bench.disk.onReduce { _ in }
        await bench.time.advance(by: .seconds(2))
        try await bench.pass()
        #expect(try bench.status(back)?.state == .uploaded)
        #expect(try forget.isStored("sunset"))
        #expect(try forget.wronglySafe().isEmpty)
        #expect(try bench.ledger.check() == [])
    }

    @Test func `an upload that has seen the object before it was gone does not count`() async throws {
        try await prepare()
        let key = try ForgetBench.key("sunset")
        let record = try #require(try bench.ledger.object(key))
        let plan = try await forget.plan(Bench.gallery.appending("sunset.jpg"))
        bench.disk.write("sunset", to: back)
        try bench.scan()
        let claim = try #require(try bench.ledger.claim(limit: 1, at: bench.time.now).first)
        _ = try await forget.planner().begin(plan)
        #expect(try await forget.deletions().run().deleted.count == 1)
        let digest = ContentDigest(of: Array("sunset".utf8))
        try bench.ledger.commit(claim, outcome: .uploaded(digest, record), at: bench.time.now)
        #expect(try bench.status(back)?.state == .pending)
        #expect(try forget.wronglySafe().isEmpty)
        await bench.time.advance(by: .seconds(2))
        try await bench.pass()
        #expect(try bench.status(back)?.state == .uploaded)
        #expect(try forget.isStored("sunset"))
        // The next one has nothing to fear.
        #expect(try await forget.deletions().run().deleted.isEmpty)
        #expect(try bench.ledger.check() == [])
    }

    @Test func `where the store refuses to delete, photos are stored as before, and it is tried again`() async throws {
        try await prepare()
        bench.store.add(StoreFault(.deleteMany, number: 1, .failBefore(.accessDenied)))
        await #expect(throws: StoreError.self) { try await forget.forget(Bench.gallery.appending("sunset.jpg")) }
        bench.disk.write("stars", to: back)
        try await bench.pass()
        #expect(try bench.status(back)?.state == .uploaded)
        #expect(try bench.ledger.openDeletions().count == 1)
        #expect(try await forget.deletions().run().deleted.count == 1)
    }
}
