import FoundationEssentials
import Glibc
import SyncCore
import SyncDigest
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncLocalStore

@Suite
struct LocalStoreSyncTests {
    /// What a store syncs, in order; the n-th sync of a folder fails as a disk's.
    private final class Syncs: Sendable {
        private let state: Lock<(failing: Int?, folders: [FilePath])>

        init(failing: Int? = nil) { state = Lock((failing, [])) }

        var folders: [FilePath] { state.withLock { $0.folders } }

        func forget() { state.withLock { $0 = (nil, []) } }

        /// The next sync of this folder fails, and no other one.
        func fail(_ number: Int) { state.withLock { $0 = (number, []) } }

        func note(_ step: LocalStoreStep) throws {
            guard case .syncing(let folder) = step else { return }
            let fails = state.withLock { state in
                state.folders.append(folder)
                return state.folders.count == state.failing
            }
            if fails { throw FileError(call: "fsync", path: folder, errno: .ioError) }
        }
    }

    private let tree: TemporaryTree
    private let key: ObjectKey
    private let bytes = [UInt8].noise(10_000)

    init() throws {
        tree = try TemporaryTree()
        key = try ObjectKey("users/ana/photos/photo.dat")
    }

    private func store(_ syncs: Syncs) -> LocalStore {
        LocalStore(
            root: tree.path("store"), now: { Date() }, restoreDuration: .seconds(5), onStep: { try syncs.note($0) })
    }

    private func put(_ bytes: [UInt8], in store: LocalStore, _ condition: PutCondition = .ifAbsent) async throws {
        _ = try await store.put(
            ObjectBody(bytes: bytes, digest: ContentDigest(of: bytes)), at: key,
            attributes: ObjectAttributes(contentType: "image/jpeg"), condition: condition)
    }

    private var records: FilePath { tree.path("store/records/users/ana/photos") }

    @Test(
        arguments: 1...12)
    func `whichever sync fails, no record is left without its bytes, and a retry syncs again what failed`(number: Int)
        async throws
    {
        let syncs = Syncs(failing: number)
        let store = store(syncs)
        let isStored: Bool
        do {
            try await put(bytes, in: store)
            isStored = true
        } catch let error as StoreError {
            #expect(error.code == .serverFailed)
            isStored = false
        }
        let all = syncs.folders
        try #require(isStored == (all.count < number))
        for record in (try? tree.files(below: "store/records")) ?? [] {
            let name = record.replacing("~.json", with: "")
            #expect(try tree.read("store/objects/\(name)") == bytes)
        }
        if isStored { return }
        let failed = try #require(all.last)
        syncs.forget()
        do {
            try await put(bytes, in: store)
        } catch let error as StoreError {
            #expect(error.code == .alreadyExists)
        }
        #expect(syncs.folders.contains(failed), "\(failed) was not synced again")
        #expect(try await store.head(key)?.sha256 == ContentDigest(of: bytes).sha256)
        #expect(try await store.bytes(of: key) == bytes)
        #expect(try tree.files(below: "store/staging") == [])
    }

    /// A store in which the put of `key` has failed behind its commit.
    private func owing() async throws {
        let syncs = Syncs()
        let first = store(syncs)
        try await first.store([1], at: ObjectKey("users/ana/photos/other.dat"))
        syncs.fail(2)
        await #expect(throws: StoreError.self) { try await put(bytes, in: first) }
        try #require(syncs.folders.last == records, "the second sync is that of the record's folder")
    }

    @Test(arguments: [true, false])
    func `another process syncs the folder before it says that the object is there`(byPut: Bool) async throws {
        try await owing()
        let syncs = Syncs()
        let second = store(syncs)
        if byPut {
            let error = await #expect(throws: StoreError.self) { try await put(bytes, in: second) }
            #expect(error?.code == .alreadyExists)
        } else {
            #expect(try await second.head(key) != nil)
        }
        #expect(syncs.folders.contains(records))
        #expect(syncs.folders.contains(tree.path("store/objects/users/ana/photos")))
        #expect(try await second.bytes(of: key) == bytes)
        #expect(try tree.files(below: "store/staging") == [])
    }

