package import FoundationEssentials
package import SystemPackage

/// Reads folders. The scan is the truth that hints only point to. Its calls block: the caller gives them a thread.
package protocol TreeScanner: Sendable {
    /// Visits `start` and every folder below it, each once, parents first.
    ///
    /// Symbolic links are not followed, other file systems below are entered, ignored names (``IgnoredNames``) left out.
    /// Memory is bounded by the largest folder, not by the tree.
    /// - Parameters:
    ///   - root: the watched folder.
    ///   - start: where to begin: the root, or a folder below it.
    ///   - visit: gets each folder; what it throws ends the scan.
    /// - Throws: ``ScanError`` when `start` itself cannot be read. A folder below that cannot be read is visited with
    ///   its `error` set, and the scan goes on.
    func scan(root: FilePath, from start: FilePath, visit: (ScannedFolder) throws -> Void) throws

    /// As ``scan(root:from:visit:)``. A folder that is as its known digest tells is visited without its files.
    /// - Parameter known: the digest of a folder, by its path relative to the root.
    func scan(
        root: FilePath, from start: FilePath, known: (FilePath) -> SHA256Digest?, visit: (ScannedFolder) throws -> Void
    ) throws

    /// The stamp of one regular file now; `nil` when it is gone, or no longer a regular file.
    func stamp(of file: FilePath) throws(ScanError) -> FileStamp?

    /// Where other file systems are mounted below a folder at the moment: relative to it, in the order of their texts.
    func mountPoints(below root: FilePath) -> [FilePath]

    /// What differs as soon as something is mounted or taken out: the system's table of mounts. Empty where nothing
    /// tells.
    func mountTable() -> [UInt8]

    /// The names of a folder without symbolic links: its own, and those by which other mounts show it.
    func names(of folder: FilePath) -> [FilePath]

    /// Which file system is seen at a path, or would be, where nothing is there; `nil` where that cannot be told.
    func drive(at path: FilePath) -> DriveIdentity?

    /// Whether there is anything at the path; `true` where that cannot be told.
    func isThere(_ path: FilePath) -> Bool

    /// Whether some process has the file open for writing at this moment. `false` also where the system cannot tell.
    func isBeingWritten(_ file: FilePath) -> Bool

    /// Whether a file begins as a picture or a film does. For the few files whose names are left out.
    func holdsPicture(_ file: FilePath) -> Bool

    /// Whether a picture or a film is among the first files of a folder and those below it. For the few folders whose names
    /// are left out.
    func holdsPictures(_ folder: FilePath) -> Bool
}

/// Ends a scan that only asks whether there is a file.
private struct FileFound: Error {}

extension TreeScanner {
    package func scan(
        root: FilePath, from start: FilePath, known: (FilePath) -> SHA256Digest?, visit: (ScannedFolder) throws -> Void
    ) throws {
        try scan(root: root, from: start, visit: visit)
    }

    /// Whether there is any file in a folder: it is read until there is one.
    /// - Parameter place: relative to the root.
    /// - Throws: ``ScanError``.
    package func holdsFiles(below place: FilePath = "", of root: FilePath) throws -> Bool {
        do {
            try scan(root: root, from: root.pushing(place)) { scanned in
                if !scanned.files.isEmpty { throw FileFound() }
            }
            return false
        } catch is FileFound {
            return true
        }
    }

    package func mountPoints(below root: FilePath) -> [FilePath] { [] }
    package func mountTable() -> [UInt8] { [] }
    package func names(of folder: FilePath) -> [FilePath] { [folder] }
    package func drive(at path: FilePath) -> DriveIdentity? { nil }
    package func isThere(_ path: FilePath) -> Bool { true }
    package func holdsPicture(_ file: FilePath) -> Bool { false }
    package func holdsPictures(_ folder: FilePath) -> Bool { false }
}

/// One folder as it was read.
package struct ScannedFolder: Sendable {
    /// Relative to the root; empty for the root itself.
    package var path: FilePath
    /// Regular files, ignored ones left out.
    package var files: [ScannedFile]
    /// Of the names of all entries and the stamps of all files, ignored ones, too; `nil` where that is not all that counts
    /// (a link, a hidden folder).
    package var digest: SHA256Digest?
    /// Whether it is as its known digest tells. Then `files` and `others` are empty and say nothing.
    package var isUnchanged = false
    /// Why the folder could not be read (then `files` is empty and says nothing); `nil` when it could.
    package var error: ScanError?
    /// What is no file to be stored, and may be taken for one.
    package var others: [ScannedOther] = []

    package init(path: FilePath, files: [ScannedFile], error: ScanError? = nil) {
        self.path = path
        self.files = files
        self.error = error
    }
}

