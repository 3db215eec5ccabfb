package import SystemPackage

/// Something may have changed. A hint is never proof: whoever gets it looks at the disk.
package enum ChangeHint: Hashable, Sendable {
    /// A file was closed after writing, or moved in, or its attributes changed.
    case file(FilePath)
    /// A file is being written to: what was known of it is about to be wrong.
    case writing(FilePath)
    /// A folder whose whole content has to be scanned: new, moved in, or too much happened in it.
    case tree(FilePath)
    /// A file or folder was removed or moved away.
    case gone(FilePath)
}

/// Tells of changes below watched folders.
///
/// Promises: after ``start(_:)`` has returned, every change below a root yields a hint for it or for a folder above it;
/// when the source cannot keep up or the kernel dropped events, that is a `.tree` hint for the root. Hints for the same
/// path are coalesced. Nothing is reported through a symbolic link. Memory is bounded.
package protocol ChangeSource: Sendable {
    /// Begins to watch. Adds a `.tree` hint for each root, so that what happened before is seen too.
    func start(_ roots: [FilePath]) async

    /// Waits for hints and takes all that there are, oldest first; `nil` after ``stop()``. One consumer.
    func next() async -> [ChangeHint]?

    /// How each root is watched at the moment, and what is wrong with it.
    func reports() -> [WatchReport]

    /// Ends watching and wakes the consumer. Its thread is gone when this returns.
    func stop() async
}

/// How one root is watched.
package struct WatchReport: Hashable, Sendable {
    package enum Mode: String, Hashable, Sendable {
        case inotify, polling
    }

    package var root: FilePath
    package var mode: Mode
    /// Why it polls, or what does not work, with the remedy (the sysctl to set); `nil` when all is well.
    package var note: String?
    /// Directories watched, and how often the kernel's queue overflowed.
    package var watches: Int
    package var overflows: Int

    package init(root: FilePath, mode: Mode, note: String? = nil, watches: Int = 0, overflows: Int = 0) {
        self.root = root
        self.mode = mode
        self.note = note
        self.watches = watches
        self.overflows = overflows
    }
}
