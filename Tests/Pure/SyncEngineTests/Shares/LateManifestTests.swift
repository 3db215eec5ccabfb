import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import Testing

/// What is stored of a share that was revoked meanwhile, where the store does not remove it.
@Suite struct LateManifestTests {
    @Test func `a manifest that cannot be removed is told, and removed later`() async throws {
        let bench = try ShareBench()
        try await bench.add("a.jpg")
        let id = try await bench.accept()
        let (gate, key) = (Gate(), ShareKeys(id).manifest)
        bench.store.add(StoreFault(.put, key: key.rawValue, .hold(gate)))
        let store = KeepingStore(base: bench.store, kept: key)
        let run = Task { try await bench.publisher(store: store).run(id) }
        await gate.waitForArrivals(1)
        try bench.ledger.endShare(id, .revoked)
        gate.open()
        let error = await #expect(throws: StoreError.self) { _ = try await run.value }
        #expect(error?.key == key.rawValue)
        #expect(bench.memory.info(key) != nil)
        try await bench.service().round()
        #expect(bench.objects(id) == [])
    }
}

/// A store that does not remove one object with others, and says so.
private struct KeepingStore: WrappedStore {
    let base: any ObjectStore
    let kept: ObjectKey

    func delete(_ keys: [ObjectKey]) async throws -> [ObjectKey: StoreError] {
        var failures = try await base.delete(keys.filter { $0 != kept })
        if keys.contains(kept) {
            failures[kept] = StoreError(.accessDenied, operation: "delete", key: kept.rawValue, message: "it is kept")
        }
        return failures
    }
}
