import SyncCore
import SyncTestSupport
import Testing

@Suite("InMemoryStore")
struct InMemoryStoreTests {
    @Test("Damage is found when it is read")
    func damage() async throws {
        let store = InMemoryStore()
        let key = try ObjectKey("a")
        try await store.store([1, 2, 3], at: key)
        store.damage(key)
        let error = await #expect(throws: StoreError.self) { _ = try await store.bytes(of: key) }
        #expect(error?.code == .badDigest)
    }

    @Test("A restored object is readable and may be replaced")
    func restored() async throws {
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
}
