import FoundationEssentials
import SyncCore
import SyncLedger
import SyncTestSupport
import Testing

@testable import SyncEngine

@Suite struct RestsTests {
    private let id: ShareID
    private let other: ShareID
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    init() throws {
        id = try #require(ShareID("0b5c2d1e-7c1e-4b3f-9a55-3f1f0a3c9d10"))
        other = try #require(ShareID("7d0c6e2a-33b1-4d5e-9c61-0a4b8f2e9d10"))
    }

    @Test func `each failure in a row rests twice as long, up to the longest`() {
        var rests = Rests<ShareID, Int>()
        let lengths = (0..<8).map { _ in rests.add(id, 1, at: now, for: 60...3_600) }
        #expect(lengths == [60, 120, 240, 480, 960, 1_920, 3_600, 3_600])
        rests.end(id)
        #expect(rests.add(id, 1, at: now, for: 60...300) == 60)
    }

    @Test func `another attempt is made at once, and begins anew`() {
        var rests = Rests<ShareID, Int>()
        rests.add(id, 1, at: now, for: 60...300)
        #expect(rests.holds(id, 1, at: now) && !rests.holds(id, 2, at: now) && !rests.holds(other, 1, at: now))
        #expect(rests.add(id, 2, at: now, for: 60...300) == 60)
        #expect(rests.add(id, 2, at: now, for: 60...300) == 120)
    }

    @Test func `it is over at its second, and with a clock that was set back`() {
        var rests = Rests<ShareID, Int>()
        rests.add(id, 1, at: now, for: 60...300)
        #expect(rests.holds(id, 1, at: now + 59.9))
        #expect(!rests.holds(id, 1, at: now + 60))
        #expect(!rests.holds(id, 1, at: now - 1))
    }

    // MARK: The agent

    @Test(arguments: [1, Int.max])
    func `what does not work is tried again in a minute, and then left alone for longer`(refusals: Int) async throws {
        let bench = try ShareBench()
        try await bench.add("a.jpg")
        let id = try await bench.accept()
        try bench.ledger.releaseShare(id, by: "me")
        bench.store.add(StoreFault(.put, numbers: 1...refusals, .failBefore(.accessDenied)))
        let service = bench.service()
        let run = Task { try await service.run() }
        // As long as the share is held, it is not the service that sleeps.
        func attempted(_ number: Int) async throws {
            try await eventually("the end of attempt \(number)") {
                try bench.store.count(.put) >= number && bench.record(id).holder == nil ? () : nil
            }
        }
        try await attempted(1)
        for _ in 0..<11 {
            await bench.time.waitForSleepers()
            await bench.time.advance(by: .seconds(5))
        }
        await bench.time.waitForSleepers()
        #expect(bench.store.count(.put) == 1)
        await bench.time.advance(by: .seconds(5))
        try await attempted(2)
        for _ in 0..<20 {
            await bench.time.waitForSleepers()
            await bench.time.advance(by: .seconds(5))
        }
        await bench.time.waitForSleepers()
        run.cancel()
        try await run.value
        if refusals == 1 {
            #expect(try bench.record(id).state == .live)
        } else {
            #expect(bench.store.count(.put) == 2)
        }
    }
}
