import FoundationEssentials
import SyncCore
import SyncLedger
import Testing

/// What keeps photos of guests from being taken in, for those who ask whether everything is safe.
@Suite struct GuestProblemTests {
    private let shares: ShareLedger
    private var ledger: Ledger { shares.ledger }

    init() throws { shares = try ShareLedger() }

    /// A share of another machine that is taken back from this one.
    private func beginRemoval() throws -> ShareID {
        let id = shares.newID()
        try ledger.beginShareRemoval(id, location: "Rome", machine: "tower", expiresAt: shares.now, at: shares.now)
        return id
    }

    @Test func `of a share of this machine it is noted with the share`() throws {
        let id = try shares.add("ab")
        try ledger.noteGuestProblem("there is no room", of: id)
        let problems = try ledger.guestProblems()
        #expect(problems.map(\.share) == [id] && problems.map(\.problem) == ["there is no room"])
        try ledger.noteGuestProblem(nil, of: id)
        #expect(try ledger.guestProblems().isEmpty)
    }

    /// The same, of which nothing is left.
    private func endRemoval() throws -> ShareID {
        let id = try beginRemoval()
        try ledger.noteShareRemovalTold(id, at: shares.now)
        try ledger.noteShareRemoval(id, problem: nil, at: shares.now)
        return id
    }

    @Test func `of another machine's it is noted with its removal, and comes last`() throws {
        let other = try endRemoval()
        let own = try shares.add("ab")
        try ledger.noteGuestProblem("there is no room", of: other)
        try ledger.noteGuestProblem("it cannot be read", of: own)
        let problems = try ledger.guestProblems()
        #expect(problems.map(\.share) == [own, other] && problems.last?.location == "Rome")
        #expect(problems.map(\.problem) == ["it cannot be read", "there is no room"])
        try ledger.noteGuestProblem(nil, of: other)
        #expect(try ledger.guestProblems().map(\.share) == [own])
    }

    @Test func `a share of another machine that cannot be removed keeps back what guests have sent`() throws {
        let id = try beginRemoval()
        try ledger.noteShareRemoval(id, problem: "it is denied", at: shares.now)
        #expect(try ledger.guestProblems().map(\.problem) == ["it is denied"])
        // That no guest's photo is there ends nothing of it.
        try ledger.noteGuestProblem(nil, of: id)
        #expect(try ledger.guestProblems().map(\.problem) == ["it is denied"])
        try ledger.noteShareRemovalTold(id, at: shares.now)
        try ledger.noteShareRemoval(id, problem: nil, at: shares.now)
        #expect(try ledger.guestProblems().isEmpty)
    }

    @Test func `a share is looked at as long as what came after its end cannot be taken in`() throws {
        let own = try shares.add("ab")
        try ledger.noteGuestProblem("there is no room", of: own)
        #expect(try ledger.shares(endedAfter: shares.now).isEmpty)
        try ledger.endShare(own, .expired)
        #expect(try ledger.noteShareEnded(own, by: shares.me, at: shares.now))
        let other = try endRemoval()
        #expect(try ledger.shareRemovals(goneAfter: shares.now).isEmpty)
        try ledger.noteGuestProblem("there is no room", of: other)
        #expect(try ledger.shares(endedAfter: shares.now).map(\.id) == [own])
        #expect(try ledger.shareRemovals(goneAfter: shares.now).map(\.id) == [other])
        for id in [own, other] { try ledger.noteGuestProblem(nil, of: id) }
        #expect(try ledger.shares(endedAfter: shares.now).isEmpty)
        #expect(try ledger.shareRemovals(goneAfter: shares.now).isEmpty)
    }
}
