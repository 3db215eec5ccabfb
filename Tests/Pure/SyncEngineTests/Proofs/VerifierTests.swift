import Foundation
import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

/// Reading back what is stored.
@Suite struct VerifierTests {
    private let bench: Bench

    init() throws {
        bench = try Bench()
    }

    private func store(_ names: String...) async throws -> [ObjectKey] {
        for name in names {
            bench.disk.write(name, to: Bench.gallery.appending("\(name).jpg"))
            // Each of them is proved at another moment.
            await bench.time.advance(by: .seconds(3_600))
            try await bench.pass()
        }
        await bench.time.advance(by: .seconds(1))
        return try names.map {
            try ObjectKey("users/ana/photos/\(ContentDigest(of: Array($0.utf8)).md5).dat")
        }
    }

    private func verifier(_ store: (any ObjectStore)? = nil, prices: PriceTable? = nil) -> Verifier {
        Verifier(
            store: store ?? bench.store,
            ledger: LedgerQueue(bench.ledger),
            cost: VerificationCost(prices: prices), time: bench.time.source)
    }

    /// A dollar for each object that is read.
    private let prices = PriceTable(
        region: "r", asOf: "2026-07", source: "test",
        classes: [.standard: ClassPrices(perGBMonth: 1, putPer1000: 1, getPer1000: 1_000)], egressPerGB: 0)

    @Test func `what is as it was stored is proved anew`() async throws {
        _ = try await store("sun", "moon")
        let result = try await verifier().run(.percent(100), costingAtMost: nil)
        #expect(result.checked == 2 && result.intact == 2 && result.broken.isEmpty)
        #expect(result.bytes == 7)
        let status = try bench.ledger.verificationStatus(at: bench.time.now)
        #expect(status.checked == 2)
        #expect(status.oldest == bench.time.now)
    }

    @Test func `rot that no digest of the store tells is found, and the photo is stored again`() async throws {
        let keys = try await store("sun", "moon")
        bench.memory.damage(keys[0])
        try await bench.memory.delete(keys[1])
        let result = try await verifier().run(.percent(100), costingAtMost: nil)
        #expect(result.checked == 2 && result.intact == 0)
        #expect(Set(result.broken.map(\.key)) == Set(keys))
        #expect(result.broken.first { $0.key == keys[0] }?.path == Bench.gallery.appending("sun.jpg"))
        #expect(result.broken.first { $0.key == keys[0] }?.problem.isDamage == true)
        #expect(result.broken.first { $0.key == keys[1] }?.problem == .missing)
        let status = try bench.ledger.verificationStatus(at: bench.time.now)
        #expect(status.damaged == 1 && status.missing == 1)
        try await bench.pass()
        #expect(bench.memory.content(keys[0]) == Array("SUN".utf8))
        #expect(bench.memory.content(keys[1]) == Array("MOON".utf8))
        let mended = try bench.ledger.verificationStatus(at: bench.time.now)
        #expect(mended.damaged == 0 && mended.missing == 0)
    }

    @Test func `a listing does not call whole what was read and found damaged`() async throws {
        let keys = try await store("sun")
        bench.disk.remove(Bench.gallery.appending("sun.jpg"))
        _ = try await store("moon")
        bench.memory.damage(keys[0])
        _ = try await verifier().run(.percent(100), costingAtMost: nil)
        #expect(try bench.status(Bench.gallery.appending("sun.jpg"))?.state == .lost)
        await bench.time.advance(by: .seconds(1))
        _ = try await ClassRefresh(
            store: bench.store, ledger: LedgerQueue(bench.ledger),
            keys: try KeyLayout(user: "ana"), time: bench.time.source
        ).run()
        #expect(try bench.status(Bench.gallery.appending("sun.jpg"))?.state == .lost)
        // And it is told again, each time.
        await bench.time.advance(by: .seconds(1))
        let again = try await verifier().run(.percent(100), costingAtMost: nil)
        #expect(again.broken.map(\.key) == keys)
    }

    @Test func `the longest unproven comes first, and a part of all is rounded up`() async throws {
        let keys = try await store("sun", "moon", "stars")
        _ = try await verifier().run(.percent(34), costingAtMost: nil)
        // Both are on their way at once.
        let read = bench.store.calls.filter { $0.operation == .get }.map(\.key)
        #expect(Set(read) == Set([keys[0], keys[1]].map(\.rawValue)) && read.count == 2)
        await bench.time.advance(by: .seconds(1))
        _ = try await verifier().run(.percent(1), costingAtMost: nil)
        #expect(bench.store.calls.last { $0.operation == .get }?.key == keys[2].rawValue)
    }