package struct ScannedFile: Hashable, Sendable {
    /// The last component.
    package var name: FilePath.Component
    package var stamp: FileStamp

    package init(name: FilePath.Component, stamp: FileStamp) {
        self.name = name
        self.stamp = stamp
    }
}

/// An entry of a folder that is never stored.
package struct ScannedOther: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// A symbolic link to something that no other name below the root has.
        case link
        /// The same, to a file that is no picture, under the name of a file of events.
        case linkedEvents
        /// A file with one of ``IgnoredNames``.
        case ignoredName(FileStamp)
        /// A folder with one of them.
        case ignoredFolder
    }

    package var name: FilePath.Component
    package var kind: Kind

    package init(name: FilePath.Component, kind: Kind) {
        self.name = name
        self.kind = kind
    }
}

package struct ScanError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Hashable, Sendable {
        /// Not there, or not a folder.
        case missing
        case denied
        case failed
    }

    package var code: Code
    package var path: FilePath
    /// The reason, with the next step.
    package var message: String

    package init(_ code: Code, path: FilePath, message: String) {
        self.code = code
        self.path = path
        self.message = message
    }

    package var description: String { "\(path.string.escapingControls): \(message)" }
}

/// What tells one state of a file from another without reading it (statx(2)). Equal stamps: nobody touched the file.
///
/// Size and modification time alone do not promise that: `cp -p` and `exiftool -P` set the time back, and a new file may
/// get the inode of a removed one. The kernel's own time of the last change cannot be set back by any program. It also
/// moves for what is no change of the content (a rename, a link, other permissions): the file is read again, and that
/// costs nothing else.
package struct FileStamp: Hashable, Sendable {
    package var device: UInt64
    package var inode: UInt64
    /// Bytes.
    package var size: Int64
    /// Modification time, nanoseconds since 1970. It is finer than the clock tick, and stays so in the ledger.
    package var modified: Int64
    /// When content, name, links or attributes changed last (ctime), nanoseconds since 1970; `nil` where an older ledger
    /// did not note it.
    package var changed: Int64?
    /// When the file was made (btime), nanoseconds since 1970; `nil` where the file system does not tell, or an older
    /// ledger did not note it.
    package var born: Int64?

    package init(
        device: UInt64, inode: UInt64, size: Int64, modified: Int64, changed: Int64? = nil, born: Int64? = nil
    ) {
        self.device = device
        self.inode = inode
        self.size = size
        self.modified = modified
        self.changed = changed
        self.born = born
    }

    /// Whether this is what `earlier` was, as far as that one knows: stamps of older ledgers lack the last two times.
    package func isUntouched(since earlier: FileStamp) -> Bool {
        isLike(earlier) && (earlier.changed == nil || changed == earlier.changed)
            && (earlier.born == nil || born == earlier.born)
    }

    /// Whether this is the same file with the same content, though it got another name. For places where that is our own
    /// doing, or is going to be proved by reading: a rewrite that sets the modification time back looks the same.
    package func isRenamed(from other: FileStamp) -> Bool {
        isLike(other) && born == other.born
    }

    /// Whether this is the file that `other` was, whatever it holds by now. Where neither tells its birth, it may be a
    /// new one in the inode of that.
    package func isSameFile(as other: FileStamp) -> Bool {
        inode == other.inode && device == other.device && born == other.born
    }

    /// Whether this is the file that was met with the stamp `known`, and no copy of it on another drive, wherever its
    /// drive is plugged in by now. Its birth tells, also where it was written on since: a copy has another one. Where the
    /// file system tells none, the time of change does, of a file that is as it was.
    ///
    /// Times in whole seconds tell nothing: cameras whose clock was never set leave the same ones on each of their
    /// cards. Nor does a time of change that is that of the modification, as FAT and exFAT have it, which number their
    /// files anew with each mount.
    package func isMet(as known: FileStamp) -> Bool {
        guard inode == known.inode, born == known.born else { return false }
        if let born, !Self.isWhole(born) { return true }
        guard let changed, changed != modified, !Self.isWhole(changed) else { return false }
        return changed == known.changed && size == known.size && modified == known.modified
    }

    private func isLike(_ other: FileStamp) -> Bool {
        inode == other.inode && size == other.size && modified == other.modified && device == other.device
    }
}

