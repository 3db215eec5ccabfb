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

    @Test func `what is given again, or was denied long ago, or is still to come, is forgotten`() throws {
        try ledger.noteDenial(one, of: .restores, at: now)
        try ledger.noteDenial(other, of: .restores, at: now.addingTimeInterval(50))
        try ledger.endDenial(other, of: .restores)
        #expect(try ledger.denials(of: .restores) == [one: now])
        try ledger.noteDenial(one, of: .archive, at: now)
        try ledger.noteDenial(other, of: .restores, at: now.addingTimeInterval(50))
        try ledger.forgetDenials(of: .restores, before: now, after: now.addingTimeInterval(50))
        #expect(try ledger.denials(of: .restores) == [other: now.addingTimeInterval(50)])
        try ledger.forgetDenials(of: .restores, before: now, after: now.addingTimeInterval(49))
        #expect(try ledger.denials(of: .restores) == [:])
        #expect(try ledger.denials(of: .archive) == [one: now])
    }

    @Test func `another store denies something else`() throws {
        try ledger.noteDenial(one, of: .restores, at: now)
        try ledger.adopt(store: "s3://two", id: nil, isCopy: false)
        #expect(try ledger.denials(of: .restores) == [:])
        #expect(try ledger.check() == [])
    }
}
