package import SystemPackage

/// Files that have changed and are waited for until they are whole: quiet for the settle time.
///
/// A struct without a clock: the caller tells what time it is, and gets the files whose time has come. A file that is
/// written to again leaves the queue, and comes back when it is closed; so a slow writer is never caught in the middle.
/// One that is not whole is told once, as such, together with those that are met about then.
package struct SettleQueue: Sendable {
    /// How often the settle time goes by before a file that still changes is put into the queue as it is.
    package static let rounds = 5
    /// One round of it at least.
    private static let shortestRound = Duration.milliseconds(500)
    /// For so long files are gathered that are told as not whole: each telling is a write to the disk.
    private static let gathering = Duration.milliseconds(100)

    /// For how long at most a file that still changes is left alone.
    package static func longestWait(settle: Duration) -> Duration { max(settle, shortestRound) * rounds }

    package let settle: Duration
    private var dueByPath: [FilePath: Duration] = [:]
    /// The earliest due time, or earlier (entries that were moved back are not searched for).
    private var earliest: Duration?
    /// Files that are not whole yet, which is to be told.
    private var untold: Set<FilePath> = []
    /// When, of all of them; or earlier.
    private var firstTelling: Duration?
    /// Files that are not whole yet, which was told.
    private var told: Set<FilePath> = []
    /// Files that are being written to, so that no time is known at which they are due.
    private var written: Set<FilePath> = []

    package init(settle: Duration) {
        self.settle = settle
    }

    /// A file was closed or moved in.
    package mutating func note(_ file: FilePath, at now: Duration) {
        insert(file, due: now + settle, at: now)
    }

    /// A file was met that has to be left alone for a while still.
    package mutating func note(_ file: FilePath, after wait: Duration, at now: Duration) {
        insert(file, due: now + wait, at: now)
    }

    /// A file is being written to.
    package mutating func noteWriting(_ file: FilePath, at now: Duration) {
        dueByPath[file] = nil
        written.insert(file)
        meet(file, at: now)
    }

    /// A file is gone, or a folder. What waits of a folder is looked at once more when it is due.
    package mutating func remove(_ path: FilePath) {
        dueByPath[path] = nil
        forget(path)
        // Of the files below a folder, each of which would have been closed or removed to be forgotten. They are few.
        for file in written where file.starts(with: path) { forget(file) }
    }

    /// A file that was told as one that is not whole could not be seen: its folder may be gone.
    package mutating func forgetTelling(of file: FilePath) { forget(file) }

    /// When to look again; `nil` when nothing waits.
    package var nextDue: Duration? { dueByPath.isEmpty ? nil : earliest }

    /// Takes the files that have been quiet for long enough, in the order of their paths.
    package mutating func takeDue(at now: Duration) -> [FilePath] {
        guard let earliest, earliest <= now else { return [] }
        let due = dueByPath.filter { $0.value <= now }.keys.sorted { $0.string < $1.string }
        for file in due {
            dueByPath[file] = nil
            forget(file)
        }
        self.earliest = dueByPath.values.min()
        return due
    }

    /// When to look again, for files that are due and for those to be told as not whole; `nil` when nothing waits.
    package var nextCheck: Duration? {
        [nextDue, untold.isEmpty ? nil : firstTelling].compactMap(\.self).min()
    }

    /// Takes the files that were met and are not whole, in the order of their paths. Each is told once, until it is due
    /// or gone; it stays in the queue.
    package mutating func takeUnfinished(at now: Duration) -> [FilePath] {
        guard let firstTelling, firstTelling <= now else { return [] }
        let files = untold.sorted { $0.string < $1.string }
        told.formUnion(files)
        untold = []
        self.firstTelling = nil
        return files
    }

    private mutating func insert(_ file: FilePath, due: Duration, at now: Duration) {
        dueByPath[file] = due
        written.remove(file)
        earliest = min(earliest ?? due, due)
        meet(file, at: now)
    }

    private mutating func meet(_ file: FilePath, at now: Duration) {
        guard !told.contains(file), untold.insert(file).inserted else { return }
        if untold.count == 1 { firstTelling = now + Self.gathering }
    }

    private mutating func forget(_ file: FilePath) {
        untold.remove(file)
        told.remove(file)
        written.remove(file)
    }
}
