import FoundationEssentials
package import SyncCore
package import SyncSystem
import SystemPackage

/// Downloads objects to files, each whole, proven and durable or not at all.
///
/// Promises:
/// - The destination gets its name in one step, when all bytes are there, have the right SHA-256 and are on the disk.
/// - Nothing is replaced that was not meant to be. A file that has the right bytes is not downloaded again.
/// - A cut connection, a cancelled task and a killed process are gone on from, by range; what is there already is hashed
///   again first. Where nobody knows a digest, parts of two reads are never put together.
/// - Memory: one buffer.
package struct ObjectDownload: Sendable {
    private let store: any ObjectSource
    private let pool: BlockingPool
    private let policy: RetryPolicy
    private let time: TimeSource
    private let calls: DownloadCalls

    var now: Date { time.now() }

    /// - Parameters:
    ///   - pool: for all that waits for the disk but the writing, which happens where the store calls its sinks.
    ///   - policy: for attempts in a row that bring less than 1 MiB.
    package init(
        from store: any ObjectSource, pool: BlockingPool, policy: RetryPolicy = RetryPolicy(maximumAttempts: 5),
        time: TimeSource, calls: DownloadCalls = DownloadCalls()
    ) {
        self.store = store
        self.pool = pool
        self.policy = policy
        self.time = time
        self.calls = calls
    }

    /// - Parameter progress: gets how many of the object's bytes are here, on any thread. It can go back to 0.
    /// - Throws: ``DownloadError``; `StoreError`; `CancellationError`, and a later run goes on from here.
    package func run(
        _ task: DownloadTask, progress: @escaping @Sendable (Int64) -> Void = { _ in }
    ) async throws -> DownloadOutcome {
        do {
            if let outcome = try await look(at: task) { return outcome }
            let part = try await pool.run { [calls] in try PartFile(for: task.destination, calls: calls) }
            return try await save(task, in: part, progress)
        } catch let error as Errno {
            throw DownloadError(error, task.destination)
        }
    }

    private func save(
        _ task: DownloadTask, in part: PartFile, _ progress: @escaping @Sendable (Int64) -> Void
    ) async throws -> DownloadOutcome {
        let fetch = ObjectFetch(
            store: store, pool: pool, policy: policy, time: time, task: task, part: part, progress: progress)
        var proven = task
        let isVerified: Bool
        do {
            let content = try await fetch.run()
            proven.sha256 = content.sha256
            isVerified = content.isVerified
        } catch {
            let isUseless = Self.isPartUseless(after: error)
            // Here, and not when the last thread lets go of it: whoever asked finds what is left, and no more.
            await pool.finish { part.leave(isUseless: isUseless) }
            throw error
        }
        while true {
            let isPlaced = try await pool.run {
                try part.place(modified: task.modified, overwrites: task.overwrites)
            }
            if isPlaced { return .saved(isVerified: isVerified) }
            // Somebody has taken the name meanwhile.
            if let outcome = try await look(at: proven) {
                try await pool.run { try part.remove() }
                return outcome
            }
        }
    }

    /// What has become of a file whose name is taken; `nil` when it is free, or to be replaced.
    private func look(at task: DownloadTask) async throws -> DownloadOutcome? {
        guard try await pool.run({ try FileStatus.find(task.destination) != nil }) else { return nil }
        var info: ObjectInfo?
        if task.sha256 == nil {
            info = try await store.head(task.key)
            if info == nil {
                throw StoreError(
                    .notFound, operation: "get", key: task.key.rawValue, message: "nothing is stored under this key")
            }
        }
        // The photo has another size than its copy.
        let size = task.original == nil ? info?.size : nil
        let digest = try await pool.runChecking { try FileDigest.of(task.destination, size: size, $0) }
        let isThere = digest.map { DownloadProof(expected: task.sha256, info: info).accepts($0) == true } ?? false
        let isOriginal = digest.map { $0.md5 == task.original } ?? false
        if !isThere, !isOriginal, task.overwrites { return nil }
        // Nobody goes on from a part whose file is there: that of a download that was killed between link and unlink, or
        // of one that somebody else has finished.
        try await pool.run { try NewFile.discard(for: task.destination) }
        if isThere { return .alreadyThere }
        return isOriginal ? .originalThere : .kept
    }

    /// A full disk needs the space; an object that is gone does not come back as it was.
    private static func isPartUseless(after error: any Error) -> Bool {
        (error as? DownloadError)?.code == .noSpace || (error as? StoreError)?.code == .notFound
    }
}