extension FileStamp {
    /// A file system's time as stamps have it. They end in 1677 and 2262: what is beyond is their first or last moment,
    /// and no time of another century. What is written anew there is told by the time of its change.
    package static func time(seconds: Int64, nanoseconds: UInt32) -> Int64 {
        let (whole, isBeyond) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (time, isOver) = whole.addingReportingOverflow(Int64(nanoseconds))
        return isBeyond || isOver ? (seconds < 0 ? .min : .max) : time
    }

    /// The same of what somebody says, to the millisecond: it may be the year 9999.
    package static func time(_ date: Date) -> Int64 {
        let last = Double(Int64.max / 1_000_000_000)
        let seconds = min(max(date.timeIntervalSince1970, -last), last)
        return Int64((seconds * 1_000).rounded()) * 1_000_000
    }

    /// The coarsest unit in which a file system keeps times: of FAT (two seconds); ext3, HFS+ and NFSv2 keep whole ones.
    private static let coarsestUnit = Duration.seconds(2)
    /// How far the clock of a file server may be ahead.
    private static let mostAhead = Duration.seconds(600)
    private static let ancient = Duration.seconds(Int64.max / 2)

    /// Whether this may be a copy of the file that `other` was, as `cp -a` or rsync makes one on another disk: of its size,
    /// and of its modification time, as far as that disk keeps it.
    package func mayBeCopy(of other: FileStamp) -> Bool {
        guard size == other.size else { return false }
        let (apart, isOverflow) = modified.subtractingReportingOverflow(other.modified)
        return !isOverflow && Duration.nanoseconds(apart.magnitude) <= Self.coarsestUnit
    }

    /// How long the file has to be left alone still, until it counts as whole.
    ///
    /// A program may set the modification time to any moment while it still writes; the time of the last change it cannot.
    /// Where times are whole seconds, what is written twice within one of them has one stamp: it is waited for until a
    /// later write would have another.
    /// - Parameter settle: for so long a file has to be as it is.
    /// - Returns: `nil` when nothing is left of that.
    package func timeToSettle(_ settle: Duration, at now: Date) -> Duration? {
        let changeAge = changed.map { Self.age(ofChange: $0, at: now) }
        var wait = settle - min(Self.age(of: modified, at: now), changeAge ?? Self.ancient)
        if let changed, let changeAge, Self.isWhole(modified), Self.isWhole(changed) {
            wait = max(wait, Self.coarsestUnit - changeAge)
        }
        return wait > .zero ? wait : nil
    }

    package func isSettled(_ settle: Duration, at now: Date) -> Bool { timeToSettle(settle, at: now) == nil }

    /// A time in the future says nothing about when something was written (a camera's clock, a copied attribute): such a
    /// file counts as old.
    private static func age(of time: Int64, at now: Date) -> Duration {
        let age = span(from: time, to: now)
        return age < .zero ? ancient : age
    }

    /// The time of a change is the clock's: a server's that is ahead, or one that is later than the moment of this look. One far
    /// in the future was written by a clock that was wrong.
    private static func age(ofChange time: Int64, at now: Date) -> Duration {
        let age = span(from: time, to: now)
        return age + mostAhead < .zero ? ancient : max(age, .zero)
    }

    private static func span(from time: Int64, to now: Date) -> Duration {
        .milliseconds(Int64(now.timeIntervalSince1970 * 1_000) - time / 1_000_000)
    }

    private static func isWhole(_ time: Int64) -> Bool { time % 1_000_000_000 == 0 }
}

/// Why a file may be half of what it is to become.
package struct UnfinishedFile: Hashable, Sendable {
    package let reason: String
    /// When to look again, from now.
    package let wait: Duration
}

extension TreeScanner {
    /// Why a file may be half of what it is to become: it is open for writing, or changed a moment ago.
    /// - Parameters:
    ///   - stamp: of the file as it is meant.
    ///   - settle: for so long a file is as it is before it counts as whole.
    /// - Returns: `nil` for a file that counts as whole.
    package func whyUnfinished(
        _ file: FilePath, _ stamp: FileStamp, settle: Duration, at now: Date
    ) -> UnfinishedFile? {
        if let wait = stamp.timeToSettle(settle, at: now) {
            return UnfinishedFile(reason: "it is still changing", wait: wait)
        }
        guard isBeingWritten(file) else { return nil }
        return UnfinishedFile(reason: "another process has it open for writing", wait: settle)
    }
}
