import FoundationEssentials
import SyncCore
import SyncLedger
import SyncTestSupport
import Testing

@testable import SyncEngine

/// What was denied to one run, in the order of the next.
@Suite struct EarlierDenialsTests {
    private let time = ManualTime()
    private let ledger: Ledger
    private let keys: [ObjectKey]

    init() throws {
        ledger = try Ledger.inMemory()
        keys = try (0..<4).map { try ObjectKey("users/ana/photos/\($0).dat") }
    }

    private func note(_ key: Int, after seconds: TimeInterval) throws {
        try ledger.noteDenial(keys[key], of: .archive, at: time.now.addingTimeInterval(seconds))
    }

    private func order() async throws -> [ObjectKey] {
        try await EarlierDenials(of: .archive, in: LedgerQueue(ledger), time: time.source).order(keys, by: \.self)
    }

    @Test func `what was denied comes last, longest ago first, and after a week in its turn`() async throws {
        try note(0, after: -60)
        try note(2, after: -120)
        #expect(try await order() == [1, 3, 2, 0].map { keys[$0] })
        await time.advance(by: .seconds(7 * 86_400 - 60))
        #expect(try await order() == keys)
        #expect(try ledger.denials(of: .archive) == [:])
    }

    @Test func `what a clock has noted that was ahead has its turn`() async throws {
        try note(0, after: 400 * 86_400)
        #expect(try await order() == keys)
        #expect(try ledger.denials(of: .archive) == [:])
    }

    @Test func `of many whose week is over, a few have their turn in each run, so that it comes to the others`()
        async throws
    {
        let many = try (10..<50).map { try ObjectKey("users/ana/photos/\($0).dat") }
        for key in many { try ledger.noteDenial(key, of: .archive, at: time.now) }
        await time.advance(by: .seconds(7 * 86_400))
        let denials = try await EarlierDenials(of: .archive, in: LedgerQueue(ledger), time: time.source)
        let (now, last) = denials.split(many + keys, by: \.self)
        #expect(now == Array(many.prefix(10)) + keys)
        #expect(last == Array(many.dropFirst(10)))
        #expect(try Set(ledger.denials(of: .archive).keys) == Set(last))
    }
}
