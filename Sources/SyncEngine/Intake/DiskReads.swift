import SyncCore
import SyncLedger
import SyncSystem
import SystemPackage

/// The reading of files on threads that all folders share.
///
/// A disk that hangs would take one thread after the other, and none were left for what lies on others. So a thread
/// that gives no sign of life is given up, and its folder is left alone until it comes back: no more of them hang at a
/// disk than were at it when it began to. One that is slow, and answers, keeps its threads: what waits for it is read
/// beside it (``foldersBesideSlow``).
final class DiskReads: Sendable {
    private struct Read {
        let folder: FolderRecord
        /// When it was handed in.
        let since: Duration
        /// Whether nobody waits for it any more.
        var isHeld = false
    }

    private struct State {
        var lastRead = 0
        /// By their numbers, those that have a thread.
        var reads: [Int: Read] = [:]
    }

    private let state = Mutex(State())
    private let time: TimeSource
    /// Signalled when it is time to see whether one is slow.
    let checked = Wakeup()

    init(time: TimeSource) {
        self.time = time
    }

    /// The folders whose disks hold threads.
    var held: [FolderRecord] {
        state.withLock { state in state.reads.values.filter(\.isHeld).map(\.folder) }
    }

    /// The folders of which files are read now; `nil` while none of them has been at one for ``DiskLooks/turn``.
    var foldersBesideSlow: Set<FolderID>? {
        let now = time.monotonic()
        return state.withLock { state -> Set<FolderID>? in
            let reads = state.reads.values.filter { !$0.isHeld }
            guard reads.contains(where: { now - $0.since >= DiskLooks.turn }) else { return nil }
            return Set(reads.map(\.folder.id))
        }
    }

    /// - Parameters:
    ///   - folder: in which the files are.
    ///   - onReturn: called when a thread that was given up is back.
    /// - Throws: what `body` throws; ``DiskSilence``; `CancellationError`.
    func run<Value: Sendable>(
        in folder: FolderRecord, on pool: BlockingPool, onReturn: @escaping @Sendable () -> Void,
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try check(folder)
        let since = time.monotonic()
        let number = state.withLock { state in
            state.lastRead += 1
            return state.lastRead
        }
        let onSilence: @Sendable () -> Void = { [state] in state.withLock { $0.reads[number]?.isHeld = true } }
        do {
            return try await pool.run(givingUpAfter: SignOfLife.patience, onSilence: onSilence) { [self] in
                // It may have waited for a thread until now, which was given up.
                try check(folder)
                state.withLock { $0.reads[number] = Read(folder: folder, since: since) }
                defer {
                    let read = state.withLock { $0.reads.removeValue(forKey: number) }
                    if read?.isHeld == true { onReturn() }
                }
                return try body()
            }
        } catch is NoSignOfLife {
            throw DiskSilence(folder: folder)
        }
    }

    private func check(_ folder: FolderRecord) throws {
        if held.contains(where: { $0.id == folder.id }) { throw DiskSilence(folder: folder) }
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