    @Test func `what was proved by a clock that was ahead is looked at first, and once`() async throws {
        let keys = try await store("sun", "moon")
        bench.memory.damage(keys[1])
        let back = ManualTime()
        let verifier = Verifier(
            store: bench.store, ledger: LedgerQueue(bench.ledger), cost: VerificationCost(prices: nil),
            time: back.source)
        let result = try await verifier.run(.percent(100), costingAtMost: nil)
        #expect(result.checked == 2 && result.broken.map(\.key) == [keys[1]])
        #expect(try bench.ledger.verificationStatus(at: back.now).oldest == back.now)
    }

    @Test func `the budget is kept, and what was spent is remembered for the month`() async throws {
        _ = try await store("sun", "moon", "stars")
        let result = try await verifier(prices: prices).run(.percent(100), costingAtMost: 2.5)
        #expect(result.checked == 2 && result.isOverBudget)
        #expect(result.costUSD == 2)
        #expect(try bench.ledger.verificationStatus(at: bench.time.now).spentUSD == 2)
        let nextMonth = bench.time.now.addingTimeInterval(32 * 86_400)
        #expect(try bench.ledger.verificationStatus(at: nextMonth).spentUSD == 0)
    }

    @Test func `what is being read is paid for already, so that two processes keep one month's limit`() async throws {
        let keys = try await store("sun", "moon", "stars")
        let gate = Gate()
        bench.store.add(StoreFault(.get, key: keys[0].rawValue, .hold(gate)))
        let (first, second) = (verifier(prices: prices), verifier(prices: prices))
        let run = Task { try await first.run(.keys([keys[0], keys[1]]), costingAtMost: nil, ofMonth: 2.5) }
        await gate.waitForArrivals(1)
        // Whoever is killed now has spent it.
        #expect(try bench.ledger.verificationStatus(at: bench.time.now).spentUSD == 2)
        let other = try await second.run(.keys([keys[2]]), costingAtMost: nil, ofMonth: 2.5)
        #expect(other.checked == 0 && other.isOverBudget && other.costUSD == 0)
        gate.open()
        let result = try await run.value
        #expect(result.checked == 2 && !result.isOverBudget && result.costUSD == 2)
        #expect(try bench.ledger.verificationStatus(at: bench.time.now).spentUSD == 2)
    }

    @Test func `what a look has not cost that was broken off is there again, in the month of the payment`() throws {
        let (first, next) = (bench.time.now, bench.time.now.addingTimeInterval(32 * 86_400))
        #expect(try bench.ledger.payForChecks([1, 0, 1, 1], ofMonth: 2.5, at: first) == 3)
        #expect(try bench.ledger.payForChecks([0, 1], ofMonth: 2.5, at: first) == 1)
        try bench.ledger.correctCost(byUSD: -1.5, at: first)
        #expect(try bench.ledger.verificationStatus(at: first).spentUSD == 0.5)
        #expect(try bench.ledger.verificationStatus(at: next).spentUSD == 0)
    }

    @Test func `what is archived is held against what the store says, and never restored or read`() async throws {
        let keys = try await store("sun", "moon")
        for key in keys { bench.memory.setClass(.deepArchive, of: key) }
        _ = try await verifier().run(.percent(100), costingAtMost: nil)
        let gets = bench.store.count(.get)
        await bench.time.advance(by: .seconds(1))
        _ = try await bench.memory.put(
            ObjectBody("XYZ"), at: try ObjectKey("users/ana/photos/other.dat"),
            attributes: ObjectAttributes(contentType: "image/jpeg"), condition: .ifAbsent)
        let result = try await verifier().run(.keys(keys), costingAtMost: nil)
        #expect(result.intact == 2 && result.unread == 2)
        #expect(bench.store.count(.get) - gets <= keys.count && bench.store.count(.restore) == 0)
    }

    @Test func `what the store cannot tell now is neither whole nor broken`() async throws {
        let keys = try await store("sun")
        bench.store.add(StoreFault(.get, key: keys[0].rawValue, numbers: 1...9, .failBefore(.serverFailed)))
        let result = try await verifier().run(.percent(100), costingAtMost: nil)
        #expect(result.undecided == 1 && result.checked == 0 && result.broken.isEmpty)
        #expect(try bench.status(Bench.gallery.appending("sun.jpg"))?.state == .uploaded)
    }

    @Test func `one object that the store denies is named, and ends no verification`() async throws {
        let keys = try await store("sun", "moon", "star")
        bench.store.add(StoreFault(.get, key: keys[0].rawValue, .failBefore(.accessDenied)))
        let result = try await verifier().run(.percent(100), costingAtMost: nil)
        #expect(result.intact == 2 && result.undecided == 1 && result.broken.isEmpty)
        #expect(result.failures.first.map(\.key) == [keys[0].rawValue])
    }

