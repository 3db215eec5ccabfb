import CSyncLinux
package import SyncCore
import SyncDigest
package import SystemPackage

/// A file that nobody finds under its name before it is whole and on the disk for good. The one place where files get
/// written, synced and named in this order.
///
/// It grows in a hidden file beside its destination, `.NAME.sync-agent-part`, which is locked: one writer at a time has
/// it, and who finds one that nobody has may take it for what a killed process left. It goes away with the value, unless
/// it is ``Leftover/kept``. All functions block.
package final class NewFile: Sendable {
    /// What becomes of a hidden file that is not whole.
    package enum Leftover: Sendable {
        /// Begun anew by the next that wants the name, and removed by one that gives up.
        case emptied
        /// Left for the next to go on from, when there is something in it.
        case kept
    }

    /// link(2), which fails on some disks only. Tests script it.
    package typealias Link = @Sendable (FilePath, FilePath) throws(Errno) -> Void
    /// fsync(2) of a folder. Tests script it.
    package typealias SyncFolder = @Sendable (FilePath) throws(Errno) -> Void

    /// statx(2) of a name; `nil` when nothing has it. Tests script it.
    package typealias Find = @Sendable (FilePath) throws(Errno) -> FileStatus?

    package static let find: Find = { (path) throws(Errno) in try FileStatus.find(path) }
    package static let link: Link = { (file, name) throws(Errno) in
        try file.link(as: name)
    }
    package static let syncFolder: SyncFolder = { (folder) throws(Errno) in try Folder.sync(folder) }

    static let suffix = ".sync-agent-part"
    private static let nameLimit = 255
    /// Hidden files that are opened, and are not there under their name: somebody else finishes or removes them, or the disk
    /// is damaged.
    private static let mostTries = 100

    /// The hidden one.
    package let path: FilePath
    package let descriptor: FileDescriptor
    private let destination: FilePath
    private let leftover: Leftover
    private let link: Link
    private let syncFolder: SyncFolder
    /// Removed or named: what has the hidden name now is another's. The lock is held while that changes.
    private let isGone = Lock(false)

    /// Opens the hidden file of a destination, or makes it.
    /// - Parameter permissions: of a new one; the umask is taken off.
    /// - Throws: `Errno`, `.wouldBlock` while somebody else has it; `.staleNFSFileHandle` where it is never what its name shows.
    ///   What has the destination does not matter yet.
    package init(
        for destination: FilePath, permissions: FilePermissions = .ownerReadWrite, leftover: Leftover = .emptied,
        link: @escaping Link = NewFile.link, syncFolder: @escaping SyncFolder = NewFile.syncFolder,
        find: @escaping Find = NewFile.find
    ) throws(Errno) {
        self.destination = destination
        self.leftover = leftover
        self.link = link
        self.syncFolder = syncFolder
        path = Self.path(for: destination)
        descriptor = try Self.open(path, permissions, leftover, find)
    }

    deinit {
        leave()
        try? descriptor.close()
    }

    /// Where the hidden file of a destination is. A name that would get too long by it is replaced by its digest.
    package static func path(for destination: FilePath) -> FilePath {
        // By its bytes: two names that are no UTF-8 may be the same text.
        let name = destination.lastComponent?.bytes ?? []
        let folder = destination.removingLastComponent()
        let hidden = Array(".".utf8) + name + Array(suffix.utf8)
        if hidden.count <= nameLimit, let hidden = FilePath.Component(bytes: hidden) { return folder.appending(hidden) }
        return folder.appending(".\(SHA256Digest(of: name))\(suffix)")
    }

    private static func open(
        _ path: FilePath, _ permissions: FilePermissions, _ leftover: Leftover, _ find: Find
    ) throws(Errno) -> FileDescriptor {
        for _ in 0..<mostTries {
            let file: FileDescriptor
            do {
                // Neither a link nor a pipe that somebody has put there is followed or waited for.
                file = try .opened(
                    path, .readWrite, [.create, .noFollow, .nonBlocking, .closeOnExec], permissions)
            } catch {
                guard error == .tooManySymbolicLinkLevels else { throw error }
                try path.unlink()
                continue
            }
            do {
                if try take(file, path, leftover, find) { return file }
            } catch {
                try? file.close()
                throw error
            }
            try? file.close()
        }
        throw .staleNFSFileHandle
    }

    /// Locks the file. `false` when it is not, or no longer, a hidden file of ours: it is to be opened again.
    private static func take(
        _ file: FileDescriptor, _ path: FilePath, _ leftover: Leftover, _ find: Find
    ) throws(Errno) -> Bool {
        // Where there are no such locks, two at once damage each other's file: rare, and whoever reads it has a digest.
        guard file.tryLock() else { throw .wouldBlock }
        let opened = try FileStatus(of: file)
        // Between open and lock, its owner may have finished it: this would then be the file of the person.
        guard let named = try find(path), named.isSameFile(as: opened) else { return false }
        // A pipe, or another name of some file (a process killed between link and unlink): not to be written to.
        guard opened.kind == .file, opened.links == 1 else {
            try path.unlink()
            return false
        }
        if leftover == .emptied { try file.cut() }
        return true
    }

    // MARK: Its end

    /// Gives the whole file its name, and sees to it that a power failure does not take it back. When this throws, the
    /// name has what it had before: nobody is told of a failure and finds the file there all the same. Only what the disk
    /// does not take back stays, and what replaced a link or another's file.
    /// - Parameter overwrites: whether it may replace what has the name.
    /// - Returns: `false`, with nothing changed, when something has the name and is not to be replaced.
    /// - Throws: `Errno`. The hidden file is gone then: what is whole and gets no name is nothing to go on from.
    package func place(overwrites: Bool) throws(Errno) -> Bool {
        do {
            try descriptor.sync()
        } catch {
            // The kernel takes for written what it could not write, and the next fsync(2) says nothing: nobody goes on from
            // such a file, whatever becomes of those that are not whole.
            try? remove()
            throw error
        }
        do {
            return try overwrites ? replace() : takeName()
        } catch {
            // Else it would stay beside its destination for ever where nobody asks for the name again.
            try? remove()
            throw error
        }
    }

    /// Gives the hidden file up: it is removed, or left to the next, who may begin at once.
    package func leave(isUseless: Bool = false) {
        // A child of ours that has not come to its execve(2) yet may still share the lock.
        defer { descriptor.unlock() }
        // The file tells: nobody need have read what an earlier run left.
        let isKept = leftover == .kept && !isUseless && (try? FileStatus(of: descriptor).stamp.size) ?? 0 > 0
        if !isKept { try? remove() }
    }

    /// Removes the hidden file, also where a folder above it was moved meanwhile. One that has its name by now stays, and so
    /// does what somebody else has put in its place.
    /// - Throws: `Errno`.
    package func remove() throws(Errno) {
        try isGone.withLock { (isGone) throws(Errno) in
            if isGone { return }
            isGone = true
            try hiddenPath?.unlink()
        }
    }

    /// Where the hidden file is now; `nil` where it is not.
    private var hiddenPath: FilePath? {
        if isOurs(path) { return path }
        // proc(5), `/proc/pid/fd`: it is told by the file, and not by its path.
        guard let moved = FilePath("/proc/self/fd/\(descriptor.rawValue)").resolved,
            moved.lastComponent == path.lastComponent, isOurs(moved)
        else { return nil }
        return moved
    }

    private func isOurs(_ name: FilePath) -> Bool {
        guard let named = try? FileStatus(at: name), let own = try? FileStatus(of: descriptor) else { return false }
        return named.isSameFile(as: own)
    }

    /// link(2) takes a name only where nothing has it, unlike rename(2). Where a file system has no second names (FAT), or
    /// not for us, an empty file takes it, and is replaced by ours at once.
    private func takeName() throws(Errno) -> Bool {
        do {
            try link(path, destination)
        } catch {
            if error == .fileExists { return false }
            guard Self.refusesLinks(error) else { throw error }
            return try reserveName()
        }
        try? remove()
        try syncNames()
        return true
    }

    /// Whether it says that a file gets no second name here: of a file system without them, of a folder, or not for us.
    package static func refusesLinks(_ error: Errno) -> Bool {
        switch error {
        case .notPermitted, .permissionDenied, .notSupported, .notSupportedOnSocket, .noFunction, .tooManyLinks: true
        default: false
        }
    }

    private func reserveName() throws(Errno) -> Bool {
        do {
            let empty = try FileDescriptor.opened(
                destination, .writeOnly, [.create, .exclusiveCreate, .closeOnExec], .ownerReadWrite)
            try? empty.close()
        } catch {
            guard error == .fileExists else { throw error }
            return false
        }
        do {
            try rename()
        } catch {
            _ = try? destination.unlink()
            throw error
        }
        try syncNames()
        return true
    }

    /// Takes the name from what has it, if anything has.
    private func replace() throws(Errno) -> Bool {
        // Locked, so that nobody takes it for a hidden file that was left.
        let old = try? FileDescriptor.opened(destination, .readOnly, [.noFollow, .nonBlocking, .closeOnExec])
        defer { try? old?.close() }
        if let old, (try? FileStatus(of: old))?.kind == .file, old.tryLock(), try exchange() { return true }
        // Nothing has the name; or what has it cannot be kept until ours is on the disk (a link, another's file), or not
        // by this file system.
        let isNew = try FileStatus.find(destination) == nil
        try rename()
        if isNew { try syncNames() } else { try syncFolder(folder) }
        return true
    }

    /// What had the name is kept under the hidden one until ours is on the disk for good.
    /// - Returns: `false`, with nothing changed, where the file system cannot.
    private func exchange() throws(Errno) -> Bool {
        guard try Self.exchange(path, destination) else { return false }
        do {
            try syncFolder(folder)
        } catch {
            _ = try? Self.exchange(path, destination)
            throw error
        }
        isGone.withLock { isGone in
            isGone = true
            _ = try? path.unlink()
        }
        // Of the one that went, a power failure is to leave no name either.
        try? syncFolder(folder)
        return true
    }

    /// Puts a name that nothing had on the disk, or takes it back.
    private func syncNames() throws(Errno) {
        do {
            try syncFolder(folder)
        } catch {
            if isOurs(destination) { _ = try? destination.unlink() }
            throw error
        }
    }

    private var folder: FilePath { destination.removingLastComponent() }

    private func rename() throws(Errno) {
        try isGone.withLock { (isGone) throws(Errno) in
            try path.rename(to: destination)
            isGone = true
        }
    }
}

