import Foundation
import SyncCore
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncLocalStore

@Suite
struct LocalStoreFailureTests {
    private let tree: TemporaryTree

    init() throws {
        tree = try TemporaryTree()
    }

    @Test(
        arguments: [LocalStoreStep.writing, .staged, .recorded, .placed])
    func `a full disk is told with the path and what to do, and nothing half-written stays`(step: LocalStoreStep)
        async throws
    {
        let path = tree.path("store/staging/some.data")
        let store = LocalStore(
            root: tree.path("store"), now: { Date() }, restoreDuration: .seconds(5),
            onStep: { if $0 == step { throw FileError(call: "write", path: path, errno: .noSpace) } })
        let key = try ObjectKey("users/ana/photos/photo.dat")
        let error = await #expect(throws: StoreError.self) { try await store.store(.noise(1_000_000), at: key) }
        #expect(error?.code == .noSpace)
        #expect(error?.concernsWholeStore == true)
        #expect(error?.key == key.rawValue)
        #expect(error?.message.contains(path.string) == true)
        #expect(error?.message.contains("free some space") == true)
        #expect(try await store.head(key) == nil)
        #expect(try tree.files(below: "store/objects") == [])
        #expect(try tree.files(below: "store/staging") == [])
        #expect(try tree.files(below: "store/records") == [])
    }

