package import SystemPackage

/// Files that have changed and are waited for until they are whole: quiet for the settle time.
///
/// A struct without a clock: the caller tells what time it is, and gets the files whose time has come. A file that is
/// written to again leaves the queue, and comes back when it is closed; so a slow writer is never caught in the middle.
package struct SettleQueue: Sendable {
    package let settle: Duration
    private var dueByPath: [FilePath: Duration] = [:]
    /// The earliest due time, or earlier (entries that were moved back are not searched for).
    private var earliest: Duration?

    package init(settle: Duration) {
        self.settle = settle
    }

    package var isEmpty: Bool { dueByPath.isEmpty }
    package var count: Int { dueByPath.count }

    /// A file was closed or moved in.
    package mutating func note(_ file: FilePath, at now: Duration) {
        insert(file, due: now + settle)
    }

    /// A scan met a file that was modified `age` ago.
    package mutating func note(_ file: FilePath, age: Duration, at now: Duration) {
        insert(file, due: now + max(settle - max(age, .zero), .zero))
    }

    /// A file is being written to, or is gone.
    package mutating func remove(_ file: FilePath) {
        dueByPath[file] = nil
    }

    /// When to look again; `nil` when nothing waits.
    package var nextDue: Duration? { dueByPath.isEmpty ? nil : earliest }

    /// Takes the files that have been quiet for long enough, in the order of their paths.
    package mutating func takeDue(at now: Duration) -> [FilePath] {
        guard let earliest, earliest <= now else { return [] }
        let due = dueByPath.filter { $0.value <= now }.keys.sorted { $0.string < $1.string }
        for file in due { dueByPath[file] = nil }
        self.earliest = dueByPath.values.min()
        return due
    }

    private mutating func insert(_ file: FilePath, due: Duration) {
        dueByPath[file] = due
        earliest = min(earliest ?? due, due)
    }
}
