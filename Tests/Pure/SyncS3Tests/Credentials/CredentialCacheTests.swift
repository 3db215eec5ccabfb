import FoundationEssentials
import SyncCore
import SyncTestSupport
import Testing

@testable import SyncS3

@Suite struct CredentialCacheTests {
    private let time = ManualTime()
    private let failure = StoreError(.serverFailed, operation: "credentials", message: "away")

    private func cache(_ provider: ScriptedProvider) -> CredentialCache {
        let now = time.source.now
        return CredentialCache(chain: CredentialChain(providers: [provider], remedy: "", now: now), now: now)
    }

    private func credentials(_ id: String, lasting seconds: TimeInterval) -> AWSCredentials {
        .named(id, until: time.now.addingTimeInterval(seconds))
    }

    @Test func `Many callers cause one look`() async throws {
        let gate = Gate()
        let provider = ScriptedProvider([
            {
                await gate.pass()
                return .found(.named("ONE"))
            }
        ])
        let cache = cache(provider)
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<100 { group.addTask { try await cache.current(for: "put").accessKeyID } }
            await gate.waitForArrivals(1)
            gate.open()
            for try await key in group { #expect(key == "ONE") }
        }
        #expect(provider.count == 1)
    }

    @Test func `Many callers hear of one failure, each with his operation`() async {
        let gate = Gate()
        let failure = failure
        let provider = ScriptedProvider([
            {
                await gate.pass()
                throw failure
            }
        ])
        let cache = cache(provider)
        let errors = await withTaskGroup(of: StoreError?.self) { group in
            for operation in ["put", "head", "list"] {
                group.addTask {
                    do {
                        _ = try await cache.current(for: operation)
                        return nil
                    } catch {
                        return error as? StoreError
                    }
                }
            }
            await gate.waitForArrivals(1)
            gate.open()
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(errors.compactMap { $0?.operation }) == ["put", "head", "list"])
        #expect(errors.allSatisfy { $0?.code == .serverFailed })
    }

    @Test(
        arguments: [
            (nil, 1_000_000, 1), (3_600, 3_600 - 901, 1), (3_600, 3_600 - 900, 2), (3_600, 3_600 - 1, 2),
            (3_600, 3_600, 2), (3_600, 9_999, 2),
        ] as [(TimeInterval?, Int, Int)])
    func `Others are got before the old ones end`(lasting: TimeInterval?, after: Int, looks: Int) async throws {
        let old = AWSCredentials.named("OLD", until: lasting.map { time.now.addingTimeInterval($0) })
        let new = credentials("NEW", lasting: 1_000_000)
        let provider = ScriptedProvider([{ .found(old) }, { .found(new) }])
        let cache = cache(provider)
        _ = try await cache.current(for: "put")
        await time.advance(by: .seconds(after))
        for _ in 0..<3 {
            #expect(try await cache.current(for: "put").accessKeyID == (looks == 1 ? "OLD" : "NEW"))
        }
        #expect(provider.count == looks)
    }

    @Test func `While one caller gets others early, the rest go on with the old`() async throws {
        let gate = Gate()
        let old = credentials("OLD", lasting: 3_600)
        let new = credentials("NEW", lasting: 7_200)
        let provider = ScriptedProvider([
            { .found(old) },
            {
                await gate.pass()
                return .found(new)
            },
        ])
        let cache = cache(provider)
        _ = try await cache.current(for: "put")
        await time.advance(by: .seconds(3_600 - 800))
        async let refreshing = cache.current(for: "put")
        await gate.waitForArrivals(1)
        #expect(try await cache.current(for: "put").accessKeyID == "OLD")
        gate.open()
        #expect(try await refreshing.accessKeyID == "NEW")
        #expect(try await cache.current(for: "put").accessKeyID == "NEW")
    }

    @Test func `Shortly before the end all wait for others`() async throws {
        let gate = Gate()
        let old = credentials("OLD", lasting: 3_600)
        let new = credentials("NEW", lasting: 7_200)
        let provider = ScriptedProvider([
            { .found(old) },
            {
                await gate.pass()
                return .found(new)
            },
        ])
        let cache = cache(provider)
        _ = try await cache.current(for: "put")
        await time.advance(by: .seconds(3_600 - 500))
        let keys = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<10 { group.addTask { try await cache.current(for: "put").accessKeyID } }
            await gate.waitForArrivals(1)
            gate.open()
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(keys == ["NEW"])
        #expect(provider.count == 2)
    }

    @Test func `A source that is away matters only when the old ones have ended, and is asked once a minute`()
        async throws
    {
        let old = credentials("OLD", lasting: 3_600)
        let failure = failure
        let provider = ScriptedProvider([{ .found(old) }, { throw failure }])
        let cache = cache(provider)
        _ = try await cache.current(for: "put")
        await time.advance(by: .seconds(3_600 - 700))
        for _ in 0..<3 { #expect(try await cache.current(for: "put").accessKeyID == "OLD") }
        #expect(provider.count == 2)
        await time.advance(by: .seconds(RefreshRule.pause))
        for _ in 0..<3 { #expect(try await cache.current(for: "put").accessKeyID == "OLD") }
        #expect(provider.count == 3)
        await time.advance(by: .seconds(700))
        for looks in [4, 5] {
            let error = await #expect(throws: StoreError.self) { try await cache.current(for: "put") }
            #expect(error?.message == "away")
            #expect(provider.count == looks)
        }
    }

    @Test func `Refused credentials are looked for anew, unless others are in use`() async throws {
        let provider = ScriptedProvider([{ .found(.named("ONE")) }, { .found(.named("TWO")) }])
        let cache = cache(provider)
        let one = try await cache.current(for: "put")
        #expect(try await cache.current(for: "put", insteadOf: one).accessKeyID == "TWO")
        #expect(try await cache.current(for: "put", insteadOf: one).accessKeyID == "TWO")
        #expect(provider.count == 2)
    }

    @Test func `A caller that is cancelled while it looks leaves the look to another`() async throws {
        let time = time
        let provider = ScriptedProvider([
            {
                try await time.source.sleep(.seconds(1))
                return .absent(reason: "not cancelled")
            },
            { .found(.named("SECOND")) },
        ])
        let cache = cache(provider)
        let first = Task { try await cache.current(for: "put").accessKeyID }
        await time.waitForSleepers()
        async let second = cache.current(for: "put")
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(try await second.accessKeyID == "SECOND")
        #expect(provider.count == 2)
    }

    @Test func `A caller that is cancelled while it waits goes, and the look goes on`() async throws {
        let gate = Gate()
        let provider = ScriptedProvider([
            {
                await gate.pass()
                return .found(.named("ONE"))
            }
        ])
        let cache = cache(provider)
        async let first = cache.current(for: "put")
        await gate.waitForArrivals(1)
        let waiter = Task { try await cache.current(for: "put") }
        waiter.cancel()
        await #expect(throws: CancellationError.self) { try await waiter.value }
        gate.open()
        #expect(try await first.accessKeyID == "ONE")
    }
}
