import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct CircuitBreakerTests {
    private let time = ManualTime(random: 1)
    private let gate: CircuitBreaker

    init() { gate = CircuitBreaker(time: time.source) }

    private func error(_ code: StoreError.Code = .accessDenied, key: String? = nil) -> StoreError {
        StoreError(code, operation: "put", key: key, message: "it is refused")
    }

    /// Photos in hand, each at its first attempt unless told.
    private func claims(_ count: Int, attempts: Int = 1) throws -> [Claim] {
        let bench = try Bench()
        let now = bench.time.now
        for index in 0..<count { bench.disk.write("photo \(index)", to: Bench.gallery.appending("\(index).jpg")) }
        try bench.scan()
        for _ in 1..<attempts {
            for claim in try bench.ledger.claim(limit: count, at: now) {
                try bench.ledger.commit(claim, outcome: .postponed("refused", until: now), at: now)
            }
        }
        return try bench.ledger.claim(limit: count, at: now)
    }

    /// Closes the gate, and lets it find the store well at its first look.
    private func closeAndPass() async throws {
        #expect(gate.close(error(.unreachable)) != nil)
        #expect(try await passage() == .opened)
        #expect(gate.closedBy == nil)
    }

    private func passage() async throws -> CircuitBreaker.Passage {
        async let passage = gate.pass {}
        await time.waitForSleepers()
        await time.advance(by: .seconds(300))
        return try await passage
    }

    @Test func `a store that only checks well is asked less and less often`() async throws {
        for _ in 1...4 { try await closeAndPass() }
        #expect(time.sleeps == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
    }

    @Test func `once it has taken something, the next outage begins with a short pause`() async throws {
        try await closeAndPass()
        try await closeAndPass()
        gate.noteAccepted(1)
        try await closeAndPass()
        #expect(time.sleeps == [.seconds(1), .seconds(2), .seconds(1)])
    }

    @Test func `an open gate is passed at once, without a question to the store`() async throws {
        let passage = try await gate.pass { Issue.record("the store was asked") }
        #expect(passage == .wasOpen)
    }

    @Test func `three different keys in a row close it, and those before are innocent`() throws {
        let claims = try claims(3)
        #expect(gate.judge(claims[0], error(key: "a")) == .key)
        #expect(gate.judge(claims[0], error(key: "a")) == .key)
        #expect(gate.judge(claims[1], error(key: "b")) == .key)
        #expect(gate.closedBy == nil)
        guard case .closed(let closing) = gate.judge(claims[2], error(key: "c")) else {
            Issue.record("it stayed open")
            return
        }
        #expect(closing.innocent == Array(claims.prefix(2)))
        #expect(closing.keys == ["a", "b", "c"])
        #expect(gate.closedBy == error(key: "c"))
    }

    @Test func `a file system that has taken photos in this pass denies keys, and not the store`() throws {
        let claims = try claims(3)
        func judgeAll() -> [CircuitBreaker.Verdict] {
            claims.map { claim in
                var denial = error(key: "\(claim.photoID)")
                denial.isOfThisMachine = true
                return gate.judge(claim, denial)
            }
        }
        gate.beginRun(isPass: true)
        gate.noteAccepted(99)
        #expect(judgeAll() == [.key, .key, .key])
        #expect(gate.closedBy == nil)
        // What an earlier run has stored is no witness.
        gate.beginRun(isPass: true)
        #expect(judgeAll().prefix(2) == [.key, .key])
        #expect(gate.isRefusing)
    }

    @Test func `an agent that has stored photos stops where a right was taken back since`() throws {
        let claims = try claims(3)
        gate.beginRun(isPass: false)
        gate.noteAccepted(99)
        for claim in claims {
            var denial = error(key: "\(claim.photoID)")
            denial.isOfThisMachine = true
            _ = gate.judge(claim, denial)
        }
        #expect(gate.isRefusing)
    }

    @Test func `an agent to which one key alone is denied, however often, has a store that is well`() throws {
        let claim = try claims(1)[0]
        gate.beginRun(isPass: false)
        gate.noteAccepted(99)
        for isOfThisMachine in [true, false] {
            var denial = error(key: "a")
            denial.isOfThisMachine = isOfThisMachine
            for _ in 1...CircuitBreaker.mostRefusals * 2 { #expect(gate.judge(claim, denial) == .key) }
        }
        #expect(gate.closedBy == nil && !gate.isRefusing && !gate.isInDoubt)
    }

    @Test func `a server that has taken photos may deny all from now on`() throws {
        let claims = try claims(3)
        gate.noteAccepted(99)
        for claim in claims { _ = gate.judge(claim, error(key: "\(claim.photoID)")) }
        #expect(gate.isRefusing)
    }

    @Test func `one that is accepted in between shows that the keys are at fault, for good`() throws {
        let claims = try claims(4)
        for _ in 1...5 {
            #expect(gate.judge(claims[0], error()) == .key)
            #expect(gate.judge(claims[1], error()) == .key)
            gate.noteAccepted(99)
        }
        // Both are known by now: they close nothing, whatever is refused beside them.
        #expect(gate.judge(claims[2], error()) == .key)
        #expect(gate.judge(claims[0], error()) == .key)
        #expect(gate.judge(claims[1], error()) == .key)
        #expect(gate.judge(claims[3], error()) == .key)
        #expect(gate.closedBy == nil)
    }

    @Test(arguments: [(3, true), (4, false)])
    func `a photo that was refused again and again tells of itself, and not of the store`(
        attempts: Int, isClosed: Bool
    ) throws {
        let claims = try claims(3, attempts: attempts)
        #expect(claims.map(\.attempts) == [attempts, attempts, attempts])
        for claim in claims { _ = gate.judge(claim, error()) }
        #expect((gate.closedBy != nil) == isClosed)
    }

    @Test func `refused in different ways is not refused in a row`() throws {
        let claims = try claims(3)
        #expect(gate.judge(claims[0], error(.accessDenied)) == .key)
        #expect(gate.judge(claims[1], error(.accessDenied)) == .key)
        #expect(gate.judge(claims[2], error(.timedOut)) == .key)
        #expect(gate.closedBy == nil)
    }

    @Test func `a store that refuses has to accept a photo, and one at a time is sent until it does`() async throws {
        let claims = try claims(4)
        for claim in claims.prefix(3) { _ = gate.judge(claim, error()) }
        #expect(!gate.mayGo(claims[3].photoID))
        for claim in [claims[0], claims[1]] {
            #expect(try await passage() == .oneMayGo)
            gate.beginTrial(claim.photoID)
            #expect(gate.trial == claim.photoID && gate.mayGo(claim.photoID) && !gate.mayGo(claims[3].photoID))
            #expect(gate.judge(claim, error()) == .key)
            #expect(gate.trial == nil && gate.closedBy != nil)
        }
        #expect(try await passage() == .oneMayGo)
        gate.beginTrial(claims[3].photoID)
        #expect(gate.noteAccepted(claims[3].photoID) == .opened)
        #expect(gate.closedBy == nil && gate.mayGo(claims[0].photoID))
        #expect(time.sleeps == [.seconds(1), .seconds(2), .seconds(4)])
    }

    @Test func `a store that refuses, and is away for a moment, has to accept a photo all the same`() async throws {
        let claims = try claims(3)
        for claim in claims { _ = gate.judge(claim, error()) }
        let away = error(.unreachable)
        async let passage = gate.pass { [time] in
            if time.sleeps.count == 1 { throw away }
        }
        for _ in 1...2 {
            await time.waitForSleepers()
            await time.advance(by: time.sleeps.last ?? .zero)
        }
        #expect(try await passage == .oneMayGo)
        #expect(gate.isRefusing && gate.closedBy?.code == .unreachable)
        // Not even one that is told of by a photo.
        #expect(gate.close(error(.timedOut)) == nil)
        #expect(gate.isRefusing)
        #expect(gate.noteAccepted(claims[0].photoID) == .opened)
        #expect(gate.closedBy == nil && !gate.isRefusing)
    }

    @Test func `the first photo that is accepted ends a doubt, and no other does`() {
        #expect(gate.noteAccepted(1) == .expected)
        gate.doubt()
        #expect(gate.isInDoubt)
        #expect(gate.noteAccepted(2) == .proof)
        #expect(!gate.isInDoubt && gate.noteAccepted(3) == .expected)
    }

    @Test func `a photo of which nothing was learned makes room for another`() async throws {
        let claims = try claims(3)
        for claim in claims { _ = gate.judge(claim, error()) }
        #expect(try await passage() == .oneMayGo)
        gate.beginTrial(claims[0].photoID)
        gate.endTrial(claims[0].photoID)
        #expect(try await gate.pass { Issue.record("the store was asked") } == .oneMayGo)
    }

    @Test func `it waits no longer than there is patience`() async throws {
        gate.close(error(.unreachable))
        let passage = try await gate.pass(within: .zero) { Issue.record("the store was asked") }
        #expect(passage == .stayedClosed)
        #expect(gate.closedBy != nil)
    }

    @Test func `somebody who asks for another try is heard within seconds`() async throws {
        for _ in 1...6 { try await closeAndPass() }
        gate.close(error(.unreachable))
        let before = time.sleeps.count
        async let passage = gate.pass(isUrgent: { true }) {}
        await time.waitForSleepers()
        await time.advance(by: .seconds(5))
        #expect(try await passage == .opened)
        #expect(time.sleeps[before...] == [.seconds(5)])
    }
}