    @Test func `as long as the sync fails, nobody is told that the object is stored`() async throws {
        try await owing()
        let syncs = Syncs()
        let second = store(syncs)
        try await second.check()
        // Tidying at the start made up for it; so owe once more.
        #expect(try await second.head(key) != nil)
        syncs.fail(2)
        await #expect(throws: StoreError.self) { try await put([7, 7], in: second, .overwrite) }
        for _ in 0..<2 {
            syncs.fail(1)
            await #expect(throws: StoreError.self) { _ = try await second.head(key) }
        }
        #expect(try await second.head(key)?.size == 2)
        #expect(try await second.bytes(of: key) == [7, 7])
        // Both versions and the other photo; the old one goes with the next sweep.
        #expect(try tree.files(below: "store/objects/users/ana/photos").count == 3)
    }

    @Test func `a process that is killed between rename and sync leaves a note, and the next one syncs`() async throws {
        let live = tree.path("live").string
        let crashed = tree.path("store").string
        let folder = tree.path("live/records/users/ana/photos")
        let record = tree.path("live/records/users/ana/photos/photo.dat~.json").string
        let first = LocalStore(
            root: tree.path("live"), now: { Date() }, restoreDuration: .seconds(5),
            onStep: { step in
                guard step == .syncing(folder), FileManager.default.fileExists(atPath: record) else { return }
                try FileManager.default.copyItem(atPath: live, toPath: crashed)
            })
        try await put(bytes, in: first)
        #expect(try tree.files(below: "store/staging").count == 1)
        let syncs = Syncs()
        let second = store(syncs)
        #expect(try await second.head(key)?.size == 10_000)
        #expect(syncs.folders.contains(records))
        #expect(try tree.files(below: "store/staging") == [])
    }

    @Test func `a version that is replaced keeps its bytes until the new one is on the disk`() async throws {
        let syncs = Syncs()
        let store = store(syncs)
        try await put(bytes, in: store)
        syncs.fail(2)
        await #expect(throws: StoreError.self) { try await put([1, 2, 3], in: store, .overwrite) }
        try #require(syncs.folders.last == records)
        // Whichever record a power failure leaves, its bytes are there.
        #expect(try tree.read("store/objects/users/ana/photos/photo.dat") == bytes)
        #expect(try await store.bytes(of: key) == [1, 2, 3])
        // And when the hour is over, there is one file again.
        let later = LocalStore(
            root: tree.path("store"), now: { Date().addingTimeInterval(7_200) }, restoreDuration: .seconds(5))
        try await later.removeLeftovers()
        #expect(try await later.bytes(of: key) == [1, 2, 3])
        #expect(try tree.files(below: "store/objects").count == 1)
        #expect(try tree.files(below: "store/staging") == [])
    }

