import Glibc
package import SyncCore
import SyncSystem
package import SystemPackage

/// The scanner for real folders.
package struct FileTreeScanner: TreeScanner {
    private let readMounts: @Sendable () -> [UInt8]

    package init() {
        self.init(mountTable: WatchCalls.system.mountTable)
    }

    /// - Parameter mountTable: as `/proc/self/mountinfo` has it.
    init(mountTable: @escaping @Sendable () -> [UInt8]) {
        readMounts = mountTable
    }

    package func mountTable() -> [UInt8] { readMounts() }

    package func mountPoints(below root: FilePath) -> [FilePath] {
        MountPoint.below(root.resolved ?? root, in: readMounts())
    }

    package func names(of folder: FilePath) -> [FilePath] {
        let name = folder.resolvedAsFarAsThere ?? folder
        return [name] + MountedNames.others(of: name)
    }

    package func drive(at path: FilePath) -> DriveIdentity? {
        path.resolvedAsFarAsThere.flatMap { DriveReader.system.drive(at: $0, in: readMounts()) }
    }

    package func scan(root: FilePath, from start: FilePath, visit: (ScannedFolder) throws -> Void) throws {
        try scan(root: root, from: start, known: { _ in nil }, visit: visit)
    }

    package func scan(
        root: FilePath, from start: FilePath, known: (FilePath) -> SHA256Digest?, visit: (ScannedFolder) throws -> Void
    ) throws {
        guard let path = RelativePath(start, below: root) else {
            throw ScanError(.failed, path: start, message: "it is not below the watched folder \(root)")
        }
        guard !path.names.contains(where: \.isIgnoredFolder) else { return }
        let handle: DirectoryHandle
        do throws(Errno) {
            handle = try DirectoryHandle(root: root, descending: path)
        } catch {
            throw ScanError(error, opening: start)
        }
        var digest = FolderDigest()
        try FolderWalk.run(from: handle, at: path) { visited in
            let place = visited.path.filePath
            var contents = FolderContents(root: root)
            var folder = ScannedFolder(path: place, files: [])
            do throws(Errno) {
                try contents.read(visited.folder.get(), &digest, known: known(place))
            } catch {
                let reason = ScanError(error, opening: visited.path.filePath(below: root))
                if visited.depth == 0 { throw reason }
                // A folder that went away since its parent was read is no error: the parent's next scan shows it.
                if error != .noSuchFileOrDirectory {
                    folder.error = reason
                    try visit(folder)
                }
                return []
            }
            (folder.files, folder.others) = (contents.files, contents.others)
            (folder.digest, folder.isUnchanged) = (contents.digest, contents.isUnchanged)
            try visit(folder)
            return contents.folders
        }
    }

    package func stamp(of file: FilePath) throws(ScanError) -> FileStamp? {
        do throws(Errno) {
            let status = try FileStatus(at: file)
            return status.kind == .file ? status.stamp : nil
        } catch {
            if error.isMissing { return nil }
            throw ScanError(error, opening: file)
        }
    }

    package func isThere(_ path: FilePath) -> Bool {
        do throws(Errno) {
            _ = try FileStatus(at: path)
            return true
        } catch {
            return !error.isMissing
        }
    }

    package func holdsPicture(_ file: FilePath) -> Bool { OtherEntry.holdsPicture(file) }
    package func holdsPictures(_ folder: FilePath) -> Bool { OtherEntry.holdsPictures(folder) }

    package func isBeingWritten(_ file: FilePath) -> Bool {
        WriteLease.isRefused(for: file)
    }
}

/// What one folder holds.
private struct FolderContents {
    let root: FilePath
    var files: [ScannedFile] = []
    var folders: [EntryName] = []
    var others: [ScannedOther] = []
    var digest: SHA256Digest?
    var isUnchanged = false

    /// - Parameter known: the digest by which nothing has to be looked at.
    mutating func read(
        _ handle: DirectoryHandle, _ digest: inout FolderDigest, known: SHA256Digest?
    ) throws(Errno) {
        if let known {
            digest.begin()
            folders = try digest.add(contentsOf: handle)
            self.digest = digest.finish()
            if self.digest == known {
                isUnchanged = true
                return
            }
            folders = []
        }
        digest.begin()
        try read(handle, &digest)
        self.digest = digest.finish()
    }

    private mutating func read(_ handle: DirectoryHandle, _ digest: inout FolderDigest) throws(Errno) {
        try handle.forEachEntry { name, kind throws(Errno) in
            let text = String(cString: name)
            let isIgnored = kind == .folder ? IgnoredNames.containsFolder(text) : IgnoredNames.contains(text)
            if kind == .folder { digest.add(folder: name) }
            guard kind != .other, !isIgnored else {
                if kind == .file, let status = try handle.status(of: name), status.kind == .file {
                    digest.add(file: name, status.stamp)
                } else if kind != .folder || !IgnoredNames.areByproducts(text) {
                    digest.giveUp()
                }
                if let other = OtherEntry.scan(name, kind, in: handle, below: root) { others.append(other) }
                return
            }
            if kind == .folder {
                folders.append(EntryName(name))
                return
            }
            guard let status = try handle.status(of: name) else { return digest.giveUp() }
            if kind == .file, status.kind == .file { digest.add(file: name, status.stamp) } else { digest.giveUp() }
            if status.kind == .file, let component = FilePath.Component(platformString: name) {
                files.append(ScannedFile(name: component, stamp: status.stamp))
            } else if kind == .unknown, status.kind == .folder, !IgnoredNames.containsFolder(text) {
                folders.append(EntryName(name))
            }
        }
    }
}

/// Entries of a watched folder that are never stored, and that somebody may take for photos.
enum OtherEntry {
    private static let headSize = 32
    /// Entries of a folder and below it that are looked at for a picture.
    private static let mostEntries = 1_000

