import Glibc
import SyncCore
import SyncDigest
import SyncSystem
import SystemPackage

/// The file that a download grows in, hidden beside its destination, for its owner only, and locked: one download at a
/// time has it. Whatever ends the process leaves it for the next to go on from.
///
/// Bytes are appended by one thread at a time. All functions block.
final class PartFile: Sendable {
    private struct State: ~Copyable {
        var position: Int64 = 0
        var hasher = ContentHasher()
        /// Removed or named: what has its path now is another's.
        var isGone = false
    }

    private static let suffix = ".sync-agent-part"
    private static let nameLimit = 255

    let path: FilePath
    let descriptor: FileDescriptor
    private let state = Mutex(State())
    let calls: DownloadCalls

    /// Where the part of a file is. A name that would get too long by it is replaced by its digest.
    static func path(for destination: FilePath) -> FilePath {
        let name = destination.lastComponent?.string ?? ""
        let hidden = ".\(name)\(suffix)"
        guard hidden.utf8.count > nameLimit else { return destination.removingLastComponent().appending(hidden) }
        return destination.removingLastComponent().appending(".\(SHA256Digest(of: name.utf8))\(suffix)")
    }

    static func isPart(_ name: FilePath.Component) -> Bool {
        name.string.hasPrefix(".") && name.string.hasSuffix(suffix)
    }

    /// Opens the part of a destination, or makes it.
    /// - Throws: ``DownloadError``, `.inUse` while somebody else has it; `Errno`.
    init(for destination: FilePath, calls: DownloadCalls) throws {
        path = Self.path(for: destination)
        descriptor = try Self.open(path, for: destination)
        self.calls = calls
    }

    /// Leaves the part to a later run, which may begin at once. An empty one is nothing to go on from. The file tells: what
    /// an earlier run left may not have been taken up yet.
    func leave(isUseless: Bool = false) {
        // A child of ours that has not come to its execve(2) yet may still share the lock.
        defer { flock(descriptor.rawValue, LOCK_UN) }
        var status = stat()
        let isEmpty = fstat(descriptor.rawValue, &status) == 0 && status.st_size == 0
        guard isUseless || isEmpty, !state.withLock({ $0.isGone }) else { return }
        try? remove()
    }

    deinit {
        leave()
        try? descriptor.close()
    }

    private static func open(_ path: FilePath, for destination: FilePath) throws -> FileDescriptor {
        while true {
            let file: FileDescriptor
            do {
                file = try FileDescriptor.open(
                    path, .readWrite, options: [.create, .noFollow, .nonBlocking, .closeOnExec],
                    permissions: .ownerReadWrite)
            } catch Errno.tooManySymbolicLinkLevels {
                try remove(path)
                continue
            }
            do {
                if try take(file, path, for: destination) { return file }
            } catch {
                try? file.close()
                throw error
            }
            try file.close()
        }
    }

    /// Locks the file. `false` when it is not, or no longer, a part: it is to be opened again.
    private static func take(_ file: FileDescriptor, _ path: FilePath, for destination: FilePath) throws -> Bool {
        // Where there are no such locks (some network mounts), the last to come wins, with the right bytes.
        if flock(file.rawValue, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
            throw DownloadError(.inUse, destination, "it is being downloaded already, here or by another process")
        }
        var opened = stat()
        guard fstat(file.rawValue, &opened) == 0 else { throw Errno(rawValue: errno) }
        var named = stat()
        // Between open and lock, its owner may have finished it: this would then be the file of the person.
        guard lstat(path.string, &named) == 0, named.st_ino == opened.st_ino, named.st_dev == opened.st_dev else {
            return false
        }
        // A pipe, or another name of some file (a download that ended between link and unlink): not to be written to.
        guard opened.st_mode & S_IFMT == S_IFREG, opened.st_nlink == 1 else {
            try remove(path)
            return false
        }
        return true
    }

    static func remove(_ path: FilePath) throws(Errno) {
        guard path.withPlatformString({ unlink($0) }) != 0, errno != ENOENT else { return }
        throw Errno(rawValue: errno)
    }

    /// How many bytes are known to be in it, from its beginning.
    var position: Int64 { state.withLock { $0.position } }

    /// Hashes what an earlier run left, and goes on behind it.
    func takeUp(_ flag: CancellationFlag) throws {
        try FileDigest.read(descriptor, flag) { piece in
            state.withLock { state in
                state.hasher.update(piece)
                state.position += Int64(piece.count)
            }
        }
    }

    /// Begins anew, with nothing in it.
    func reset() throws {
        try descriptor.resize(to: 0)
        state.withLock { state in
            state.position = 0
            _ = state.hasher.finalize()
        }
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws {
        var offset = position
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = try calls.write(descriptor, offset, UnsafeRawBufferPointer(rebasing: rest))
            offset += Int64(count)
            rest = rest.dropFirst(count)
        }
        state.withLock { state in
            state.hasher.update(bytes)
            state.position = offset
        }
    }

    /// The digests of all bytes in it. Asked once: afterwards it can only be reset or placed.
    func digest() -> ContentDigest {
        state.withLock { $0.hasher.finalize() }
    }

    func remove() throws {
        markGone()
        try Self.remove(path)
    }

    /// To be called before the path is given up.
    func markGone() {
        state.withLock { $0.isGone = true }
    }
}
