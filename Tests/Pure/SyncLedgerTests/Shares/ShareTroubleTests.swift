import FoundationEssentials
import SyncCore
import SyncLedger
import Testing

/// What is wrong with shares, for those who ask whether everything is well.
@Suite struct ShareTroubleTests {
    private let shares: ShareLedger
    private var ledger: Ledger { shares.ledger }

    init() throws { shares = try ShareLedger() }

    private func told() throws -> [String] {
        try ledger.shareTroubles().map { "\($0.location) \($0.kind.rawValue): \($0.problem)" }
    }

    @Test func `a share of this machine that is over and cannot be removed is told, until it is`() throws {
        let id = try shares.add("ab")
        #expect(try told() == [])
        try ledger.endShare(id, .expired)
        #expect(try told() == [])
        try ledger.noteShareUnended("it is denied", of: id, by: shares.me)
        #expect(try told() == ["Paris end: it is denied"])
        #expect(try ledger.noteShareEnded(id, by: shares.me, at: shares.now))
        #expect(try told() == [])
    }

    @Test func `one that a killed process was removing is told until somebody goes on with it`() throws {
        let (id, now) = (try shares.add("ab"), shares.now)
        try ledger.endShare(id, .revoked)
        #expect(try ledger.shareTroubles(at: now) == [], "it is in hand")
        #expect(try ledger.shareTroubles(at: now + Ledger.shareClaimSeconds).map(\.kind) == [.end])
        try ledger.releaseShare(id, by: shares.me)
        #expect(try ledger.shareTroubles(at: now).map(\.share) == [id])
        #expect(try told() == [], "nothing was tried in vain")
        #expect(try ledger.claimShare(id, by: shares.other, at: now) != nil)
        #expect(try ledger.shareTroubles(at: now) == [])
        let other = shares.newID()
        try ledger.beginShareRemoval(other, location: "Rome", machine: "tower", expiresAt: now, at: now)
        #expect(try ledger.shareTroubles(at: now) == [])
        #expect(try ledger.shareTroubles(at: now + 60).map(\.share) == [id, other])
    }

    @Test func `what keeps it from its end because of its guests is theirs alone`() throws {
        let id = try shares.add("ab")
        try ledger.noteGuestProblem("there is no room", of: id)
        try ledger.endShare(id, .revoked)
        try ledger.noteShareUnended("there is no room", of: id, by: shares.me)
        #expect(try told() == ["Paris guests: there is no room"])
        try ledger.noteShareUnended("it is denied", of: id, by: shares.me)
        #expect(try told() == ["Paris guests: there is no room", "Paris end: it is denied"])
    }

    @Test func `one of another machine is told as not removed, and what comes to it later as its guests'`() throws {
        let id = shares.newID()
        try ledger.beginShareRemoval(id, location: "Rome", machine: "tower", expiresAt: shares.now, at: shares.now)
        #expect(try told() == [])
        try ledger.noteShareRemoval(id, problem: "it is denied", at: shares.now)
        #expect(try told() == ["Rome end: it is denied"])
        try ledger.noteShareRemovalTold(id, at: shares.now)
        try ledger.noteShareRemoval(id, problem: nil, at: shares.now)
        #expect(try told() == [])
        try ledger.noteGuestProblem("there is no room", of: id)
        #expect(try told() == ["Rome guests: there is no room"])
    }

    @Test func `that an open share could not be published is no such thing`() throws {
        let id = try shares.add("ab")
        try ledger.noteShareProblem("it is denied", waits: false, of: id, by: shares.me)
        #expect(try told() == [])
    }
}
