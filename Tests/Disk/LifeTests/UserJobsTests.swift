import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

/// What one machine a day does for all machines of a user.
@Suite struct UserJobsTests {
    private static let day = Duration.seconds(86_400)

    private let laptop: Home
    private let tower: Home
    private let id: ShareID

    /// The laptop has shared a photo for ten days.
    init() async throws {
        laptop = try Home("laptop")
        tower = try Home("tower", beside: laptop)
        laptop.disk.write("photo", to: Home.rome.appending("a.jpg"))
        let process = try laptop.start()
        try await process.pass()
        id = try await process.share(Home.rome)
        try await process.pass()
        _ = try await laptop.finish(process)
    }

    private func jobs(of home: Home) async throws -> [String] {
        let process = try home.start()
        let done = try await process.doJobs()
        _ = try await home.finish(process)
        return done
    }

    private func isSeen() -> Bool { laptop.memory.keys.contains { $0.rawValue.hasPrefix(ShareKeys(id).folder) } }
    private var claims: [String] {
        laptop.memory.keys.filter { KeyLayout.ana.day(ofJobClaim: $0) != nil }.map(\.rawValue)
    }

    @Test func `a share that has expired on a machine that is gone is removed, and the machine takes it well`()
        async throws
    {
        laptop.clock.advance(by: Self.day * 9)
        #expect(try await jobs(of: tower) == [] && isSeen())
        // Within a day after its end it is left to its own machine.
        laptop.clock.advance(by: .seconds(86_400 * 3 / 2))
        #expect(try await jobs(of: tower) == [] && isSeen())
        laptop.clock.advance(by: Self.day)
        let done = try await jobs(of: tower)
        #expect(done.count == 1 && done[0].contains("laptop") && !isSeen())
        let other = try tower.start()
        // The laptop's catalogue has it as live.
        let told = try #require(try await other.otherShares().shares.first)
        #expect(told.id == id && told.state == .expired && told.endedAt == told.expiresAt)
        _ = try await tower.finish(other)
        let own = try laptop.start()
        try await own.pass()
        #expect(try own.ledger.share(id)?.state == .expired)
        _ = try await laptop.finish(own)
    }

    @Test func `a machine that gave a sign within two days removes its shares itself`() async throws {
        laptop.clock.advance(by: Self.day * 12)
        try await laptop.memory.store([1], at: KeyLayout.ana.machine("0123456789abcdef"))
        for key in laptop.memory.keys where key.rawValue.hasPrefix(KeyLayout.ana.catalog) {
            let bytes = try #require(laptop.memory.content(key))
            try await laptop.memory.delete(key)
            try await laptop.memory.store(bytes, at: key)
        }
        #expect(try await jobs(of: tower) == [] && isSeen())
        #expect(claims.count == 1)
    }

