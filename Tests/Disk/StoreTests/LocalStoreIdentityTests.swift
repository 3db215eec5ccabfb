import FoundationEssentials
import Glibc
import SyncCore
import SyncLocalStore
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@Suite
struct LocalStoreIdentityTests {
    /// What a ledger remembers.
    private final class KnownID: StoreIDKeeper {
        private let id: Lock<String?>
        private let hasObjects: Bool

        init(_ id: String? = nil, hasObjects: Bool = false) {
            self.id = Lock(id)
            self.hasObjects = hasObjects
        }

        func storeID() -> String? { id.withLock { $0 } }

        func knowsStore() -> Bool { hasObjects || storeID() != nil }

        func bindStoreID(_ new: String) -> String {
            id.withLock { id in
                let bound = id ?? new
                id = bound
                return bound
            }
        }
    }

    private let tree: TemporaryTree
    private let key: ObjectKey

    init() throws {
        tree = try TemporaryTree()
        key = try ObjectKey("a")
    }

    private func makeStore(_ memory: KnownID?, _ access: LocalStoreAccess = .founds) -> LocalStore {
        LocalStore(
            root: tree.path("store"), now: { Date() }, restoreDuration: .seconds(5), access: access, memory: memory)
    }

    private func refused(_ store: LocalStore, _ text: String) async {
        let calls: [@Sendable () async throws -> Void] = [
            { try await store.check() }, { try await store.store([1], at: key) }, { _ = try await store.head(key) },
            { _ = try await store.list(prefix: "", after: nil, limit: 1) }, { try await store.delete(key) },
        ]
        for call in calls {
            let error = await #expect(throws: StoreError.self) { try await call() }
            #expect(error?.code == .storeMissing)
            #expect(error?.message.contains(text) == true, "\(error?.message ?? "")")
        }
    }

    @Test func `the first store gets an id, and whoever uses it remembers it`() async throws {
        let memory = KnownID()
        let store = makeStore(memory)
        try await store.store([1], at: key)
        let id = try #require(memory.storeID())
        #expect(id.utf8.count == 36)
        #expect(String(decoding: try tree.read("store/sync-agent-store.json"), as: UTF8.self).contains(id))
        let other = KnownID()
        #expect(try await makeStore(other).head(key) != nil)
        #expect(other.storeID() == id)
    }

    @Test(
        arguments: [true, false], [true, false])
    func `where a store is known, none is made in an empty or missing folder`(isFolderThere: Bool, hasObjects: Bool)
        async throws
    {
        if isFolderThere { try tree.makeFolder("store") }
        await refused(
            makeStore(KnownID(hasObjects ? nil : "some", hasObjects: hasObjects)),
            "not the store that this ledger knows"
        )
        #expect(try tree.files() == [])
        #expect(FileManager.default.fileExists(atPath: tree.path("store").string) == isFolderThere)
        #expect(!FileManager.default.fileExists(atPath: tree.path("store/objects").string))
    }

    @Test(arguments: [LocalStoreAccess.reads, .writes])
    func `what only looks, or writes to what is there, makes nothing`(access: LocalStoreAccess) async throws {
        await refused(makeStore(KnownID(), access), "is not there yet")
        try tree.makeFolder("store")
        await refused(makeStore(KnownID(), access), "is not there yet")
        #expect(try FileManager.default.contentsOfDirectory(atPath: tree.path("store").string) == [])
    }

    @Test(arguments: [true, false])
    func `another store in its place is refused with both ids, and not written to`(knowsBefore: Bool) async throws {
        try await makeStore(KnownID()).store([1], at: key)
        let memory = KnownID(knowsBefore ? "11111111-known" : nil)
        let store = makeStore(memory)
        if !knowsBefore {
            try await store.store([2], at: ObjectKey("b"))
            try FileManager.default.moveItem(atPath: tree.path("store").string, toPath: tree.path("first").string)
            try await makeStore(nil).store([3], at: ObjectKey("c"))
        }
        let before = try tree.files(below: "store")
        let id = try #require(memory.storeID())
        await refused(store, id)
        await refused(makeStore(memory), "another store")
        #expect(try tree.files(below: "store") == before)
        if !knowsBefore {
            // And when the right one is back, everything goes on.
            try FileManager.default.removeItem(atPath: tree.path("store").string)
            try FileManager.default.moveItem(atPath: tree.path("first").string, toPath: tree.path("store").string)
            #expect(try await store.head(key) != nil)
        }
    }

    @Test func `nothing is written below a mount point whose disk has gone`() async throws {
        let store = makeStore(KnownID())
        try await store.store([1], at: key)
        try FileManager.default.moveItem(atPath: tree.path("store").string, toPath: tree.path("disk").string)
        try tree.makeFolder("store")
        await refused(store, "mount the disk")
        #expect(try FileManager.default.contentsOfDirectory(atPath: tree.path("store").string) == [])
    }

    @Test func `a marker as long as a disk says of no store which one it is`() async throws {
        try await makeStore(nil).store([1], at: key)
        #expect(truncate(tree.path("store/sync-agent-store.json").string, 1 << 43) == 0)
        await refused(makeStore(nil), "cannot be read")
    }

    @Test func `a store of an earlier version gets its id when it is written to, and not when it is looked at`()
        async throws
    {
        try await makeStore(nil).store([1], at: key)
        try tree.write(#"{"about":"?","format":1}"#, to: "store/sync-agent-store.json")
        let memory = KnownID(hasObjects: true)
        #expect(try await makeStore(memory, .reads).head(key) != nil)
        #expect(memory.storeID() == nil)
        #expect(
            String(decoding: try tree.read("store/sync-agent-store.json"), as: UTF8.self)
                == #"{"about":"?","format":1}"#)
        #expect(try await makeStore(memory, .writes).head(key) != nil)
        let id = try #require(memory.storeID())
        #expect(String(decoding: try tree.read("store/sync-agent-store.json"), as: UTF8.self).contains(id))
        // A ledger that knows an id does not take one without for it.
        try tree.write(#"{"about":"?","format":1}"#, to: "store/sync-agent-store.json")
        await refused(makeStore(memory), "without an id")
    }
}
