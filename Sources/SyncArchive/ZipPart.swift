import Glibc
import SyncCore
import SyncSystem
import SystemPackage

/// The file that an archive grows in, hidden beside its path and locked: one writer at a time has it. What a killed process
/// left there is begun anew.
final class ZipPart: Sendable {
    /// link(2). It fails on some disks only, and tests script it.
    typealias Link = @Sendable (FilePath, FilePath) throws(Errno) -> Void

    private static let suffix = ".sync-agent-part"
    private static let nameLimit = 255

    let descriptor: FileDescriptor
    private let path: FilePath
    private let destination: FilePath
    private let link: Link
    /// Removed or named: what has the path now is another's.
    private let isGone = Mutex(false)

    /// Opens the part of a destination, empty, or makes it.
    /// - Throws: `Errno`; EEXIST when something has the destination, EWOULDBLOCK while somebody else has the part.
    init(for destination: FilePath, link: @escaping Link) throws(Errno) {
        self.destination = destination
        self.link = link
        path = Self.path(for: destination)
        var status = stat()
        if destination.withPlatformString({ lstat($0, &status) }) == 0 { throw .fileExists }
        descriptor = try Self.open(path)
    }

    deinit {
        remove()
        // A child of ours that has not come to its execve(2) yet may still share the lock.
        flock(descriptor.rawValue, LOCK_UN)
        try? descriptor.close()
    }

    private static func path(for destination: FilePath) -> FilePath {
        var name = destination.lastComponent?.string ?? ""
        while name.utf8.count + suffix.utf8.count + 1 > nameLimit { name.removeLast() }
        return destination.removingLastComponent().appending(".\(name)\(suffix)")
    }

    private static func open(_ path: FilePath) throws(Errno) -> FileDescriptor {
        while true {
            // As the person's umask wants it: it becomes the archive.
            let number = path.withPlatformString {
                Glibc.open($0, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o666)
            }
            if number < 0 {
                let reason = Errno(rawValue: errno)
                if reason == .interrupted { continue }
                guard reason == .tooManySymbolicLinkLevels else { throw reason }
                try unlink(path)
                continue
            }
            let file = FileDescriptor(rawValue: number)
            do throws(Errno) {
                if try take(file, path) { return file }
            } catch {
                try? file.close()
                throw error
            }
            try? file.close()
        }
    }

    /// Locks and empties the file. `false` when it is not, or no longer, a part: it is to be opened again.
    private static func take(_ file: FileDescriptor, _ path: FilePath) throws(Errno) -> Bool {
        // Where there are no such locks (some network mounts), two at once damage each other's archive: rare, and told by
        // every reader of ZIP files.
        if flock(file.rawValue, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK { throw .wouldBlock }
        var opened = stat()
        guard fstat(file.rawValue, &opened) == 0 else { throw Errno(rawValue: errno) }
        var named = stat()
        // Between open and lock, its owner may have finished it: this would then be the file of the person.
        guard path.withPlatformString({ lstat($0, &named) }) == 0, named.st_ino == opened.st_ino,
            named.st_dev == opened.st_dev
        else { return false }
        // A pipe, or another name of some file (a process killed between link and unlink): not to be written to.
        guard opened.st_mode & S_IFMT == S_IFREG, opened.st_nlink == 1 else {
            try unlink(path)
            return false
        }
        guard ftruncate(file.rawValue, 0) == 0 else { throw Errno(rawValue: errno) }
        return true
    }

    /// Gives the whole file its name, and sees to it that a power failure does not take it back.
    /// - Throws: `Errno`; EEXIST when something has got the name meanwhile.
    func place() throws(Errno) {
        try descriptor.sync()
        try takeName()
        try Folder.sync(destination.removingLastComponent())
    }

    /// link(2) takes a name only where nothing has it, unlike rename(2).
    private func takeName() throws(Errno) {
        do throws(Errno) {
            try link(path, destination)
        } catch {
            switch error {
            case .notPermitted, .permissionDenied, .notSupported, .notSupportedOnSocket, .noFunction, .tooManyLinks:
                // No second names there (FAT), or not for us.
                return try replaceReservation()
            default: throw error
            }
        }
        remove()
    }

    /// An empty file takes the name, and is replaced by ours at once.
    private func replaceReservation() throws(Errno) {
        let number = destination.withPlatformString { Glibc.open($0, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600) }
        guard number >= 0 else { throw Errno(rawValue: errno) }
        close(number)
        guard rename(path.string, destination.string) == 0 else {
            let reason = Errno(rawValue: errno)
            Glibc.unlink(destination.string)
            throw reason
        }
        isGone.withLock { $0 = true }
    }

    func remove() {
        isGone.withLock { isGone in
            if !isGone { Glibc.unlink(path.string) }
            isGone = true
        }
    }

    private static func unlink(_ path: FilePath) throws(Errno) {
        guard path.withPlatformString({ Glibc.unlink($0) }) != 0, errno != ENOENT else { return }
        throw Errno(rawValue: errno)
    }
}
