import FoundationEssentials
import SyncCore
import SyncLedger
import Testing

/// What the store denied to runs of some work.
@Suite struct DenialTests {
    private let ledger: Ledger
    private let one: ObjectKey
    private let other: ObjectKey
    private let now = Date(timeIntervalSince1970: 2_000_000)

    init() throws {
        ledger = try Ledger.inMemory()
        one = try ObjectKey("users/ana/photos/1.dat")
        other = try ObjectKey("users/ana/photos/2.dat")
    }

    private func note(_ key: ObjectKey, of work: RecurringWork = .restores, at time: Date) throws {
        try ledger.noteDenial(key, of: work, at: time, forgettingBefore: time.addingTimeInterval(-100))
    }

    @Test func `each work has its own, with the time of the last`() throws {
        try note(one, at: now)
        try note(one, at: now.addingTimeInterval(10))
        try note(other, of: .archive, at: now)
        #expect(try ledger.denials(of: .restores, since: now) == [one: now.addingTimeInterval(10)])
        #expect(try ledger.denials(of: .archive, since: now.addingTimeInterval(-1)) == [other: now])
        #expect(try ledger.denials(of: .archive, since: now) == [:])
    }

    @Test func `what is given again, or was denied long ago, is forgotten`() throws {
        try note(one, at: now)
        try note(other, at: now.addingTimeInterval(50))
        try ledger.endDenial(other, of: .restores)
        #expect(try Set(ledger.denials(of: .restores, since: .distantPast).keys) == [one])
        try note(other, at: now.addingTimeInterval(200))
        #expect(try Set(ledger.denials(of: .restores, since: .distantPast).keys) == [other])
    }

    @Test func `another store denies something else`() throws {
        try note(one, at: now)
        try ledger.adopt(store: "s3://two", id: nil, isCopy: false)
        #expect(try ledger.denials(of: .restores, since: .distantPast) == [:])
        #expect(try ledger.check() == [])
    }
}
