package import SyncCore
package import SyncLedger
import SyncSystem
package import SystemPackage

/// A look at a new file that says whether anything will be stored of it. What it refuses is skipped in the words of the
/// pipeline, and takes no place in the queue: a claim, a thread and a commit cost many times what the look does.
///
/// It reads the first bytes of a file, and of one with the name of a photo not even these. Where that takes longer than
/// the queue does, because the disk turns or is somewhere else, it looks no further: the pipeline reads with more threads,
/// and holds up nothing that is to be found out about other folders.
package struct FileTriage: Sendable {
    /// What a file costs in the queue, about.
    private static let worth = Duration.microseconds(300)
    /// The first files may come from a disk that has to wake up.
    private static let advance = Duration.milliseconds(50)
    /// How long others wait for looks that came together.
    private static let longest = Duration.seconds(10)

    let scanner: any TreeScanner
    let reducer: any PhotoReducer
    /// Looks at each file, however long that takes.
    var isPatient = false
    let time: TimeSource

    /// - Returns: looks at files that are found together.
    package func begin() -> Batch { Batch(at: self) }

    /// For ``Ledger/observe(_:drive:stillThere:whySkipped:at:)`` of files in these folders.
    func reasons(in folders: [FolderRecord]) -> (SettledFile) -> SkipReason? {
        var batch = begin()
        return { file in
            folders.first { $0.id == file.folder }.flatMap { batch.reason(file.path, file.stamp, in: $0) }
        }
    }

    package struct Batch {
        private let first: FileTriage
        /// What the looks took, and at how many files they were worth it.
        private var spent = Duration.zero
        private var answers = 0

        fileprivate init(at first: FileTriage) { self.first = first }

        /// - Parameters:
        ///   - path: below the folder.
        ///   - stamp: of the file, which is whole by it.
        /// - Returns: `nil` for a file that has to be read, or that is another one by now.
        package mutating func reason(_ path: FilePath, _ stamp: FileStamp, in folder: FolderRecord) -> SkipReason? {
            // Of a project's files its records decide; of a filter, the ledger's at the time of the claim.
            guard folder.kind.isPooled, isWorthIt, folder.filter.exclusion(of: path) == nil else { return nil }
            let start = first.time.monotonic()
            defer { spent += first.time.monotonic() - start }
            let file = folder.path.pushing(path)
            guard let words = first.reducer.whyUnwanted(file, stamp: stamp), !first.scanner.isBeingWritten(file) else {
                return nil
            }
            answers += 1
            return SkipReason(words)
        }

        private var isWorthIt: Bool {
            guard (try? PooledWork.checkCancellation()) != nil else { return false }
            return first.isPatient
                || spent < FileTriage.longest && spent <= FileTriage.advance + FileTriage.worth * answers
        }
    }
}
