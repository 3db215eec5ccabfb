import FoundationEssentials
import Glibc
import SyncCore
import SyncDigest
import SyncLocalStore
import SyncTestSupport
import SystemPackage
import Testing

@Suite
struct LocalStoreProofTests {
    enum Damage: CaseIterable, Sendable {
        case deleted, truncated, emptied, flipped, folderDeleted
    }

    private let tree: TemporaryTree
    private let key: ObjectKey
    private let file = "store/objects/users/ana/photos/photo.dat"
    private let record = "store/records/users/ana/photos/photo.dat~.json"
    private let bytes = [UInt8].noise(10_000)

    init() throws {
        tree = try TemporaryTree(in: .memory)
        key = try ObjectKey("users/ana/photos/photo.dat")
    }

    private func makeStore(access: LocalStoreAccess = .founds) -> LocalStore {
        LocalStore(root: tree.path("store"), now: { Date() }, restoreDuration: .seconds(5), access: access)
    }

    private func put(
        _ bytes: [UInt8], in store: LocalStore, _ storageClass: StorageClass = .standard,
        _ condition: PutCondition = .ifAbsent
    ) async throws {
        _ = try await store.put(
            ObjectBody(bytes: bytes, digest: ContentDigest(of: bytes)), at: key,
            attributes: ObjectAttributes(contentType: "image/jpeg", storageClass: storageClass), condition: condition)
    }

    private var flipped: [UInt8] {
        var bytes = bytes
        bytes[5_000] ^= 1
        return bytes
    }

    private func harm(_ damage: Damage) throws {
        switch damage {
        case .deleted: try FileManager.default.removeItem(atPath: tree.path(file).string)
        case .truncated: try tree.write(Array(bytes.prefix(9_999)), to: file)
        case .emptied: try tree.write([], to: file)
        case .flipped: try tree.write(flipped, to: file)
        case .folderDeleted: try FileManager.default.removeItem(atPath: tree.path("store/objects/users").string)
        }
        // The kernel's clock ticks slowly: what was written a moment ago may have the same time.
        switch damage {
        case .truncated, .emptied, .flipped: try tree.age(file, bySeconds: 10)
        case .deleted, .folderDeleted: break
        }
    }

    @Test(arguments: [true, false])
    func `a record that names the bytes of another key is no record, and takes nothing of theirs away`(
        namesKey: Bool
    ) async throws {
        let store = makeStore()
        try await put(bytes, in: store)
        let other = try ObjectKey("users/ana/photos/other.dat")
        let others = [UInt8].noise(500)
        _ = try await store.put(
            ObjectBody(bytes: others, digest: ContentDigest(of: others)), at: other,
            attributes: ObjectAttributes(contentType: "image/jpeg"), condition: .ifAbsent)
        // Its file stands in front of its key.
        try edit {
            $0.replacing("photos/photo.dat\",", with: "photos/other.dat\",", maxReplacements: namesKey ? 2 : 1)
        }
        try await put(bytes, in: makeStore())
        let whole = makeStore()
        #expect(try await whole.head(other)?.sha256 == ContentDigest(of: others).sha256)
        #expect(try await whole.head(key)?.sha256 == ContentDigest(of: bytes).sha256)
    }

    @Test func `a pipe in the place of a record holds nobody up`() async throws {
        let store = makeStore()
        try await put(bytes, in: store)
        try FileManager.default.removeItem(atPath: tree.path(record).string)
        #expect(mkfifo(tree.path(record).string, 0o600) == 0)
        _ = try? await store.head(key)
        let page = try await store.list(prefix: "", after: nil, limit: 10)
        #expect(page.objects.isEmpty)
        #expect(page.problems.map(\.key) == [key])
    }

    private func edit(_ change: (String) -> String) throws {
        let before = String(decoding: try tree.read(record), as: UTF8.self)
        let after = change(before)
        try #require(after != before)
        try tree.write(after, to: record)
    }