    @Test(arguments: [true, false])
    func `what was denied comes last in the next verification, and a store that denies all ends it`(
        isByName: Bool
    ) async throws {
        let names = (0..<40).map { "photo \($0)" }
        for name in names { bench.disk.write(name, to: Bench.gallery.appending("\(name).jpg")) }
        await bench.time.advance(by: .seconds(3_600))
        try await bench.pass()
        await bench.time.advance(by: .seconds(1))
        let keys = try names.map { try ObjectKey("users/ana/photos/\(ContentDigest(of: Array($0.utf8)).md5).dat") }
        let choice = isByName ? Verifier.Choice.keys(keys) : .percent(100)
        let store = FaultyStore.denying(first: 25, .get, of: bench.memory)
        let error = await #expect(throws: StoreError.self) {
            _ = try await verifier(store).run(choice, costingAtMost: nil)
        }
        #expect(error?.code == .accessDenied && error?.key == nil && store.count(.get) < 25)
        let result = try await verifier(store).run(choice, costingAtMost: nil)
        #expect(result.intact == 15 && result.undecided == 25)
    }

    private func refresh() async throws {
        await bench.time.advance(by: .seconds(1))
        _ = try await ClassRefresh(
            store: bench.store, ledger: LedgerQueue(bench.ledger), keys: .ana, time: bench.time.source
        ).run()
        await bench.time.advance(by: .seconds(1))
    }

    @Test func `what could not be read is told until it is, whatever a listing says`() async throws {
        let keys = try await store("sun", "moon")
        bench.store.add(StoreFault(.get, key: keys[0].rawValue, number: 1, .failBefore(.serverFailed)))
        #expect(try await verifier().run(.percent(100), costingAtMost: nil).undecided == 1)
        #expect(try bench.ledger.unclearObjects() == 1)
        try await refresh()
        #expect(try bench.ledger.unclearObjects() == 1)
        #expect(try await verifier().run(.keys(keys), costingAtMost: nil).intact == 2)
        #expect(try bench.ledger.unclearObjects() == 0)
    }

    @Test func `what could not be read, and is found to be gone, is no longer what nobody can tell of`() async throws {
        let keys = try await store("sun")
        bench.store.add(StoreFault(.get, key: keys[0].rawValue, number: 1, .failBefore(.serverFailed)))
        #expect(try await verifier().run(.percent(100), costingAtMost: nil).undecided == 1)
        bench.memory.lose(keys[0])
        try await refresh()
        #expect(try bench.ledger.unclearObjects() == 0 && bench.ledger.object(keys[0])?.problem == .missing)
    }

    @Test func `an object that neither a listing nor a verification can look at counts once`() async throws {
        let keys = try await store("sun")
        bench.memory.makeUnreadable(keys[0], as: .invalidResponse)
        bench.store.add(StoreFault(.get, key: keys[0].rawValue, .failBefore(.invalidResponse)))
        try await refresh()
        #expect(try bench.ledger.unclearObjects() == 1)
        #expect(try await verifier().run(.percent(100), costingAtMost: nil).undecided == 1)
        #expect(try bench.ledger.unclearObjects() == 1)
        try await refresh()
        #expect(try bench.ledger.unclearObjects() == 1)
    }

    @Test func `what a listing cannot look at is so, also when a verification could not read it`() async throws {
        let keys = try await store("sun")
        bench.store.add(StoreFault(.get, key: keys[0].rawValue, number: 1, .failBefore(.serverFailed)))
        #expect(try await verifier().run(.percent(100), costingAtMost: nil).undecided == 1)
        #expect(try bench.ledger.unclearOwnObjects(.ana) == 0, "no listing was asked")
        bench.memory.makeUnreadable(keys[0], as: .invalidResponse)
        for _ in 1...2 {
            try await refresh()
            #expect(try bench.ledger.unclearOwnObjects(.ana) == 1 && bench.ledger.unclearObjects() == 1)
        }
        bench.memory.makeReadable(keys[0])
        try await refresh()
        #expect(try bench.ledger.unclearOwnObjects(.ana) == 0)
        #expect(try bench.ledger.unclearObjects() == 1, "nobody has read it since")
    }

    @Test func `what was read before the store went away is paid for`() async throws {
        let keys = try await store("sun")
        bench.store.add(StoreFault(.get, key: keys[0].rawValue, number: 1, .failAfter(.unreachable)))
        await #expect(throws: StoreError.self) {
            try await verifier(prices: prices).run(.percent(100), costingAtMost: nil)
        }
        #expect(try bench.ledger.verificationStatus(at: bench.time.now).spentUSD == 1)
    }
}