    @Test func `a disk that is full while a file is copied is the trouble of the store, and not of the file`()
        async throws
    {
        try tree.write(.noise(1_000_000), to: "photo.jpg")
        let body = try tree.body("photo.jpg")
        let path = tree.path("store/staging/some.data")
        let store = LocalStore(
            root: tree.path("store"), now: { Date() }, restoreDuration: .seconds(5),
            onStep: { if $0 == .writing { throw FileError(call: "write", path: path, errno: .noSpace) } })
        let error = await #expect(throws: StoreError.self) {
            _ = try await store.put(
                body, at: ObjectKey("p"), attributes: ObjectAttributes(contentType: "image/jpeg"), condition: .ifAbsent)
        }
        #expect(error?.code == .noSpace)
        #expect(error?.message.contains(path.string) == true)
        #expect(try tree.files(below: "store/staging") == [])
    }

    @Test(arguments: ["objects", "records", "staging", "locks"])
    func `a store of which a folder is gone is told before anything is put into it`(folder: String) async throws {
        let store = LocalStore(root: tree.path("store"), now: { Date() }, restoreDuration: .seconds(5))
        try await store.check()
        try FileManager.default.moveItem(
            atPath: tree.path("store/\(folder)").string, toPath: tree.path("aside").string)
        let error = await #expect(throws: StoreError.self) { try await store.check() }
        #expect(error?.code == .storeMissing)
        #expect(error?.message.contains("store/\(folder)") == true)
        try FileManager.default.moveItem(
            atPath: tree.path("aside").string, toPath: tree.path("store/\(folder)").string)
        try await store.check()
    }

    @Test func `a put that is cancelled in the middle of a file stops there and leaves nothing`() async throws {
        try tree.write(.noise(4 << 20), to: "video.mp4")
        let body = try tree.body("video.mp4")
        let third = Countdown(3)
        let (reached, signal) = AsyncStream<Void>.makeStream()
        // The store's thread waits here until the put is cancelled.
        let barrier = try FileDescriptor.pipe()
        let store = LocalStore(
            root: tree.path("store"), now: { Date() }, restoreDuration: .seconds(5),
            onStep: { step in
                guard step == .writing, third.fires() else { return }
                signal.finish()
                try withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { _ = try barrier.readEnd.read(into: $0) }
            })
        let key = try ObjectKey("video.mp4")
        await #expect(throws: CancellationError.self) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    _ = try await store.put(
                        body, at: key, attributes: ObjectAttributes(contentType: "video/mp4"), condition: .ifAbsent)
                }
                for await _ in reached {}
                group.cancelAll()
                try barrier.writeEnd.writeAll([1])
                try await group.waitForAll()
            }
        }
        try barrier.readEnd.close()
        try barrier.writeEnd.close()
        #expect(third.count == 3)
        #expect(try await store.head(key) == nil)
        #expect(try tree.files(below: "store/staging") == [])
    }

    @Test(arguments: [true, false])
    func `where something is stored already, nothing is copied before that is told`(isCopy: Bool) async throws {
        let pieces = Countdown()
        let store = LocalStore(
            root: tree.path("store"), now: { Date() }, restoreDuration: .seconds(5),
            onStep: { if $0 == .writing { _ = pieces.fires() } })
        let (key, source) = (try ObjectKey("video.mp4"), try ObjectKey("source.mp4"))
        for key in [key, source] { try await store.store(.noise(1_000), at: key) }
        let before = pieces.count
        try tree.write(.noise(1_000), to: "video.mp4")
        let body = try tree.body("video.mp4")
        let error = await #expect(throws: StoreError.self) {
            if isCopy {
                try await store.copy(source, to: key, storageClass: .standard, condition: .ifAbsent)
            } else {
                _ = try await store.put(
                    body, at: key, attributes: ObjectAttributes(contentType: "video/mp4"), condition: .ifAbsent)
            }
        }
        #expect(error?.code == .alreadyExists)
        #expect(before > 0 && pieces.count == before)
        #expect(try tree.files(below: "store/staging") == [])
    }

    @Test(arguments: [300_000, 2 << 20])
    func `a file that changes while it is read is refused`(newSize: Int) async throws {
        try tree.write(.noise(1 << 20), to: "photo.jpg")
        let body = try tree.body("photo.jpg")
        let first = Countdown()
        let path = tree.path("photo.jpg")
        let store = LocalStore(
            root: tree.path("store"), now: { Date() }, restoreDuration: .seconds(5),
            onStep: { step in
                guard step == .writing, first.fires() else { return }
                // In place: the file that is open changes.
                let file = try FileDescriptor.open(path, .writeOnly)
                defer { try? file.close() }
                try file.resize(to: Int64(newSize))
            })
        let error = await #expect(throws: StoreError.self) {
            _ = try await store.put(
                body, at: ObjectKey("p"), attributes: ObjectAttributes(contentType: "image/jpeg"), condition: .ifAbsent)
        }
        #expect(error?.code == .sourceChanged)
        #expect(try tree.files(below: "store/objects") == [])
        #expect(try tree.files(below: "store/staging") == [])
    }

    @Test(
        arguments: [
            (.noSpace, .noSpace), (.diskQuotaExceeded, .noSpace), (.permissionDenied, .accessDenied),
            (.notPermitted, .accessDenied), (.readOnlyFileSystem, .accessDenied), (.fileNameTooLong, .invalidRequest),
            (.noSuchFileOrDirectory, .storeMissing), (.fileTooLarge, .tooLarge), (.ioError, .serverFailed),
            (.tooManyOpenFiles, .serverFailed), (.staleNFSFileHandle, .serverFailed),
        ] as [(Errno, StoreError.Code)])
    func `every errno has its code`(errno: Errno, code: StoreError.Code) {
        let error = StoreError(
            FileError(call: "write", path: "/disk/store/objects/a", errno: errno), operation: "put", key: "a")
        #expect(error.code == code)
        #expect(error.description.hasPrefix("put a: /disk/store/objects/a: "))
        #expect(error.detail == "write: \(errno.description.lowercased())")
    }

    @Test func `an object whose bytes cannot be removed is not deleted, and the next delete ends it`() async throws {
        let store = LocalStore(root: tree.path("store"), now: { Date() }, restoreDuration: .seconds(5))
        let key = try ObjectKey("shares/trip/photo.jpg")
        try await store.store([1, 2, 3], at: key)
        // A folder takes no unlink(2).
        let content = tree.path("store/objects/\(key.rawValue)")
        try FileManager.default.moveItem(atPath: content.string, toPath: tree.path("aside").string)
        try tree.write([1], to: "store/objects/\(key.rawValue)/file")
        for _ in 0..<2 { await #expect(throws: StoreError.self) { try await store.delete(key) } }
        // To readers it is gone.
        #expect(try await store.head(key) == nil)
        try FileManager.default.removeItem(atPath: content.string)
        try FileManager.default.moveItem(atPath: tree.path("aside").string, toPath: content.string)
        try await store.delete(key)
        #expect(try tree.files(below: "store/objects") == [])
        #expect(try tree.files(below: "store/staging") == [])
    }

    @Test func `an object whose bytes are held stays one until they are free, however often it is to be deleted`()
        async throws
    {
        let store = LocalStore(root: tree.path("store"), now: { Date() }, restoreDuration: .seconds(5))
        let key = try ObjectKey("shares/trip/photo.jpg")
        try await store.store([1, 2, 3], at: key)
        let content = tree.path("store/objects/\(key.rawValue)")
        let folder = content.removingLastComponent()
        // What its folder forbids to others is allowed to root.
        let isRoot = geteuid() == 0
        let isHeld = isRoot ? FileFlag.immutable.set(true, on: content) : chmod(folder.string, 0o555) == 0
        func release() {
            if isRoot { FileFlag.immutable.set(false, on: content) } else { chmod(folder.string, 0o755) }
        }
        defer { release() }
        for _ in 0..<2 where isHeld {
            await #expect(throws: StoreError.self) { try await store.delete(key) }
            #expect(try await store.head(key)?.size == 3)
            #expect(try await store.list(prefix: "shares/", after: nil, limit: 10).objects.map(\.key) == [key])
            #expect(try tree.files(below: "store/staging") == [])
        }
        release()
        try await store.delete(key)
        #expect(try await store.head(key) == nil)
        #expect(try tree.files(below: "store/objects") == [])
        #expect(try tree.files(below: "store/records") == [])
    }

    @Test func `of a link that leads in a circle it is told what helps, and that is no other disk`() async throws {
        let store = LocalStore(root: tree.path("store"), now: { Date() }, restoreDuration: .seconds(5))
        let key = try ObjectKey("users/ana/photos/photo.dat")
        try await store.store([1, 2, 3], at: key)
        let record = tree.path("store/records/users/ana/photos/photo.dat~.json")
        try FileManager.default.removeItem(atPath: record.string)
        try FileManager.default.createSymbolicLink(atPath: record.string, withDestinationPath: record.string)
        let problem = try #require(try await store.list(prefix: "users/", after: nil, limit: 10).problems.first)
        #expect(problem.key == key && problem.error.code == .serverFailed)
        #expect(problem.reason.contains(record.string) && problem.reason.hasSuffix("move it away"), "\(problem)")
        #expect(problem.reason.contains("leads in a circle") && !problem.reason.contains(" disk"), "\(problem)")
    }

    @Test func `a folder that cannot be looked at is not taken for an empty one`() async throws {
        let store = LocalStore(root: tree.path("store"), now: { Date() }, restoreDuration: .seconds(5))
        let key = try ObjectKey("shares/trip/photo.jpg")
        try await store.store([1, 2, 3], at: key)
        // A link to itself: stat(2) answers with ELOOP.
        for folder in ["records", "objects"] {
            let trip = tree.path("store/\(folder)/shares/trip")
            try FileManager.default.moveItem(atPath: trip.string, toPath: tree.path("\(folder)-aside").string)
            try FileManager.default.createSymbolicLink(atPath: trip.string, withDestinationPath: trip.string)
        }
        await #expect(throws: StoreError.self) { _ = try await store.list(prefix: "shares/", after: nil, limit: 10) }
        await #expect(throws: StoreError.self) { try await store.store([4], at: ObjectKey("shares/trip/other.jpg")) }
        for folder in ["records", "objects"] {
            let trip = tree.path("store/\(folder)/shares/trip")
            try FileManager.default.removeItem(atPath: trip.string)
            try FileManager.default.moveItem(atPath: tree.path("\(folder)-aside").string, toPath: trip.string)
        }
        try await store.delete(key)
        #expect(try tree.files(below: "store/objects") == [])
    }
}
