import SyncCore
import SyncTestSupport
import Testing

@testable import SyncEngine

@Suite struct ObjectStateQueryTests {
    private let memory = InMemoryStore()
    private let store: FaultyStore

    init() {
        store = FaultyStore(memory)
    }

    private func put(_ count: Int, in storageClass: StorageClass = .deepArchive, to store: InMemoryStore) async throws
        -> [ObjectKey]
    {
        var keys: [ObjectKey] = []
        for index in 0..<count {
            let key = try ObjectKey("users/ana/photos/\(100_000 + index).dat")
            try await store.store([1], at: key)
            store.setClass(storageClass, of: key)
            keys.append(key)
        }
        return keys
    }

    private func check(_ keys: [ObjectKey], of known: Int, restores: Bool = true) async throws
        -> [ObjectKey: ObjectStateQuery.Finding]
    {
        try await ObjectStateQuery(store: store, knownObjects: known).states(of: Set(keys), tellingRestores: restores)
    }

    @Test func `many objects are asked for with one listing for each thousand`() async throws {
        let keys = try await put(2_500, to: memory)
        let findings = try await check(keys, of: 2_500)
        #expect(findings.count == 2_500)
        #expect(store.lines == Array(repeating: "list users/ana/photos/", count: 3))
    }

    @Test(arguments: [(1, 0, 1, 0), (1, 100, 1, 0), (2, 100, 0, 1), (5, 5_500, 5, 0), (7, 5_500, 0, 1)])
    func `a few objects of many are asked for by name`(count: Int, known: Int, heads: Int, lists: Int) async throws {
        let keys = try await put(20, to: memory)
        _ = try await check(Array(keys.prefix(count)), of: known)
        #expect(store.count(.head) == heads)
        #expect(store.count(.list) == lists)
    }

    @Test func `nothing to ask for asks nothing`() async throws {
        #expect(try await check([], of: 1_000) == [:])
        #expect(store.calls == [])
    }

    @Test func `where listings tell nothing of restores, only what may be restored is asked for by name`() async throws
    {
        let memory = InMemoryStore(restoresInLists: false)
        let store = FaultyStore(memory)
        let keys = try await put(20, to: memory)
        for key in keys.prefix(5) { memory.setClass(.standard, of: key) }
        memory.setClass(.deepArchive, restore: .inProgress, of: keys[9])
        let query = ObjectStateQuery(store: store, knownObjects: 20)
        let findings = try await query.states(of: Set(keys), tellingRestores: true)
        #expect(store.count(.head) == 15)
        #expect(findings[keys[9]] == memory.info(keys[9]).map(ObjectStateQuery.Finding.found))
        _ = try await query.states(of: Set(keys), tellingRestores: false)
        #expect(store.count(.head) == 15)
    }

    @Test func `a key that a listing has lost is asked for by name`() async throws {
        let keys = try await put(20, to: memory)
        let query = ObjectStateQuery(store: ForgetfulStore(store, hidden: [keys[3]]), knownObjects: 20)
        let findings = try await query.states(of: Set(keys), tellingRestores: true)
        #expect(store.calls.filter { $0.operation == .head }.map(\.key) == [keys[3].rawValue])
        #expect(findings[keys[3]] == memory.info(keys[3]).map(ObjectStateQuery.Finding.found))
    }

    @Test func `a key that is not there is missing, and one that fails for itself has failed`() async throws {
        let keys = try await put(3, to: memory)
        try await memory.delete(keys[0])
        store.add(StoreFault(.head, key: keys[1].rawValue, .failBefore(.serverFailed)))
        let findings = try await check(keys, of: 100_000)
        #expect(findings[keys[0]] == .missing)
        guard case .failed(let error) = findings[keys[1]] else {
            Issue.record("\(String(describing: findings[keys[1]]))")
            return
        }
        #expect(error.code == .serverFailed)
        #expect(findings.count == 3)
    }

    @Test func `an outage is thrown`() async throws {
        let keys = try await put(3, to: memory)
        store.add(StoreFault(.head, key: keys[1].rawValue, .failBefore(.unreachable)))
        await #expect(throws: StoreError.self) { try await check(keys, of: 100_000) }
    }

    @Test func `a folder that holds far more than is known is given up, and keys are asked for by name`() async throws {
        let keys = try await put(5_000, to: memory)
        let findings = try await check([keys[4_000], keys[4_999]], of: 100)
        #expect(findings.count == 2)
        #expect(store.count(.list) == 2)
        #expect(store.count(.head) == 2)
    }

    @Test(
        arguments: [
            (["users/ana/photos/a", "users/ana/photos/b"], "users/ana/photos/"),
            (["users/ana/photos/a", "users/ana/originals/b"], "users/ana/"),
            (["users/ana/photos/abc", "users/ana/photos/abd", "users/ana/projects/x"], "users/ana/"),
            (["users/ana/a", "usersbob/a"], ""), (["gallery/a", "users/a"], ""), (["a"], ""), ([], ""),
            (["é/a", "è/a"], ""), (["é/a", "é/b"], "é/"),
        ] as [([String], String)])
    func `what is listed is the folder that all keys share`(keys: [String], folder: String) throws {
        #expect(ObjectStateQuery.commonFolder(of: Set(try keys.map { try ObjectKey($0) })) == folder)
    }
}

/// A store whose listings lose keys.
private struct ForgetfulStore: WrappedStore {
    let base: any ObjectStore
    private let hidden: Set<ObjectKey>

    init(_ base: any ObjectStore, hidden: Set<ObjectKey>) {
        self.base = base
        self.hidden = hidden
    }

    func list(prefix: String, after: PageToken?, limit: Int) async throws -> ObjectPage {
        var page = try await base.list(prefix: prefix, after: after, limit: limit)
        page.objects.removeAll { hidden.contains($0.key) }
        return page
    }
}
