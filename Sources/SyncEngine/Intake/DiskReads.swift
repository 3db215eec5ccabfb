import SyncCore
import SyncLedger
import SyncSystem
import SystemPackage

/// The reading of files on threads that all folders share: a folder whose disk holds one is left alone until it is back
/// (``DiskThreads``). A disk that is slow, and answers, keeps its threads: what waits for it is read beside it
/// (``foldersBesideSlow``).
final class DiskReads: Sendable {
    private let threads: DiskThreads<FolderRecord>
    /// Signalled when it is time to see whether one is slow.
    let checked = Wakeup()

    init(time: TimeSource) {
        threads = DiskThreads(monotonic: time.monotonic)
    }

    /// The folders whose disks hold threads.
    var held: [FolderRecord] { threads.held }

    /// The folders of which files are read now; `nil` while none of them has been at one for ``DiskWatchdog/turn``.
    var foldersBesideSlow: Set<FolderID>? {
        threads.disksBesideSlow(for: DiskWatchdog.turn).map { Set($0.map(\.id)) }
    }

    /// - Parameters:
    ///   - folder: in which the files are.
    ///   - onReturn: called when a thread that was given up is back.
    /// - Throws: what `body` throws; ``DiskSilence``; `CancellationError`.
    func run<Value: Sendable>(
        in folder: FolderRecord, on pool: BlockingPool, onReturn: @escaping @Sendable () -> Void,
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        do {
            return try await threads.run(at: folder, on: pool, onReturn: onReturn, body)
        } catch is NoSignOfLife {
            throw DiskSilence(folder: folder)
        }
    }
}

/// The disk of a folder does not answer: what is in it is left alone until it does.
struct DiskSilence: Error {
    let folder: FolderRecord

    /// Of a file in it.
    var error: PhotoError {
        let path = folder.path.string.escapingControls
        return PhotoError(
            .unreadable, "the drive, or the server, of \(path) does not answer; the file waits until it does")
    }
}