    /// - Parameter name: one of ``IgnoredNames``, or that of what is neither file nor folder.
    /// - Returns: `nil` for what nobody takes for a photo.
    static func scan(
        _ name: UnsafePointer<CChar>, _ kind: DirectoryHandle.EntryKind, in folder: DirectoryHandle,
        below root: FilePath
    ) -> ScannedOther? {
        switch kind {
        case .folder: return ignoredFolder(name)
        case .unknown:
            // The file system does not tell with the name what it is.
            guard let status = try? folder.status(of: name) else { return nil }
            return switch status.kind {
            case .folder: ignoredFolder(name)
            case .file: scan(name, .file, in: folder, below: root)
            case .link, .other: nil
            }
        case .file:
            // What this program leaves while it works is not somebody's photo. Nothing else of ours is a picture: another name
            // with ours in it is a person's.
            guard let component = FilePath.Component(platformString: name), !NewFile.isHidden(component),
                let status = try? folder.status(of: name), status.kind == .file, status.stamp.size > 0
            else { return nil }
            return ScannedOther(name: component, kind: .ignoredName(status.stamp))
        case .other:
            guard let status = try? folder.status(of: name), status.kind == .link,
                let component = FilePath.Component(platformString: name),
                let found = linkKind(name, component, in: folder, below: root)
            else { return nil }
            return ScannedOther(name: component, kind: found)
        }
    }

    private static func ignoredFolder(_ name: UnsafePointer<CChar>) -> ScannedOther? {
        guard !IgnoredNames.areByproducts(String(cString: name)) else { return nil }
        return FilePath.Component(platformString: name).map { ScannedOther(name: $0, kind: .ignoredFolder) }
    }

    /// What a link counts as that leads to a folder, to a picture or film, or by its name to events, and that is not
    /// below the root under a name of its own; `nil` for any other.
    private static func linkKind(
        _ name: UnsafePointer<CChar>, _ component: FilePath.Component, in folder: DirectoryHandle, below root: FilePath
    ) -> ScannedOther.Kind? {
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
        guard let descriptor = try? Errno.calling({ openat(folder.descriptor, name, flags) }) else { return nil }
        defer { close(descriptor) }
        guard let target = try? FileStatus(ofDescriptor: descriptor).kind else { return nil }
        let kind: ScannedOther.Kind
        if target == .folder || target == .file && isPicture(descriptor) {
            kind = .link
        } else if target == .file, component.isOfEvents {
            kind = .linkedEvents
        } else {
            return nil
        }
        guard let path = FilePath("/proc/self/fd/\(descriptor)").resolved else { return kind }
        return path.starts(with: root.resolved ?? root) ? nil : kind
    }

    static func holdsPictures(_ folder: FilePath) -> Bool {
        guard let handle = try? DirectoryHandle(root: folder) else { return false }
        var (left, isFound) = (mostEntries, false)
        FolderWalk.run(from: handle, at: RelativePath()) { visit in
            guard !isFound, left > 0, case .success(let open) = visit.folder else { return [] }
            var folders: [EntryName] = []
            try? open.forEachEntry { name, kind throws(Errno) in
                left -= 1
                guard !isFound, left > 0 else { return }
                switch kind {
                case .folder where !IgnoredNames.areByproducts(String(cString: name)): folders.append(EntryName(name))
                case .file, .unknown: isFound = holdsPicture(name, in: open.descriptor)
                case .folder, .other: break
                }
            }
            return isFound ? [] : folders
        }
        return isFound
    }

    private static func holdsPicture(_ name: UnsafePointer<CChar>, in folder: Int32) -> Bool {
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY
        guard let descriptor = try? Errno.calling({ openat(folder, name, flags) }) else { return false }
        defer { close(descriptor) }
        return isPicture(descriptor)
    }

    static func holdsPicture(_ file: FilePath) -> Bool {
        file.withPlatformString { holdsPicture($0, in: AT_FDCWD) }
    }

    private static func isPicture(_ descriptor: Int32) -> Bool {
        var head = [UInt8](repeating: 0, count: headSize)
        let count = head.withUnsafeMutableBytes { try? FileDescriptor(rawValue: descriptor).read(at: 0, into: $0) }
        return ImageTrace.isPicture(Array(head.prefix(count ?? 0)))
    }
}

extension ScanError {
    /// What an errno of openat(2), readdir(3) or fstatat(2) means for whoever asked for `path`.
    init(_ reason: Errno, opening path: FilePath) {
        switch reason {
        case .noSuchFileOrDirectory:
            self.init(.missing, path: path, message: "it is not there; is the drive plugged in and mounted?")
        case .notDirectory, .tooManySymbolicLinkLevels:
            self.init(
                .missing, path: path, message: "it is not a folder; links inside a watched folder are not followed")
        case .permissionDenied, .notPermitted:
            self.init(
                .denied, path: path,
                message: "\(reason.description); the agent's user needs permission to read and enter it (chmod u+rx)"
            )
        case .tooManyOpenFiles, .tooManyOpenFilesInSystem:
            self.init(.failed, path: path, message: "\(reason.description); raise the limit of open files (ulimit -n)")
        case .ioError:
            self.init(
                .failed, path: path, message: "\(reason.description); the drive may be failing: see the kernel's log"
            )
        case .fileNameTooLong:
            self.init(.failed, path: path, message: "\(FileFault.pathTooLong); give its folders shorter names")
        case .staleNFSFileHandle:
            self.init(.failed, path: path, message: "\(reason.description); mount the network folder again")
        default:
            self.init(.failed, path: path, message: "cannot be read: \(reason.description)")
        }
    }
}
