import SyncCore
import SyncLedger
import SyncSystem
import SystemPackage

/// The reading of files on threads that all folders share.
///
/// A disk that hangs would take one thread after the other, and none were left for what lies on others. So a thread
/// that gives no sign of life is given up, and its folder is left alone until it comes back: no more of them hang at a
/// disk than were at it when it began to.
final class DiskReads: Sendable {
    private struct Read {
        let folder: FolderRecord
        /// Whether nobody waits for it any more.
        var isHeld = false
    }

    private struct State {
        var lastRead = 0
        /// By their numbers, those that have a thread.
        var reads: [Int: Read] = [:]
    }

    private let state = Mutex(State())

    /// The folders whose disks hold threads.
    var held: [FolderRecord] {
        state.withLock { state in state.reads.values.filter(\.isHeld).map(\.folder) }
    }

    /// - Parameters:
    ///   - folder: in which the files are.
    ///   - onReturn: called when a thread that was given up is back.
    /// - Throws: what `body` throws; `.unreadable` when the folder's disk does not answer; `CancellationError`.
    func run<Value: Sendable>(
        in folder: FolderRecord, on pool: BlockingPool, onReturn: @escaping @Sendable () -> Void,
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try check(folder)
        let number = state.withLock { state in
            state.lastRead += 1
            return state.lastRead
        }
        let onSilence: @Sendable () -> Void = { [state] in state.withLock { $0.reads[number]?.isHeld = true } }
        do {
            return try await pool.run(givingUpAfter: SignOfLife.patience, onSilence: onSilence) { [self] in
                // It may have waited for a thread until now, which was given up.
                try check(folder)
                state.withLock { $0.reads[number] = Read(folder: folder) }
                defer {
                    let read = state.withLock { $0.reads.removeValue(forKey: number) }
                    if read?.isHeld == true { onReturn() }
                }
                return try body()
            }
        } catch is NoSignOfLife {
            throw Self.silence(of: folder)
        }
    }

    private func check(_ folder: FolderRecord) throws {
        if held.contains(where: { $0.id == folder.id }) { throw Self.silence(of: folder) }
    }

    private static func silence(of folder: FolderRecord) -> PhotoError {
        let path = folder.path.string.escapingControls
        return PhotoError(
            .unreadable, "the drive, or the server, of \(path) does not answer; the file waits until it does")
    }
}