    @Test(arguments: [9_999, 10_001, 0])
    func `a record of which the size alone is wrong keeps nobody from bytes that are right`(size: Int) async throws {
        let store = makeStore()
        try await put(bytes, in: store)
        try edit { $0.replacing("\"size\" : 10000", with: "\"size\" : \(size)") }
        #expect(try await store.bytes(of: key) == bytes)
        #expect(try await store.bytes(of: key, range: 9_990..<20_000) == Array(bytes[9_990...]))
        let error = await #expect(throws: StoreError.self) { try await put(bytes, in: store) }
        #expect(error?.code == .alreadyExists)
        let copy = try ObjectKey("copy")
        try await store.copy(key, to: copy, storageClass: .standard, condition: .ifAbsent)
        #expect(try await store.head(copy)?.size == 10_000)
        let info = try await store.head(key)
        #expect(info?.size == 10_000 && info?.sha256 == ContentDigest(of: bytes).sha256)
        // A listing knows it from then on.
        let listed = try await store.list(prefix: "users/", after: nil, limit: 10).objects.first
        #expect(listed?.size == 10_000 && listed?.sha256 == info?.sha256)
    }

    @Test func `a record of which the size is wrong too makes no other bytes right`() async throws {
        let store = makeStore()
        try await put(bytes, in: store)
        try edit { $0.replacing("\"size\" : 10000", with: "\"size\" : 9999") }
        for damage in [Damage.flipped, .truncated] {
            try harm(damage)
            let error = await #expect(throws: StoreError.self) { _ = try await store.bytes(of: key) }
            #expect(error?.code == .badDigest)
        }
    }

    @Test(arguments: Damage.allCases)
    func `what is told of an object is what its bytes are`(damage: Damage) async throws {
        let store = makeStore()
        try await put(bytes, in: store)
        try harm(damage)
        let info = try await store.head(key)
        let listed = try await store.list(prefix: "", after: nil, limit: 10).objects
        switch damage {
        case .deleted, .folderDeleted:
            #expect(info == nil)
            #expect(listed == [])
            let error = await #expect(throws: StoreError.self) { _ = try await store.bytes(of: key) }
            #expect(error?.code == .notFound)
        case .truncated, .emptied, .flipped:
            let there = try tree.read(file)
            #expect(info?.size == Int64(there.count))
            #expect(info?.sha256 == ContentDigest(of: there).sha256)
            #expect(info?.md5 == ContentDigest(of: there).md5)
            #expect(listed.map(\.size) == [Int64(there.count)])
            #expect(listed.first?.sha256 == nil)
            #expect(listed.first?.md5 == nil)
        }
    }

    @Test(
        arguments: Damage.allCases,
        [StorageClass.standard, .deepArchive])
    func `a put where nothing may be replaces a broken object, also an archived one`(
        damage: Damage, storageClass: StorageClass
    ) async throws {
        let store = makeStore()
        try await put(bytes, in: store, storageClass)
        try harm(damage)
        try await put(bytes, in: store)
        #expect(try await store.head(key)?.sha256 == ContentDigest(of: bytes).sha256)
        #expect(try await store.bytes(of: key) == bytes)
        #expect(try tree.files(below: "store/objects") == ["users/ana/photos/photo.dat"])
        #expect(try tree.files(below: "store/staging") == [])
        let error = await #expect(throws: StoreError.self) { try await put(bytes, in: store) }
        #expect(error?.code == .alreadyExists)
    }

    @Test(arguments: Damage.allCases)
    func `a copy where nothing may be replaces a broken object`(damage: Damage) async throws {
        let store = makeStore()
        let source = try ObjectKey("source")
        try await store.store(bytes, at: source)
        try await put(bytes, in: store)
        try harm(damage)
        try await store.copy(source, to: key, storageClass: .standard, condition: .ifAbsent)
        #expect(try await store.bytes(of: key) == bytes)
    }

    @Test func `a flipped bit that left size and time as they were is found by a put, which replaces the object`()
        async throws
    {
        let store = makeStore()
        try await put(bytes, in: store)
        try harm(.flipped)
        let modified = try tree.stamp(file).modified
        try edit { $0.replacing(/"contentModified" : \d+/, with: "\"contentModified\" : \(modified)") }
        #expect(try await store.head(key)?.sha256 == ContentDigest(of: bytes).sha256)
        try await put(bytes, in: store)
        #expect(try await store.bytes(of: key) == bytes)
    }

