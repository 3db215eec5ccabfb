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
    /// Something under one of ``IgnoredNames`` came into a folder, or left it. It says nothing of the folder's files.
    case others(FilePath)

    package var path: FilePath {
        switch self {
        case .file(let path), .writing(let path), .tree(let path), .gone(let path), .others(let path): path
        }
    }
}

/// Tells of changes below watched folders.
///
/// Promises: after ``start(_:)`` has returned, every change below a root yields a hint for it or for a folder above it;
/// when the source cannot keep up or the kernel dropped events, that is a `.tree` hint for the root. Hints for the same
/// path are coalesced. Nothing is reported through a symbolic link. Memory is bounded.
package protocol ChangeSource: Sendable {
    /// Begins to watch. Adds a `.tree` hint for each root, so that what happened before is seen too.
    /// - Parameter untold: what was found out earlier: these roots are polled from the beginning.
    func start(_ roots: [FilePath], untold: [FilePath: UntoldFile]) async

    /// Waits for hints of a root and takes all that there are, oldest first; `nil` after ``stop()``, or when the task is
    /// cancelled: then they stay. One consumer of each root.
    func next(of root: FilePath) async -> [ChangeHint]?

    /// Takes all hints of a root that are there at this moment, oldest first. For its consumer, which does not wait.
    func take(of root: FilePath) -> [ChangeHint]

    /// Hands over files that a scan has found to be new. One that no hint has told of proves that the root's changes are
    /// not all told; from then on it is polled.
    /// - Parameter root: one of those that are watched.
    func judge(_ appeared: [AppearedFile], below root: FilePath)

    /// A folder was scanned with all below it, because of a hint or for another reason. What is polled is polled the
    /// less often, the more its scans take.
    func noteScan(of tree: FilePath, _ cost: ScanCost)

    /// How each root is watched at the moment, and what is wrong with it.
    func reports() -> [WatchReport]

    /// Ends watching and wakes the consumers. Its thread is gone when this returns.
    func stop() async
}

/// What a scan took.
package struct ScanCost: Hashable, Sendable {
    package var lasted: Duration
    /// Of a processor's time. Less than it lasted, where it waited for a disk or a server.
    package var processor: Duration

    package init(lasted: Duration, processor: Duration) {
        self.lasted = lasted
        self.processor = processor
    }
}

/// A file that a scan has found, and that was not known before.
package struct AppearedFile: Hashable, Sendable {
    /// Below the root.
    package var path: FilePath
    /// When its content, name, links or attributes changed last (ctime), nanoseconds since 1970.
    package var changed: Int64

    package init(path: FilePath, changed: Int64) {
        self.path = path
        self.changed = changed
    }
}

/// A file that appeared below a root without a hint: others change that file system, too.
package struct UntoldFile: Hashable, Sendable {
    /// Below the root.
    package var path: FilePath
    /// When that was found out, nanoseconds since 1970.
    package var found: Int64

    package init(path: FilePath, found: Int64) {
        self.path = path
        self.found = found
    }
}

/// How one root is watched.
package struct WatchReport: Hashable, Sendable {
    package enum Mode: String, Hashable, Sendable {
        case inotify, polling
    }

    /// What the note is about, in one word: the note's numbers change all the time.
    package enum Cause: Hashable, Sendable {
        /// There is nothing to watch.
        case absent
        /// A limit of the system is reached.
        case limit
        /// Others change the file system, as on a server, or the kernel does not tell of it.
        case untold
        /// A folder cannot be watched, or is watched at another place.
        case refused
    }

    package var root: FilePath
    package var mode: Mode
    /// Why it polls, or what does not work, with the remedy (the sysctl to set); `nil` when all is well.
    package var note: String?
    /// Directories watched, and how often the kernel's queue overflowed.
    package var watches: Int
    package var overflows: Int
    /// The newest file that no hint has told of, where that is why it polls.
    package var untold: UntoldFile?
    /// `nil` where there is no note.
    package var cause: Cause?

    package init(
        root: FilePath, mode: Mode, note: String? = nil, watches: Int = 0, overflows: Int = 0,
        untold: UntoldFile? = nil, cause: Cause? = nil
    ) {
        self.root = root
        self.mode = mode
        self.note = note
        self.watches = watches
        self.overflows = overflows
        self.untold = untold
        self.cause = cause
    }
}
