import FoundationEssentials
import SyncCore
import SyncDigest
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncLocalStore

/// A disk on which names that differ in capitals alone are one name. Links make two folders of the store one, as such a
/// disk does.
@Suite
struct LocalStoreCapitalsTests {
    private let tree: TemporaryTree
    private let upper: ObjectKey
    private let lower: ObjectKey
    private let bytes = [UInt8].noise(1_000)

    init() throws {
        tree = try TemporaryTree()
        upper = try ObjectKey("users/ana/projects/AbC1/a.jpg")
        lower = try ObjectKey("users/ana/projects/abc1/a.jpg")
    }

    private func makeStore(ignoresCapitals: Bool = false) -> LocalStore {
        LocalStore(
            root: tree.path("store"), now: { Date() }, restoreDuration: .seconds(5),
            capitalsProbe: { _ in ignoresCapitals })
    }

    private func makeOne() throws {
        for folder in ["records", "objects"] {
            try FileManager.default.createSymbolicLink(
                atPath: tree.path("store/\(folder)/users/ana/projects/abc1").string, withDestinationPath: "AbC1")
        }
    }

    private func put(
        _ bytes: [UInt8], at key: ObjectKey, in store: LocalStore, _ condition: PutCondition
    ) async throws {
        _ = try await store.put(
            ObjectBody(bytes: bytes, digest: ContentDigest(of: bytes)), at: key,
            attributes: ObjectAttributes(contentType: "image/jpeg"), condition: condition)
    }

    @Test(arguments: [true, false])
    func `a key whose place another one has is refused, and takes nothing of it away`(isSame: Bool) async throws {
        let (store, source) = (makeStore(), try ObjectKey("source"))
        let others = isSame ? bytes : [UInt8].noise(500)
        try await store.store(bytes, at: upper)
        try await store.store(others, at: source)
        try makeOne()
        let calls: [@Sendable () async throws -> Void] = [
            { try await put(others, at: lower, in: store, .ifAbsent) },
            { try await put(others, at: lower, in: store, .overwrite) },
            { try await store.copy(source, to: lower, storageClass: .standard, condition: .ifAbsent) },
            { try await store.copy(source, to: lower, storageClass: .standard, condition: .overwrite) },
        ]
        for call in calls {
            let error = await #expect(throws: StoreError.self) { try await call() }
            #expect(error?.code == .invalidRequest && error?.isTransient == false)
            #expect(error?.message.contains(upper.rawValue) == true)
            #expect(error?.message.contains("move-store") == true)
        }
        try await store.delete(lower)
        try await store.removeLeftovers()
        #expect(try await store.head(upper)?.sha256 == ContentDigest(of: bytes).sha256)
        #expect(try await store.bytes(of: upper) == bytes)
        #expect(try tree.files(below: "store/staging") == [])
    }

