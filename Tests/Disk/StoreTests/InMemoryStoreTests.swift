import FoundationEssentials
import SyncCore
import SyncTestSupport
import Testing

@Suite
struct InMemoryStoreTests {
    @Test func `damage is found when it is read`() async throws {
        let store = InMemoryStore()
        let key = try ObjectKey("a")
        try await store.store([1, 2, 3], at: key)
        store.damage(key)
        let error = await #expect(throws: StoreError.self) { _ = try await store.bytes(of: key) }
        #expect(error?.code == .badDigest)
    }

    @Test func `a restored object is readable and may be replaced`() async throws {
        let store = InMemoryStore()
        let key = try ObjectKey("a")
        try await store.store([1, 2, 3], at: key)
        store.setClass(.deepArchive, of: key)
        await #expect(throws: StoreError.self) { _ = try await store.bytes(of: key) }
        store.setClass(.deepArchive, restore: .restored(until: nil), of: key)
        #expect(try await store.bytes(of: key) == [1, 2, 3])
        try await store.store([4], at: key)
        #expect(store.content(key) == [4])
    }

    @Test func `restores go by the clock that it was given; one that was set by hand lasts until it is set again`()
        async throws
    {
        let time = ManualTime()
        let store = InMemoryStore(now: time.source.now, restoreDuration: .seconds(60))
        let key = try ObjectKey("a")
        try await store.store([1], at: key)
        store.setClass(.glacier, of: key)
        #expect(try await store.restore(key, RestoreRequest(days: 1, tier: .bulk)) == .accepted)
        #expect(try await store.restore(key, RestoreRequest(days: 1, tier: .expedited)) == .accepted)
        #expect(store.restoreTier(key) == .expedited)
        await time.advance(by: .seconds(60))
        #expect(store.info(key)?.restore == .restored(until: Date(timeIntervalSince1970: 1_767_225_600 + 86_400)))
        await time.advance(by: .seconds(86_400))
        #expect(store.info(key)?.restore == RestoreState.none)
        store.setClass(.glacier, restore: .inProgress, of: key)
        await time.advance(by: .seconds(1_000_000))
        #expect(store.info(key)?.restore == .inProgress)
    }

    @Test func `what a store does not have, it says beforehand`() async throws {
        let plain = InMemoryStore(restoresInLists: false)
        let key = try ObjectKey("a")
        try await plain.store([1], at: key)
        plain.setClass(.glacier, restore: .inProgress, of: key)
        #expect(plain.capabilities.restoresInLists == nil)
        #expect(try await plain.list(prefix: "", after: nil, limit: 1).objects.first?.restore == RestoreState.none)
        #expect(try await plain.head(key)?.restore == .inProgress)
        #expect(plain.capabilities.lifecycle == .byAgent)
        let error = await #expect(throws: StoreError.self) { try await plain.setLifecycle(LifecycleConfiguration()) }
        #expect(error?.code == .unsupported)
    }
}
