import SyncCore
import SyncTestSupport
import Testing

@Suite
struct FaultyStoreTests {
    private static let attributes = ObjectAttributes(contentType: "text/plain")

    private func put(_ key: String, in store: FaultyStore) async throws -> StoreError.Code? {
        do {
            _ = try await store.put(
                ObjectBody(key), at: ObjectKey(key), attributes: Self.attributes, condition: .overwrite)
            return nil
        } catch let error as StoreError {
            return error.code
        }
    }

    @Test func `the third put fails after its body, the others do not`() async throws {
        let memory = InMemoryStore()
        let store = FaultyStore(memory, faults: [StoreFault(.put, number: 3, .failAfter(.throttled))])
        var codes: [StoreError.Code?] = []
        for name in ["a", "b", "c", "d"] { codes.append(try await put(name, in: store)) }
        #expect(codes == [nil, nil, .throttled, nil])
        #expect(memory.keys.map(\.rawValue) == ["a", "b", "c", "d"])
        #expect(store.count(.put) == 4)
    }

    @Test func `a fault before the work leaves the store untouched, and may concern one key only`() async throws {
        let memory = InMemoryStore()
        let store = FaultyStore(memory, faults: [StoreFault(.put, key: "b", numbers: 1...2, .failBefore(.unreachable))])
        var codes: [StoreError.Code?] = []
        for name in ["a", "b", "b", "b"] { codes.append(try await put(name, in: store)) }
        #expect(codes == [nil, .unreachable, .unreachable, nil])
        #expect(memory.keys.map(\.rawValue) == ["a", "b"])
    }

    @Test func `a gate holds calls until it is opened, and tells how many are under way`() async throws {
        let gate = Gate()
        let store = FaultyStore(InMemoryStore(), faults: [StoreFault(.put, .hold(gate))])
        try await withThrowingTaskGroup(of: StoreError.Code?.self) { group in
            for name in ["a", "b", "c"] { group.addTask { try await put(name, in: store) } }
            await gate.waitForArrivals(3)
            #expect(store.mostInFlight(.put) == 3)
            gate.letOne()
            #expect(try await group.next() == .some(nil))
            gate.open()
            for try await code in group { #expect(code == nil) }
        }
        #expect(store.mostInFlight(.put) == 3)
    }
}