// MARK: - Bytes that are there already

extension NewFile {
    /// A whole file of these bytes, on the disk for good.
    /// - Returns: `false`, with nothing changed, when something has the name and is not to be replaced.
    /// - Throws: `Errno`, `.wouldBlock` while somebody else writes it.
    package static func save(
        _ bytes: some Sequence<UInt8>, to destination: FilePath, permissions: FilePermissions, overwrites: Bool,
        syncFolder: @escaping SyncFolder = NewFile.syncFolder
    ) throws -> Bool {
        let file = try NewFile(for: destination, permissions: permissions, syncFolder: syncFolder)
        try file.descriptor.writeAll(bytes)
        return try file.place(overwrites: overwrites)
    }

    /// A file of these bytes under a name that nothing has yet and that is its own: its bytes are on the disk for good, its
    /// name is not. When that fails, nothing has the name.
    /// - Parameter finish: called when its bytes are there, before they are synced.
    /// - Throws: `Errno`, and what `finish` throws.
    @discardableResult
    package static func make(
        _ bytes: some Sequence<UInt8>, at path: FilePath, permissions: FilePermissions = .ownerReadWrite,
        finish: (FileDescriptor) throws -> Void = { _ in }
    ) throws -> FileStamp {
        let file = try FileDescriptor.opened(
            path, .readWrite, [.create, .exclusiveCreate, .noFollow, .closeOnExec], permissions)
        defer { try? file.close() }
        do {
            try file.writeAll(bytes)
            try finish(file)
            try file.sync()
            return try FileStatus(of: file).stamp
        } catch {
            _ = try? path.unlink()
            throw error
        }
    }

