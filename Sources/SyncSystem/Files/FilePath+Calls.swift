import Glibc
package import SystemPackage

/// Calls by name. Each is made again when a signal interrupts it, throws `Errno`, and goes by the bytes of the name: by way
/// of `String`, one that is no UTF-8 would be that of another file.
extension FilePath {
    /// rename(2), which replaces what has the new name.
    package func rename(to name: FilePath) throws(Errno) {
        try call { path in name.withPlatformString { Glibc.rename(path, $0) } }
    }

    /// link(2): a second name for this file, where nothing has it.
    package func link(as name: FilePath) throws(Errno) {
        try call { path in name.withPlatformString { Glibc.link(path, $0) } }
    }

    /// unlink(2).
    /// - Returns: `false` when nothing has the name.
    @discardableResult
    package func unlink() throws(Errno) -> Bool {
        do {
            try call { Glibc.unlink($0) }
            return true
        } catch {
            guard error == .noSuchFileOrDirectory else { throw error }
            return false
        }
    }

    /// mkdir(2); the umask is taken off. ``Folder/make(_:permissions:above:calls:)`` makes one that stays.
    package func makeFolder(_ permissions: FilePermissions) throws(Errno) {
        try call { mkdir($0, permissions.rawValue) }
    }

    /// rmdir(2): only a folder that is empty.
    package func removeFolder() throws(Errno) {
        try call { rmdir($0) }
    }

    /// chmod(2).
    package func setPermissions(_ permissions: FilePermissions) throws(Errno) {
        try call { chmod($0, permissions.rawValue) }
    }

    /// access(2): throws where it is not there, or this process may not do so.
    package func requireAccess(_ rights: AccessRights) throws(Errno) {
        try call { access($0, rights.rawValue) }
    }

    /// Whether it is there, and this process may do so.
    package func allows(_ rights: AccessRights) -> Bool {
        (try? requireAccess(rights)) != nil
    }

    /// The uppermost folder, itself or above it, that may not be entered, or is the path and may not be read: nobody can say
    /// that nothing is there. `nil` where all that is there can be read.
    package var unreadableFolder: FilePath? {
        var folder = FilePath(root: root)
        for component in components {
            guard folder.isFolder else { return nil }
            if folder.isRefused(.execute) { return folder }
            folder.append(component)
        }
        return folder.isFolder && folder.isRefused([.read, .execute]) ? folder : nil
    }

    private var isFolder: Bool { (try? FileStatus.find(self, followsLinks: true))?.kind == .folder }

    private func isRefused(_ rights: AccessRights) -> Bool {
        do {
            try requireAccess(rights)
            return false
        } catch {
            return error == .permissionDenied
        }
    }

    /// Without symbolic links (realpath(3)); `nil` where that cannot be told.
    package var resolved: FilePath? {
        guard let resolved = withPlatformString({ realpath($0, nil) }) else { return nil }
        defer { free(resolved) }
        return FilePath(platformString: resolved)
    }

    /// Without symbolic links, as far as there is anything: what was deleted, or lies in a folder that cannot be entered,
    /// is found by the nearest folder above it.
    package var resolvedAsFarAsThere: FilePath? {
        var (folder, rest) = (self, [FilePath.Component]())
        while true {
            if let real = folder.resolved { return real.appending(rest) }
            guard let name = folder.lastComponent else { return nil }
            rest.insert(name, at: 0)
            folder.removeLastComponent()
        }
    }

    /// By the bytes of the name, until no signal interrupts it.
    private func call(_ body: (UnsafePointer<CChar>) -> Int32) throws(Errno) {
        while withPlatformString(body) != 0 {
            let reason = Errno(rawValue: errno)
            if reason != .interrupted { throw reason }
        }
    }
}

/// What a process may do with a file or folder; none of it is: it is there.
package struct AccessRights: OptionSet, Sendable {
    package let rawValue: Int32

    package init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    package static let read = AccessRights(rawValue: R_OK)
    package static let write = AccessRights(rawValue: W_OK)
    /// To enter a folder, to run a file.
    package static let execute = AccessRights(rawValue: X_OK)
}

extension Errno {
    /// Runs what throws nothing but an `Errno`, and does not say so: calls of System.
    package static func only<Value>(_ body: () throws -> Value) throws(Errno) -> Value {
        do {
            return try body()
        } catch {
            throw error as? Errno ?? .ioError
        }
    }

    /// Nothing is there, or not where the path says.
    package var isMissing: Bool { self == .noSuchFileOrDirectory || self == .notDirectory }

    /// This user may not.
    package var isRefusal: Bool { self == .permissionDenied || self == .notPermitted }

    /// Too little of what the process or the machine has: it is not about the file.
    package var isShortage: Bool { [.tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory].contains(self) }
}
