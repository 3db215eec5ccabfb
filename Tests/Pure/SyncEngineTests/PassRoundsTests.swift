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
}