    /// Gives each of two files the name of the other, in one step (renameat2(2), RENAME_EXCHANGE).
    /// - Returns: `false` where the file system cannot.
    /// - Throws: `Errno`.
    package static func exchange(_ one: FilePath, _ other: FilePath) throws(Errno) -> Bool {
        let code = Errno.code {
            one.withPlatformString { one in other.withPlatformString { CSyncLinux_Exchange(one, $0) } }
        }
        if [.noFunction, .invalidArgument, .notSupported].contains(code) { return false }
        guard code.rawValue == 0 else { throw code }
        return true
    }

    /// Gives a file another name, unless something has that (renameat2(2), RENAME_NOREPLACE). Where a file system cannot do
    /// so in one step, the file has both names for a moment, or the name is looked at just before.
    /// - Returns: `false`, with nothing changed, when something has the name.
    /// - Throws: `Errno`.
    package static func renameIfFree(_ old: FilePath, _ new: FilePath) throws(Errno) -> Bool {
        let code = Errno.code {
            old.withPlatformString { old in new.withPlatformString { CSyncLinux_RenameIfFree(old, $0) } }
        }
        switch code {
        case _ where code.rawValue == 0: return true
        case .fileExists: return false
        case .noFunction, .invalidArgument, .notSupported: break
        default: throw code
        }
        do {
            try old.link(as: new)
        } catch {
            if error == .fileExists { return false }
            guard refusesLinks(error) else { throw error }
            if try FileStatus.find(new) != nil { return false }
            try old.rename(to: new)
            return true
        }
        try old.unlink()
        return true
    }
}

