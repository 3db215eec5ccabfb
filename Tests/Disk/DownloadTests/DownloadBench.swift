import FoundationEssentials
import Glibc
import SyncCore
import SyncDigest
import SyncSystem
import SyncTestSupport
import SystemPackage

@testable import SyncEngine

/// An object, a folder, and a clock on which nobody waits.
struct DownloadBench {
    static let part = ".photo.jpg.sync-agent-part"

    let tree: TemporaryTree
    let store: CuttingStore
    let key: ObjectKey
    let bytes: [UInt8]
    let pool = BlockingPool(name: "test", threads: 3)
    private let asked = Lock<[Duration]>([])

    init(
        size: Int = 1_000, cuts: [Int64?] = [], atCut: @escaping @Sendable (Int) async -> Void = { _ in }
    ) async throws {
        tree = try TemporaryTree()
        store = CuttingStore(cuts: cuts, atCut: atCut)
        key = try ObjectKey("users/ana/photos/a.dat")
        bytes = .noise(size)
        try await store.store(bytes, at: key)
    }

    var sleeps: [Duration] { asked.withLock { $0 } }

    var time: TimeSource {
        let asked = asked
        return TimeSource(
            now: { Date() }, monotonic: { .zero },
            sleep: { duration in
                try Task.checkCancellation()
                asked.withLock { $0.append(duration) }
            }, random: { 0.5 })
    }

    func download(calls: DownloadCalls = DownloadCalls()) -> ObjectDownload {
        ObjectDownload(
            store: store, pool: pool, policy: RetryPolicy(maximumAttempts: 3), time: time, calls: calls)
    }

    func task(_ name: FilePath.Component = "photo.jpg", sha256: SHA256Digest? = nil) -> DownloadTask {
        DownloadTask(key: key, folder: tree.root, name: name, sha256: sha256)
    }

    /// Of the object's bytes.
    var sha256: SHA256Digest { SHA256Digest(of: bytes) }

    func mode(_ name: String) throws -> mode_t {
        var status = stat()
        guard lstat(tree.path(name).string, &status) == 0 else { throw Errno(rawValue: errno) }
        return status.st_mode & 0o7777
    }
}