    @Test(arguments: [true, false])
    func `also where each name has an inode of its own, and where nobody can ask the folder, the place is taken`(
        isReadOnly: Bool
    ) async throws {
        let store = LocalStore(
            root: tree.path("store"), now: { Date() }, restoreDuration: .seconds(5),
            capitalsProbe: { _ in
                if isReadOnly { throw Errno.readOnlyFileSystem }
                return true
            })
        try await store.store(bytes, at: upper)
        let record = try tree.read("store/records/users/ana/projects/AbC1/a.jpg~.json")
        try tree.write(record, to: "store/records/users/ana/projects/abc1/a.jpg~.json")
        #expect(try await store.head(lower) == nil)
        for condition in [PutCondition.ifAbsent, .overwrite] {
            let error = await #expect(throws: StoreError.self) {
                try await put([UInt8].noise(500), at: lower, in: store, condition)
            }
            #expect(error?.code == .invalidRequest && error?.message.contains(upper.rawValue) == true)
        }
        #expect(try await store.bytes(of: upper) == bytes)
        #expect(try tree.read("store/records/users/ana/projects/abc1/a.jpg~.json") == record)
    }

    @Test func `no file is made to ask about capitals where keys differ in more`() async throws {
        let asked = Lock(0)
        let store = LocalStore(
            root: tree.path("store"), now: { Date() }, restoreDuration: .seconds(5),
            capitalsProbe: { _ in
                asked.withLock { $0 += 1 }
                return true
            })
        let other = try ObjectKey("users/ana/projects/xyz/a.jpg")
        try await store.store(bytes, at: upper)
        let record = try tree.read("store/records/users/ana/projects/AbC1/a.jpg~.json")
        try tree.write(record, to: "store/records/users/ana/projects/xyz/a.jpg~.json")
        let error = await #expect(throws: StoreError.self) { _ = try await store.head(other) }
        #expect(error?.code == .badDigest && error?.isOfRecord == true)
        #expect(try await store.head(upper) != nil)
        #expect(asked.withLock { $0 } == 0)
    }

    @Test func `nothing is called stored under a key whose place another one has`() async throws {
        let store = makeStore()
        try await store.store(bytes, at: upper)
        try makeOne()
        #expect(try await store.head(lower) == nil)
        #expect(try await store.file(of: lower)?.path == nil)
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await store.bytes(of: lower) },
            { try await store.copy(lower, to: lower, storageClass: .glacier, condition: .overwrite) },
            { _ = try await store.restore(lower, RestoreRequest(days: 1, tier: .bulk)) },
        ]
        for call in calls {
            let error = await #expect(throws: StoreError.self) { try await call() }
            #expect(error?.code == .notFound)
        }
        // In a listing each object has its own key, whichever name its folder has.
        #expect(try await store.keys(prefix: "users/ana/projects/abc1/") == [])
        #expect(try await Set(store.keys()) == [upper.rawValue])
    }

    @Test func `what a crash has left of a key whose place another one has takes no bytes away`() async throws {
        let store = makeStore()
        try await store.store(bytes, at: lower)
        let record = try tree.read("store/records/users/ana/projects/abc1/a.jpg~.json")
        try await store.delete(lower)
        try await store.store(bytes, at: upper)
        try makeOne()
        // Of a version that did not know of such disks: both records named one file.
        try tree.write(record, to: "store/staging/0123456789abcdef.json")
        try tree.age("store/staging/0123456789abcdef.json", bySeconds: 4_000)
        try await makeStore().removeLeftovers()
        #expect(try tree.files(below: "store/staging") == [])
        #expect(try await store.bytes(of: upper) == bytes)
    }

    @Test func `a store is made on such a disk as on any other`() async throws {
        let store = makeStore(ignoresCapitals: true)
        try await store.store(bytes, at: upper)
        try await store.check()
        #expect(try await store.bytes(of: upper) == bytes)
    }

    @Test func `where a record was lost there, the file of its name may be another key's, and is left alone`()
        async throws
    {
        try await makeStore().store(bytes, at: upper)
        let (file, record) = ("users/ana/projects/AbC1/a.jpg", "store/records/users/ana/projects/AbC1/a.jpg~.json")
        let store = makeStore(ignoresCapitals: true)
        try FileManager.default.removeItem(atPath: tree.path(record).string)
        try await put(bytes, at: upper, in: store, .ifAbsent)
        #expect(try tree.files(below: "store/objects").count == 2)
        try await store.delete(upper)
        #expect(try tree.files(below: "store/objects") == [file])
        try tree.write("{", to: record)
        try await store.delete(upper)
        #expect(try tree.files(below: "store/objects") == [file])
        #expect(try await store.head(upper) == nil)
    }

    @Test func `keys that have one place on such a disk have one lock, and others as before`() throws {
        let layout = StoreLayout(root: tree.path("store"))
        #expect(layout.lockFiles(for: lower).count == 1)
        #expect(Set(layout.lockFiles(for: upper)).isSuperset(of: layout.lockFiles(for: lower)))
        #expect(layout.lockFiles(for: upper) == layout.lockFiles(for: upper).sorted { $0.string < $1.string })
        let accents = [try ObjectKey("É.jpg"), try ObjectKey("é.jpg")].map { Set(layout.lockFiles(for: $0)) }
        #expect(!accents[0].isDisjoint(with: accents[1]))
    }
}