// MARK: - Hidden files that nobody will go on from

extension NewFile {
    package static func isHidden(_ name: FilePath.Component) -> Bool {
        name.string.utf8.starts(with: ".".utf8) && name.string[...].beginning(before: suffix) != nil
    }

    /// Removes what an earlier run left for a destination that has its file by now. What somebody is at stays.
    package static func discard(for destination: FilePath) throws(Errno) {
        try discard(path(for: destination))
    }

    /// Removes what earlier runs left in a folder: under names that are not asked for any more, it would stay for ever. To
    /// be called when all that was asked for is there.
    /// - Parameter idleSince: only what nobody has written to since then, in nanoseconds since 1970; `nil` for all.
    package static func discardAll(in folder: FilePath, idleSince: Int64? = nil) throws(Errno) {
        for name in try Folder.names(in: folder) ?? [] where isHidden(name) {
            let file = folder.appending(name)
            // Nobody can set this time back, as that of the content is once it is whole.
            if let idleSince, (try FileStatus.find(file)?.stamp.changed).map({ $0 > idleSince }) ?? true { continue }
            try discard(file)
        }
    }

    private static func discard(_ path: FilePath) throws(Errno) {
        let file: FileDescriptor
        do {
            file = try .opened(path, .readOnly, [.noFollow, .nonBlocking, .closeOnExec])
        } catch {
            // EACCES: that of another user. ELOOP: a link, which is none of ours.
            if [.noSuchFileOrDirectory, .permissionDenied, .tooManySymbolicLinkLevels].contains(error) { return }
            throw error
        }
        defer { try? file.close() }
        // Between open and lock, its owner may have finished it: this would then be the file of the person.
        guard file.tryLock(), let opened = try? FileStatus(of: file), opened.kind == .file,
            let named = try? FileStatus(at: path), named.isSameFile(as: opened)
        else { return }
        try path.unlink()
    }
}