    @Test(arguments: Damage.allCases)
    func `neither a change of class nor a restore is answered for a broken object`(damage: Damage) async throws {
        let store = makeStore()
        try await put(bytes, in: store, .deepArchive)
        try harm(damage)
        var error = await #expect(throws: StoreError.self) {
            _ = try await store.restore(key, RestoreRequest(days: 1, tier: .bulk))
        }
        let isGone = damage == .deleted || damage == .folderDeleted
        #expect(error?.code == (isGone ? .notFound : .badDigest))
        try await put(bytes, in: store)
        try harm(damage)
        error = await #expect(throws: StoreError.self) {
            try await store.copy(key, to: key, storageClass: .deepArchive, condition: .overwrite)
        }
        #expect(error?.code == (isGone ? .notFound : .badDigest))
    }

    @Test(arguments: [true, false])
    func `bytes of another time are read, and known from then on`(isOldRecord: Bool) async throws {
        let store = makeStore()
        try await put(bytes, in: store)
        if isOldRecord {
            try edit { $0.replacing(/"contentModified" : \d+,/, with: "") }
        } else {
            try tree.age(file, bySeconds: 10)
        }
        #expect(try await store.list(prefix: "", after: nil, limit: 1).objects.first?.sha256 == nil)
        #expect(try await makeStore(access: .reads).head(key)?.sha256 == ContentDigest(of: bytes).sha256)
        #expect(try await store.list(prefix: "", after: nil, limit: 1).objects.first?.sha256 == nil)
        #expect(try await store.head(key)?.sha256 == ContentDigest(of: bytes).sha256)
        #expect(
            try await store.list(prefix: "", after: nil, limit: 1).objects.first?.sha256
                == ContentDigest(of: bytes).sha256)
        #expect(try tree.files(below: "store/staging") == [])
    }

    @Test func `with emptied records, a put finds its bytes, and does not keep them twice`() async throws {
        try await put(bytes, in: makeStore())
        try FileManager.default.removeItem(atPath: tree.path("store/records/users").string)
        let store = makeStore()
        #expect(try await store.head(key) == nil)
        try await put(bytes, in: store)
        #expect(try await store.bytes(of: key) == bytes)
        #expect(try tree.files(below: "store/objects") == ["users/ana/photos/photo.dat"])
    }

    @Test(
        arguments: ["objects", "records"])
    func `a folder that was moved to another disk and linked is not gone when that disk is`(name: String) async throws {
        let store = makeStore()
        try await put(bytes, in: store)
        let folder = tree.path("store/\(name)/users").string
        try FileManager.default.moveItem(atPath: folder, toPath: tree.path("elsewhere").string)
        try FileManager.default.createSymbolicLink(atPath: folder, withDestinationPath: tree.path("elsewhere").string)
        #expect(try await store.head(key)?.size == 10_000)
        try FileManager.default.moveItem(atPath: tree.path("elsewhere").string, toPath: tree.path("away").string)
        let error = await #expect(throws: StoreError.self) { _ = try await store.head(key) }
        #expect(error?.code == .storeMissing)
    }

    @Test(arguments: [true, false])
    func `an object whose record makes no sense is replaced by a put, and can be deleted`(isDeleted: Bool) async throws
    {
        let store = makeStore()
        try await put(bytes, in: store)
        try tree.write("{", to: record)
        if isDeleted {
            try await store.delete(key)
            #expect(try tree.files(below: "store/objects") == [])
            #expect(try await store.head(key) == nil)
        } else {
            try await put(bytes, in: store)
            #expect(try await store.bytes(of: key) == bytes)
            #expect(try tree.files(below: "store/objects") == ["users/ana/photos/photo.dat"])
        }
        #expect(try tree.files(below: "store/staging") == [])
    }

    @Test(arguments: [true, false])
    func `one record that cannot be read is told by itself, and the others are listed`(isFolder: Bool) async throws {
        let store = makeStore()
        try await put(bytes, in: store)
        try await store.store([1], at: ObjectKey("users/ana/photos/a.dat"))
        try await store.store([2], at: ObjectKey("users/ana/photos/z.dat"))
        if isFolder {
            // Reading it fails, as on a bad disk.
            try FileManager.default.removeItem(atPath: tree.path(record).string)
            try FileManager.default.createDirectory(
                atPath: tree.path(record).string, withIntermediateDirectories: false)
        } else {
            try tree.write("not JSON", to: record)
        }
        let page = try await store.list(prefix: "users/", after: nil, limit: 1_000)
        #expect(page.objects.map(\.key.lastSegment) == ["a.dat", "z.dat"])
        #expect(page.problems.map(\.key) == [key])
        #expect(page.problems.first?.reason.contains("photo.dat~.json") == true)
        #expect(page.next == nil)
    }

    @Test func `what a cut record says is for good, and not tried again`() async throws {
        let store = makeStore()
        try await put(bytes, in: store, .deepArchive)
        try tree.write("{", to: record)
        let error = await #expect(throws: StoreError.self) {
            _ = try await store.restore(key, RestoreRequest(days: 1, tier: .bulk))
        }
        #expect(error?.code == .badDigest && error?.isOfRecord == true && error?.isTransient == false)
        #expect(error?.message.contains("sync-agent verify") == true)
        // Of what the ledger does not know that finds nothing.
        #expect(error?.message.contains("an earlier version that verify does not name") == true)
        // Bytes that are wrong may have been read wrongly.
        try await store.store(flipped, at: ObjectKey("b"))
        try tree.write(bytes, to: "store/objects/b")
        let other = await #expect(throws: StoreError.self) { _ = try await store.bytes(of: ObjectKey("b")) }
        #expect(other?.code == .badDigest && other?.isTransient == true)
    }

    @Test func `a record as long as a disk is told by itself, and replaced by a put`() async throws {
        let store = makeStore()
        try await put(bytes, in: store)
        try await store.store([1], at: ObjectKey("users/ana/photos/a.dat"))
        let staged = "store/staging/0123456789abcdef.json"
        try tree.write(try tree.read(record), to: staged)
        for name in [record, staged] { #expect(truncate(tree.path(name).string, 1 << 43) == 0) }
        try tree.age(staged, bySeconds: 4_000)
        let page = try await store.list(prefix: "users/", after: nil, limit: 1_000)
        #expect(page.objects.map(\.key.lastSegment) == ["a.dat"] && page.problems.map(\.key) == [key])
        try await store.removeLeftovers()
        #expect(try tree.files(below: "store/staging") == [])
        try await put(bytes, in: store)
        #expect(try await store.bytes(of: key) == bytes)
        #expect(try tree.files(below: "store/objects/users").count == 2)
    }

    @Test func `what would make a record that nobody reads is refused, and nothing is stored`() async throws {
        let store = makeStore()
        let error = await #expect(throws: StoreError.self) {
            _ = try await store.put(
                ObjectBody(bytes: bytes, digest: ContentDigest(of: bytes)), at: key,
                attributes: ObjectAttributes(
                    contentType: "image/jpeg", metadata: ["title": String(repeating: "x", count: 70_000)]),
                condition: .ifAbsent)
        }
        #expect(error?.code == .tooLarge)
        #expect(try await store.head(key) == nil)
        #expect(try tree.files(below: "store/objects") == [] && tree.files(below: "store/staging") == [])
    }

    @Test func `a source that cannot be read now is not refused for good`() async throws {
        let store = makeStore()
        try FileManager.default.createDirectory(
            atPath: tree.path("source").string, withIntermediateDirectories: false)
        // A folder can be opened, and not be read.
        let body = ObjectBody(
            file: tree.path("source"), stamp: try tree.stamp("source"), digest: ContentDigest(of: bytes))
        let error = await #expect(throws: StoreError.self) {
            _ = try await store.put(
                body, at: key, attributes: ObjectAttributes(contentType: "image/heic"), condition: .ifAbsent)
        }
        #expect(error?.code == .sourceUnreadable)
        #expect(error?.isTransient == true)
        #expect(error?.concernsWholeStore == false)
        #expect(error?.message.contains(tree.path("source").string) == true)
        #expect(try tree.files(below: "store/staging") == [])
    }
}
