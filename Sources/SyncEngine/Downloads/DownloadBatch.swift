import FoundationEssentials
import SyncCore
import SyncSystem
import SystemPackage

/// Downloads many objects, a few at once. One that fails does not stop the others, unless they would all meet the same.
package struct DownloadBatch: Sendable {
    package typealias Outcome = Result<DownloadOutcome, any Error>

    private let download: ObjectDownload
    private let width: Int

    /// - Parameter width: how many at once.
    package init(_ download: ObjectDownload, width: Int = 3) {
        self.download = download
        self.width = width
    }

    /// - Parameters:
    ///   - progress: which task, by its index, and how many of its bytes are here; on any thread.
    ///   - finished: each task's outcome as soon as it is known, one after the other.
    ///   - placing: which task's file gets its name next, as ``ObjectDownload/run(_:progress:placing:)`` tells.
    /// - Returns: one for each task, in their order. What was not begun has the error that ended the batch: the store's or
    ///   the disk's, or `CancellationError`.
    package func run(
        _ tasks: [DownloadTask], progress: @escaping @Sendable (Int, Int64) -> Void = { _, _ in },
        finished: (Int, Outcome) async -> Void = { _, _ in },
        placing: @escaping @Sendable (Int) async throws -> Void = { _ in }
    ) async -> [Outcome] {
        var outcomes: [Outcome?] = Array(repeating: nil, count: tasks.count)
        var obstacle: (any Error)?
        await withTaskGroup(of: (Int, Outcome).self) { group in
            var rest = tasks.indices.makeIterator()
            func beginNext() {
                guard obstacle == nil, !Task.isCancelled, let index = rest.next() else { return }
                group.addTask {
                    let outcome = await Result {
                        try await download.run(
                            tasks[index], progress: { progress(index, $0) }, placing: { try await placing(index) })
                    }
                    return (index, outcome)
                }
            }
            for _ in 0..<width { beginNext() }
            while let (index, outcome) = await group.next() {
                outcomes[index] = outcome
                if case .failure(let error) = outcome, Self.concernsAll(error) { obstacle = obstacle ?? error }
                await finished(index, outcome)
                beginNext()
            }
        }
        return outcomes.map { $0 ?? .failure(obstacle ?? CancellationError()) }
    }

    /// Seconds after which nobody is expected to go on from a part any more.
    private static let partLife: TimeInterval = 7 * 86_400

    /// As ``tidy(_:isComplete:_:now:)``, by what has become of all tasks.
    static func tidy(_ folder: FilePath, after outcomes: [Outcome], _ pool: BlockingPool, now: Date) async {
        let isComplete = outcomes.allSatisfy { if case .success = $0 { true } else { false } }
        await tidy(folder, isComplete: isComplete, pool, now: now)
    }

    /// Removes what earlier runs left in a folder, once all that was asked for is there. As long as something is not, a
    /// part may be what the next run goes on from; but not for ever: that run may ask for something else.
    static func tidy(_ folder: FilePath, isComplete: Bool, _ pool: BlockingPool, now: Date) async {
        let end = now.timeIntervalSince1970 - partLife
        let idleSince: Int64? = isComplete ? nil : Int64(end) * 1_000_000_000
        // What cannot be removed harms nobody.
        await pool.finish { try? NewFile.discardAll(in: folder, idleSince: idleSince) }
    }

    /// Whether the next download would meet the same.
    static func concernsAll(_ error: any Error) -> Bool {
        switch error {
        case let error as StoreError: error.concernsWholeStore
        case let error as DownloadError: error.concernsAll
        case let error as FolderError: error.concernsAll
        default: false
        }
    }
}
