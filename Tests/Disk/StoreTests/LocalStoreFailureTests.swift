import FoundationEssentials
import SyncCore
import SyncTestSupport
import Synchronization
import SystemPackage
import Testing

@testable import SyncLocalStore

@Suite("LocalStore when the disk fails")
struct LocalStoreFailureTests {
    private let tree: TemporaryTree

    init() throws {
        tree = try TemporaryTree()
    }

    @Test(
        "A full disk is told with the path and what to do, and nothing half-written stays",
        arguments: [LocalStoreStep.writing, .staged, .recorded, .placed])
    func fullDisk(step: LocalStoreStep) async throws {
        let path = tree.path("store/staging/some.data")
        let store = LocalStore(
            root: tree.path("store"), now: { Date() },
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

    @Test("A put that is cancelled in the middle of a file stops there and leaves nothing")
    func cancelledInTheMiddle() async throws {
        try tree.write(.noise(4 << 20), to: "video.mp4")
        let body = try tree.body("video.mp4")
        let pieces = Mutex(0)
        let putting = Mutex<UnsafeCurrentTask?>(nil)
        let store = LocalStore(
            root: tree.path("store"), now: { Date() },
            onStep: { step in
                guard step == .writing, pieces.withLock({ $0 += 1; return $0 == 3 }) else { return }
                putting.withLock { $0?.cancel() }
            })
        let key = try ObjectKey("video.mp4")
        await #expect(throws: CancellationError.self) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    withUnsafeCurrentTask { task in putting.withLock { $0 = task } }
                    _ = try await store.put(
                        body, at: key, attributes: ObjectAttributes(contentType: "video/mp4"), condition: .ifAbsent)
                }
                try await group.waitForAll()
            }
        }
        #expect(pieces.withLock { $0 } == 3)
        #expect(try await store.head(key) == nil)
        #expect(try tree.files(below: "store/staging") == [])
    }

    @Test("A file that changes while it is read is refused")
    func sourceChangesMeanwhile() async throws {
        try tree.write(.noise(1 << 20), to: "photo.jpg")
        let body = try tree.body("photo.jpg")
        let tree = tree
        for (name, change) in [
            ("cut", { @Sendable () throws -> Void in try tree.write(.noise(300_000), to: "photo.jpg") }),
            ("grown", { @Sendable () throws -> Void in try tree.write(.noise(2 << 20), to: "photo.jpg") }),
        ] {
            try tree.write(.noise(1 << 20), to: "photo.jpg")
            let isArmed = Mutex(true)
            let store = LocalStore(
                root: tree.path(name), now: { Date() },
                onStep: { step in
                    guard step == .writing, isArmed.withLock({ armed in defer { armed = false }; return armed }) else {
                        return
                    }
                    try change()
                })
            let fresh = ObjectBody(file: tree.path("photo.jpg"), stamp: try tree.stamp("photo.jpg"), digest: body.digest)
            let error = await #expect(throws: StoreError.self) {
                _ = try await store.put(
                    fresh, at: ObjectKey("p"), attributes: ObjectAttributes(contentType: "image/jpeg"),
                    condition: .ifAbsent)
            }
            #expect(error?.code == .sourceChanged || error?.code == .badDigest, "\(name)")
            #expect(try tree.files(below: "\(name)/objects") == [])
            #expect(try tree.files(below: "\(name)/staging") == [])
        }
    }

    @Test(
        "Every errno has its code",
        arguments: [
            (.noSpace, .noSpace), (.diskQuotaExceeded, .noSpace), (.permissionDenied, .accessDenied),
            (.notPermitted, .accessDenied), (.readOnlyFileSystem, .accessDenied), (.fileNameTooLong, .invalidRequest),
            (.noSuchFileOrDirectory, .storeMissing), (.fileTooLarge, .tooLarge), (.ioError, .serverFailed),
            (.tooManyOpenFiles, .serverFailed), (.staleNFSFileHandle, .serverFailed),
        ] as [(Errno, StoreError.Code)])
    func codes(errno: Errno, code: StoreError.Code) {
        let error = StoreError(
            FileError(call: "write", path: "/disk/store/objects/a", errno: errno), operation: "put", key: "a")
        #expect(error.code == code)
        #expect(error.description.hasPrefix("put a: /disk/store/objects/a: "))
        #expect(error.detail == "write: errno \(errno.rawValue)")
    }
}