    @Test func `a new version keeps both of its names until it is on the disk which of them counts`() async throws {
        let syncs = Syncs()
        let store = store(syncs)
        try await put(bytes, in: store)
        syncs.fail(4)
        try await put([1, 2, 3], in: store, .overwrite)
        try #require(syncs.folders.count == 4 && syncs.folders.last == records, "the one behind the change of names")
        // Whichever record a power failure leaves, its bytes are there.
        let names = try tree.files(below: "store/objects/users/ana/photos")
        #expect(names.count == 2 && names.contains("photo.dat"))
        for name in names { #expect(try tree.read("store/objects/users/ana/photos/\(name)") == [1, 2, 3]) }
        #expect(try await store.bytes(of: key) == [1, 2, 3])
        let later = LocalStore(
            root: tree.path("store"), now: { Date().addingTimeInterval(7_200) }, restoreDuration: .seconds(5))
        try await later.removeLeftovers()
        #expect(try await later.bytes(of: key) == [1, 2, 3])
        #expect(try tree.files(below: "store/objects") == ["users/ana/photos/photo.dat"])
        #expect(try tree.files(below: "store/staging") == [])
    }

    @Test func `a folder whose name could not be synced is synced by the next put into it, whoever makes it`()
        async throws
    {
        let syncs = Syncs()
        let first = store(syncs)
        try await first.check()
        syncs.fail(3)
        await #expect(throws: StoreError.self) { try await put(bytes, in: first) }
        let failed = try #require(syncs.folders.last)
        let others = Syncs()
        try await store(others).store([1], at: ObjectKey("users/ana/photos/other.dat"))
        #expect(others.folders.contains(failed))
        syncs.fail(0)
        try await first.store([2], at: ObjectKey("users/ana/photos/third.dat"))
        #expect(syncs.folders.contains(failed))
    }

    @Test func `a folder that was pruned and is made again is synced again: it may have the inode of the one before`()
        async throws
    {
        let syncs = Syncs()
        let store = store(syncs)
        let key = try ObjectKey("trip/photo.dat")
        for _ in 0..<8 {
            syncs.forget()
            try await store.store(bytes, at: key)
            // Where the names of the two folders are.
            #expect(syncs.folders.contains(tree.path("store/objects")))
            #expect(syncs.folders.contains(tree.path("store/records")))
            try await store.delete(key)
        }
    }

    @Test func `where another process prunes folders that are about to be synced, the one above is synced`()
        async throws
    {
        let syncs = Syncs()
        let records = records
        let tree = tree
        let store = LocalStore(
            root: tree.path("store"), now: { Date() }, restoreDuration: .seconds(5),
            onStep: { step in
                try syncs.note(step)
                guard step == .syncing(records) else { return }
                // As it does: none that holds anything goes.
                for folder in ["users/ana/photos", "users/ana", "users"] {
                    guard rmdir(tree.path("store/records/\(folder)").string) == 0 else { return }
                }
            })
        try await put(bytes, in: store)
        #expect(try await store.head(key)?.size == 10_000)
        syncs.forget()
        try await store.delete(key)
        #expect(syncs.folders.contains(tree.path("store/records")))
        #expect(try await store.head(key) == nil)
        #expect(try tree.files(below: "store/staging") == [])
        #expect(try tree.files(below: "store/objects") == [])
        try await put(bytes, in: store)
        #expect(try await store.bytes(of: key) == bytes)
    }

    @Test func `where another process prunes the folders whose names a delete syncs, the one above is synced`()
        async throws
    {
        try await put(bytes, in: store(Syncs()))
        let syncs = Syncs()
        let tree = tree
        let (top, users) = (tree.path("store/records"), tree.path("store/records/users"))
        let second = LocalStore(
            root: tree.path("store"), now: { Date() }, restoreDuration: .seconds(5),
            onStep: { step in
                try syncs.note(step)
                guard step == .syncing(users) else { return }
                for folder in ["users/ana/photos", "users/ana", "users"] {
                    guard rmdir(tree.path("store/records/\(folder)").string) == 0 else { return }
                }
            })
        try await second.delete(key)
        #expect(syncs.folders.contains(users))
        #expect(syncs.folders.filter { [top, users].contains($0) } == [top, users, users, top])
        #expect(try await second.head(key) == nil)
        #expect(try tree.files(below: "store/objects") == [])
        #expect(try tree.files(below: "store/staging") == [])
    }

    @Test
    func `a delete whose sync fails is not done, and is made up for before anybody is told that nothing is there`()
        async throws
    {
        let syncs = Syncs()
        let first = store(syncs)
        try await put(bytes, in: first)
        syncs.fail(1)
        await #expect(throws: StoreError.self) { try await first.delete(key) }
        #expect(try tree.read("store/objects/users/ana/photos/photo.dat") == bytes)
        syncs.fail(1)
        await #expect(throws: StoreError.self) { _ = try await first.head(key) }
        try await first.delete(key)
        #expect(try await first.head(key) == nil)
        #expect(try tree.files(below: "store/objects") == [])
        #expect(try tree.files(below: "store/staging") == [])
    }

    @Test
    func `a change of class and a restore that failed behind their commit are synced when they are asked for again`()
        async throws
    {
        let syncs = Syncs()
        let store = store(syncs)
        try await put(bytes, in: store)
        for isRestore in [false, true] {
            syncs.fail(1)
            let change: @Sendable () async throws -> Void = { [key] in
                if isRestore {
                    _ = try await store.restore(key, RestoreRequest(days: 2, tier: .bulk))
                } else {
                    try await store.copy(key, to: key, storageClass: .deepArchive, condition: .overwrite)
                }
            }
            await #expect(throws: StoreError.self) { try await change() }
            syncs.fail(0)
            // The class is so already, and is answered only after the sync.
            if isRestore { try await change() } else { await #expect(throws: StoreError.self) { try await change() } }
            #expect(syncs.folders.contains(records))
            #expect(try await store.head(key)?.storageClass == .deepArchive)
        }
    }
}
