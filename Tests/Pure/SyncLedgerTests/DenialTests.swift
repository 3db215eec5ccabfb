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

    @Test func `each work has its own, with the time of the last`() throws {
        try ledger.noteDenial(one, of: .restores, at: now)
        try ledger.noteDenial(one, of: .restores, at: now.addingTimeInterval(10))
        try ledger.noteDenial(other, of: .archive, at: now)
        #expect(try ledger.denials(of: .restores) == [one: now.addingTimeInterval(10)])
        #expect(try ledger.denials(of: .archive) == [other: now])
        #expect(try ledger.denials(of: .originals) == [:])
    }

    @Test func `what is given again is forgotten`() throws {
        for key in [one, other] { try ledger.noteDenial(key, of: .restores, at: now) }
        try ledger.noteDenial(other, of: .archive, at: now)
        try ledger.endDenials([other], of: .restores)
        #expect(try ledger.denials(of: .restores) == [one: now])
        try ledger.endDenials([one, other], of: .restores)
        #expect(try ledger.denials(of: .restores) == [:])
        #expect(try ledger.denials(of: .archive) == [other: now])
    }

    @Test func `another store denies something else`() throws {
        try ledger.noteDenial(one, of: .restores, at: now)
        try ledger.adopt(store: "s3://two", id: nil, isCopy: false)
        #expect(try ledger.denials(of: .restores) == [:])
        #expect(try ledger.check() == [])
    }
}
