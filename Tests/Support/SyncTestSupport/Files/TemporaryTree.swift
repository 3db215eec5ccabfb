import FoundationEssentials
import Glibc
package import SyncCore
import SyncDigest
import SyncSystem
package import SystemPackage

/// A new folder, removed with all that is in it when the value goes away.
package final class TemporaryTree: Sendable {
    /// Where a tree lies. Both are `TMPDIR` where that is set.
    package enum Place: Sendable {
        /// Below `/tmp`.
        case disk
        /// In memory, where this machine has room there: for tests of programs and workflows that would wait for
        /// thousands of syncs, and say nothing of what a disk does.
        case memory

        fileprivate var folder: FilePath {
            if let chosen = ProcessInfo.processInfo.environment["TMPDIR"] { return FilePath(chosen) }
            return self == .memory && Self.hasMemory ? Self.memoryFolder : "/tmp"
        }

        private static let memoryFolder: FilePath = "/dev/shm"
        /// A container may have 64 MiB there, or run no programs from it.
        private static let hasMemory: Bool = {
            var volume = statvfs()
            // ST_NOEXEC, which Swift does not import.
            let refusesPrograms: UInt = 8
            guard statvfs(Self.memoryFolder.string, &volume) == 0 else { return false }
            let free = UInt64(volume.f_bavail) * UInt64(volume.f_frsize)
            return volume.f_flag & refusesPrograms == 0 && access(Self.memoryFolder.string, W_OK) == 0 && free > 1 << 30
        }()
    }

    /// Absolute, without symbolic links.
    package let root: FilePath

    package init(in place: Place = .disk) throws {
        var template = Array(place.folder.appending("sync-agent-test-XXXXXX").string.utf8CString)
        guard mkdtemp(&template) != nil, let resolved = realpath(template, nil) else {
            throw Errno(rawValue: errno)
        }
        defer { free(resolved) }
        root = FilePath(platformString: resolved)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: root.string)
    }

    /// The absolute path of a file or folder in the tree.
    package func path(_ relative: String) -> FilePath {
        root.pushing(FilePath(relative))
    }

    @discardableResult
    package func makeFolder(_ relative: String) throws -> FilePath {
        let folder = path(relative)
        try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: true)
        return folder
    }

    /// Writes a file, and the folders above it. Whoever looks at it next finds a later modification time than before, and
    /// nobody who writes to it but those who did before.
    @discardableResult
    package func write(_ bytes: [UInt8], to relative: String) throws -> FilePath {
        let file = path(relative)
        try FileManager.default.createDirectory(
            atPath: file.removingLastComponent().string, withIntermediateDirectories: true)
        let before = (try? FileStatus(at: file, followsLinks: true))?.stamp
        let isOpen = WriteLease.isRefused(for: file)
        try Data(bytes).write(to: URL(filePath: file.string))
        if !isOpen { waitUntilClosed(file) }
        if let before { try makeLater(file, than: before) }
        return file
    }

    /// As long as a child of another test, which has not come to its own execve(2) yet, holds the descriptor by which the
    /// file was written, it counts as being written to, and cannot be executed.
    private func waitUntilClosed(_ file: FilePath) {
        while WriteLease.isRefused(for: file) { sched_yield() }
    }

    /// Kernels before 6.13 give all writes within one tick of their clock the same time.
    private func makeLater(_ file: FilePath, than before: FileStamp) throws {
        guard let after = try FileStatus.find(file, followsLinks: true)?.stamp, after.modified <= before.modified,
            before.modified < .max
        else { return }
        let (seconds, nanoseconds) = (before.modified + 1).quotientAndRemainder(dividingBy: 1_000_000_000)
        let time = timespec(tv_sec: Int(seconds), tv_nsec: Int(nanoseconds))
        guard utimensat(AT_FDCWD, file.string, [time, time], 0) == 0 else { throw Errno(rawValue: errno) }
    }

    @discardableResult
    package func write(_ text: String, to relative: String) throws -> FilePath {
        try write(Array(text.utf8), to: relative)
    }

    /// Writes a program that can be executed: while somebody holds a descriptor by which it was written, that fails
    /// (ETXTBSY).
    @discardableResult
    package func writeProgram(_ script: String, to relative: String) throws -> FilePath {
        let program = try write(script, to: relative)
        guard chmod(program.string, 0o755) == 0 else { throw Errno(rawValue: errno) }
        waitUntilClosed(program)
        return program
    }

    package func read(_ relative: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: path(relative).string)))
    }

    /// The regular files below a folder, relative to it, sorted.
    package func files(below relative: String = "") throws -> [String] {
        let folder = relative.isEmpty ? root : path(relative)
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.string)
        return names.filter { name in
            var status = stat()
            return lstat(folder.pushing(FilePath(name)).string, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        }.sorted()
    }

    /// As ``files(below:)``, without those by which restores know their folders: they go when a job is over, a moment after
    /// its last photo is noted.
    package func photos(below relative: String = "") throws -> [String] {
        try files(below: relative).filter {
            FilePath($0).lastComponent?.string.hasPrefix(".sync-agent-restore-") == false
        }
    }

    /// Sets a file's modification time that many seconds into the past.
    package func age(_ relative: String, bySeconds seconds: Int) throws {
        var clock = timespec()
        clock_gettime(CLOCK_REALTIME, &clock)
        clock.tv_sec -= seconds
        guard utimensat(AT_FDCWD, path(relative).string, [clock, clock], 0) == 0 else { throw Errno(rawValue: errno) }
    }

    /// The stamp of a file as it is now.
    package func stamp(_ relative: String) throws -> FileStamp {
        try FileStamp(of: path(relative))
    }

    /// A body that is sent from a file of the tree.
    package func body(_ relative: String) throws -> ObjectBody {
        ObjectBody(file: path(relative), stamp: try stamp(relative), digest: ContentDigest(of: try read(relative)))
    }
}

extension FileStamp {
    /// The stamp of a file as it is now.
    package init(of file: FilePath) throws {
        self = try FileStatus(at: file).stamp
    }
}
