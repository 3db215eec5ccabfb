import FoundationEssentials
import Glibc
import SyncCore
import SystemPackage

/// The folder that a share is mirrored into, locked while this lives. It stays the same folder, whatever has its path
/// meanwhile. All functions block and throw `Errno`, unless they say otherwise; links in the folder are replaced or left
/// alone, never followed.
final class MirrorFolder: Sendable {
    static let stateName: FilePath.Component = ".sync-agent-mirror.json"
    static let manifestName: FilePath.Component = "vacation.json"
    /// Bytes. Of 10,000 photos it has less than ten million.
    static let largestManifest: Int64 = 64 << 20
    private static let temporarySuffix = ".sync-agent-tmp"
    /// Bytes. Of 10,000 photos it has two million.
    private static let stateLimit = 16 << 20

    /// For people.
    let path: FilePath
    /// Leads to the folder that was locked (proc(5), `/proc/pid/fd`), as long as this lives: a long run does not follow a
    /// link that has taken the place of the folder. Without /proc it is ``path``.
    let held: FilePath
    private let descriptor: FileDescriptor

    /// Opens the folder.
    /// - Throws: ``MirrorError``; `Errno`, `.noSuchFileOrDirectory` when there is none.
    init(_ path: FilePath) throws {
        self.path = path
        do {
            descriptor = try FileDescriptor.open(path, .readOnly, options: [.directory, .closeOnExec])
        } catch Errno.notDirectory {
            throw MirrorError(
                code: .notAFolder, folder: path, message: "there is something else in the place of this folder")
        }
        // Where there are no such locks (some network mounts), the last to write wins.
        if flock(descriptor.rawValue, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
            try? descriptor.close()
            throw MirrorError(
                code: .inUse, folder: path, message: "another sync-agent mirrors into this folder just now")
        }
        let held = FilePath("/proc/self/fd/\(descriptor.rawValue)")
        self.held = access(held.string, F_OK) == 0 ? held : path
    }

    /// For the next, at once: a thread that has just done its work may still hold this for a moment.
    func unlock() {
        flock(descriptor.rawValue, LOCK_UN)
    }

    deinit {
        unlock()
        try? descriptor.close()
    }

    /// What the folder knows of itself; `nil` where there is nothing, or nothing that can be read.
    /// - Throws: ``MirrorError`` `.newerState`.
    func state() throws -> (state: MirrorState?, isDamaged: Bool) {
        struct Version: Decodable {
            let version: Int
        }
        guard let bytes = try read(Self.stateName, limit: Self.stateLimit) else { return (nil, false) }
        guard let version = try? JSONDecoder().decode(Version.self, from: Data(bytes)).version else {
            return (nil, true)
        }
        guard version <= MirrorState.currentVersion else {
            throw MirrorError(
                code: .newerState, folder: path, message: "a newer sync-agent mirrors into this folder; update this one"
            )
        }
        guard let state = try? JSONDecoder().decode(MirrorState.self, from: Data(bytes)) else { return (nil, true) }
        return (state, false)
    }

    /// Writes a file of ours in one step: whoever reads it sees the old one or the new one, also after a power failure.
    /// - Parameter isPrivate: whether only its owner may read it.
    func write(_ bytes: [UInt8], to name: FilePath.Component, isPrivate: Bool) throws {
        let hidden = name.string.hasPrefix(".") ? name.string : ".\(name)"
        let temporary = held.appending("\(hidden)\(Self.temporarySuffix)")
        if unlink(temporary.string) != 0, errno != ENOENT { throw Errno(rawValue: errno) }
        let file = try FileDescriptor.open(
            temporary, .writeOnly, options: [.create, .exclusiveCreate, .noFollow, .closeOnExec],
            permissions: FilePermissions(rawValue: isPrivate ? 0o600 : 0o666))
        do {
            try file.closeAfter {
                try file.writeAll(bytes)
                try sync(file)
            }
            guard rename(temporary.string, held.appending(name).string) == 0 else { throw Errno(rawValue: errno) }
        } catch {
            unlink(temporary.string)
            throw error
        }
        try sync(descriptor)
    }

    /// Size and time of a regular file; `nil` when nothing has the name.
    /// - Throws: `Errno.tooManySymbolicLinkLevels` for a link, `.fileExists` for anything else that is no file.
    func look(at name: FilePath.Component) throws -> (size: Int64, modified: Int64)? {
        var status = stat()
        guard lstat(held.appending(name).string, &status) == 0 else {
            if errno == ENOENT { return nil }
            throw Errno(rawValue: errno)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw status.st_mode & S_IFMT == S_IFLNK ? Errno.tooManySymbolicLinkLevels : .fileExists
        }
        return (
            Int64(status.st_size), Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
        )
    }

    private func read(_ name: FilePath.Component, limit: Int) throws -> [UInt8]? {
        guard let found = try? look(at: name), found.size <= limit else { return nil }
        let file = try FileDescriptor.open(
            held.appending(name), .readOnly, options: [.noFollow, .nonBlocking, .closeOnExec])
        return try file.closeAfter {
            var bytes = [UInt8](repeating: 0, count: Int(found.size))
            var count = 0
            while count < bytes.count {
                let read = try bytes.withUnsafeMutableBytes { buffer in
                    try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
                }
                if read == 0 { break }
                count += read
            }
            return Array(bytes[..<count])
        }
    }

    private func sync(_ file: FileDescriptor) throws {
        while fsync(file.rawValue) != 0 {
            // EINVAL: nothing that can be synchronised (fsync(2)), as folders of some network mounts.
            if errno == EINVAL { return }
            if errno != EINTR { throw Errno(rawValue: errno) }
        }
    }
}
