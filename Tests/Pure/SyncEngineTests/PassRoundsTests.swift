import SyncCore
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

/// A pass is patient with what it meets itself, and not with what earlier passes have met.
@Suite struct PassRoundsTests {
    private func claim(_ bench: Bench, attempts: Int) throws -> Claim {
        bench.disk.write("sunset", to: Bench.gallery.appending("a.jpg"))
        try bench.scan()
        var claim: Claim?
        for _ in 1...attempts {
            claim = try bench.ledger.claim(limit: 1, at: bench.time.now).first
            if let claim, claim.attempts < attempts {
                try bench.ledger.commit(
                    claim, outcome: .postponed("refused", until: bench.time.now), at: bench.time.now)
            }
        }
        return try #require(claim)
    }

    @Test(arguments: [(1, true), (3, true), (4, false), (9, false)])
    func `what an earlier pass has tried again and again is not tried in rounds`(attempts: Int, isTried: Bool) throws {
        let claim = try claim(try Bench(), attempts: attempts)
        #expect(claim.attempts == attempts)
        var rounds = PassRounds()
        rounds.notePostponed(claim)
        #expect((rounds.next(at: .zero, .seconds(30), random: 0.5) != nil) == isTried)
    }

    @Test func `what is stored meanwhile is not tried again`() throws {
        let claim = try claim(try Bench(), attempts: 1)
        var rounds = PassRounds()
        rounds.notePostponed(claim)
        rounds.noteStored(claim.photoID)
        let round = rounds.next(at: .zero, .seconds(30), random: 0.5)
        #expect(round?.photos == nil)
    }

    @Test func `a photo that is another one since it was stored is tried as one that nobody has refused`() throws {
        let bench = try Bench()
        let old = try claim(bench, attempts: 4)
        var rounds = PassRounds()
        rounds.notePostponed(old)
        rounds.noteStored(old.photoID)
        try bench.ledger.commit(old, outcome: .postponed("refused", until: bench.time.now), at: bench.time.now)
        // The file is written once more.
        let new = try claim(bench, attempts: 1)
        try #require(new.photoID == old.photoID && new.attempts == 1)
        rounds.notePostponed(new)
        let round = rounds.next(at: .zero, .seconds(30), random: 0.5)
        #expect(round?.photos == [new.photoID])
    }

    @Test func `what an earlier round got stored is no reason for another one`() throws {
        let claim = try claim(try Bench(), attempts: 1)
        var rounds = PassRounds()
        rounds.notePostponed(claim)
        let first = rounds.next(at: .zero, .seconds(1), random: 1)
        #expect(first?.pause == .seconds(1))
        rounds.noteStored(claim.photoID + 1)
        rounds.notePostponed(claim)
        // Beyond the patience, for what the first one got stored.
        let second = rounds.next(at: .seconds(1), .seconds(1), random: 1)
        #expect(second?.pause == .seconds(2))
        rounds.notePostponed(claim)
        let third = rounds.next(at: .seconds(3), .seconds(1), random: 1)
        #expect(third?.photos == nil)
    }

    @Test func `there are ten rounds at most, though each of them gets photos stored`() throws {
        let claim = try claim(try Bench(), attempts: 1)
        var rounds = PassRounds()
        var (now, begun) = (Duration.zero, 0)
        rounds.notePostponed(claim)
        while begun < 99, let round = rounds.next(at: now, .seconds(10), random: 1) {
            begun += 1
            now += round.pause
            rounds.noteStored(claim.photoID + 1)
            rounds.notePostponed(claim)
        }
        #expect(begun == 10)
    }

    @Test func `the patience with photos that come due again runs from the first time that a pass waits for one`() {
        var state = PipelineState()
        let first = state.deadline(at: .seconds(3), .seconds(10))
        // As long as a file is written to, the pass has to wait again and again.
        let last = state.deadline(at: .seconds(12), .seconds(10))
        #expect(first == .seconds(13) && last == .seconds(13))
    }
}