    @Test func `an end that was put off since counts, and what cannot be read stays`() async throws {
        let manifest = ShareKeys(id).manifest
        let bytes = try #require(laptop.memory.content(manifest))
        laptop.clock.advance(by: Self.day * 12)
        for text in [
            String(decoding: bytes, as: UTF8.self).replacing(/"expiresAt" ?: ?"2026/, with: #""expiresAt":"2027"#),
            "ruin",
        ] {
            try await laptop.memory.delete(manifest)
            try await laptop.memory.store(Array(text.utf8), at: manifest)
            #expect(try await jobs(of: tower) == [] && isSeen())
            laptop.clock.advance(by: Self.day)
        }
        try await laptop.memory.delete(manifest)
        #expect(try await jobs(of: tower).count == 1 && !isSeen())
    }

    @Test func `a manifest that is listed, and not given, ends no share`() async throws {
        laptop.clock.advance(by: Self.day * 12)
        let manifest = ShareKeys(id).manifest.rawValue
        let store = FaultyStore(laptop.memory, faults: [StoreFault(.get, key: manifest, .failBefore(.notFound))])
        let process = try AgentProcess(tower, store: store, isAlive: { true })
        #expect(try await process.doJobs() == [] && isSeen())
        _ = try await tower.finish(process)
    }

    @Test func `one machine a day does them, whoever comes first, and the next day another may`() async throws {
        laptop.clock.advance(by: Self.day * 12)
        let claim = try KeyLayout.ana.jobClaim(CalendarDay(laptop.clock.now))
        try await laptop.memory.store([1], at: claim)
        #expect(try await jobs(of: tower) == [] && isSeen())
        laptop.clock.advance(by: Self.day)
        #expect(try await jobs(of: tower).count == 1 && !isSeen())
    }

    @Test func `a day costs one put, and few claims stay`() async throws {
        for _ in 0..<6 {
            let process = try tower.start()
            for _ in 0..<3 { _ = try await process.doJobs() }
            #expect(process.store.count(.put) == 1)
            _ = try await tower.finish(process)
            laptop.clock.advance(by: Self.day)
        }
        #expect(claims.count == 3)
    }

    @Test func `claims from a clock that was ahead go, and today's stays`() async throws {
        laptop.clock.advance(by: Self.day * 12)
        let now = laptop.clock.now
        let near = [-3.0, -2, -1, 1].map { CalendarDay(now + $0 * 86_400) }
        for day in near + ["2131-01-01", "2131-01-02", "2131-01-03"].compactMap({ CalendarDay($0) }) {
            try await laptop.memory.store([1], at: KeyLayout.ana.jobClaim(day))
        }
        #expect(try await jobs(of: tower).count == 1)
        let kept = near.dropFirst() + [CalendarDay(now)]
        #expect(try Set(claims) == Set(kept.map { try KeyLayout.ana.jobClaim($0).rawValue }))
        // Who comes next that day finds it taken.
        let other = try laptop.start()
        #expect(try await other.doJobs() == [] && claims.count == 4)
        _ = try await laptop.finish(other)
    }

    @Test func `who is alone stores nothing for it`() async throws {
        let process = try laptop.start()
        #expect(try await process.doJobs() == [])
        #expect(process.store.count(.put) == 0 && claims == [])
        _ = try await laptop.finish(process)
    }

    @Test func `the end of a share is forgotten when nobody can publish it any more`() async throws {
        let key = try KeyLayout.ana.shareEnd(id)
        let end = EndedShare(
            id, endedAt: laptop.clock.now, expiresAt: laptop.clock.now + 30 * 86_400, machine: "1", name: "tower")
        try await laptop.memory.store(try end.encoded(), at: key)
        laptop.clock.advance(by: Self.day * 129)
        _ = try await jobs(of: tower)
        #expect(laptop.memory.content(key) != nil)
        laptop.clock.advance(by: Self.day * 2)
        _ = try await jobs(of: tower)
        #expect(laptop.memory.content(key) == nil)
    }

    @Test func `the end of a share that cannot be read keeps no other from being forgotten`() async throws {
        let other = try #require(ShareID("7d0c6e2a-33b1-4d5e-9c61-0a4b8f2e9d10"))
        let (key, otherKey) = (try KeyLayout.ana.shareEnd(id), try KeyLayout.ana.shareEnd(other))
        for (id, key) in [(id, key), (other, otherKey)] {
            let end = EndedShare(
                id, endedAt: laptop.clock.now, expiresAt: laptop.clock.now + 30 * 86_400, machine: "1", name: "tower")
            try await laptop.memory.store(try end.encoded(), at: key)
        }
        laptop.clock.advance(by: Self.day * 131)
        let store = FaultyStore(laptop.memory) { call in
            call.operation == .get && call.key == key.rawValue ? [.failBefore(.accessDenied)] : []
        }
        let process = try AgentProcess(tower, store: store, isAlive: { true })
        _ = try await process.doJobs()
        _ = try await tower.finish(process)
        #expect(laptop.memory.content(key) != nil && laptop.memory.content(otherKey) == nil)
    }
}
