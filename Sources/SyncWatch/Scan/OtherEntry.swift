import Glibc
import SyncCore
import SyncSystem
import SystemPackage

/// Entries of a watched folder that are never stored, and that somebody may take for photos.
enum OtherEntry {
    private static let headSize = 32
    /// Entries of a folder and below it that are looked at for a picture.
    private static let mostEntries = 1_000

    /// - Parameter name: one of ``IgnoredNames``, or that of what is neither file nor folder.
    /// - Returns: `nil` for what nobody takes for a photo.
    static func look(
        at name: UnsafePointer<CChar>, _ kind: DirectoryHandle.EntryKind, in folder: DirectoryHandle,
        below root: FilePath
    ) -> ScannedOther? {
        switch kind {
        case .folder: return ignoredFolder(name)
        case .unknown:
            // The file system does not tell with the name what it is.
            guard let status = try? folder.status(of: name) else { return nil }
            return switch status.kind {
            case .folder: ignoredFolder(name)
            case .file: look(at: name, .file, in: folder, below: root)
            case .link, .other: nil
            }
        case .file:
            // What this program leaves while it works is not somebody's photo.
            guard !String(cString: name).contains("sync-agent"),
                let status = try? folder.status(of: name), status.kind == .file, status.stamp.size > 0
            else { return nil }
            return FilePath.Component(platformString: name).map {
                ScannedOther(name: $0, kind: .ignoredName(status.stamp))
            }
        case .other:
            guard let status = try? folder.status(of: name), status.kind == .link,
                leadsToPictures(name, in: folder, below: root)
            else { return nil }
            return FilePath.Component(platformString: name).map { ScannedOther(name: $0, kind: .link) }
        }
    }

    private static func ignoredFolder(_ name: UnsafePointer<CChar>) -> ScannedOther? {
        guard !IgnoredNames.areByproducts(String(cString: name)) else { return nil }
        return FilePath.Component(platformString: name).map { ScannedOther(name: $0, kind: .ignoredFolder) }
    }

    /// Whether a link leads to a folder, or to a picture or film, that is not below the root under a name of its own.
    private static func leadsToPictures(
        _ name: UnsafePointer<CChar>, in folder: DirectoryHandle, below root: FilePath
    ) -> Bool {
        let descriptor = openat(folder.descriptor, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        guard let kind = try? FileStatus(ofDescriptor: descriptor).kind,
            kind == .folder || kind == .file && isPicture(descriptor)
        else { return false }
        guard let target = realpath("/proc/self/fd/\(descriptor)", nil) else { return true }
        defer { free(target) }
        return !FilePath(platformString: target).starts(with: root.resolved)
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
        let descriptor = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return isPicture(descriptor)
    }

    static func holdsPicture(_ file: FilePath) -> Bool {
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY
        let descriptor = file.withPlatformString { open($0, flags) }
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return isPicture(descriptor)
    }

    private static func isPicture(_ descriptor: Int32) -> Bool {
        var head = [UInt8](repeating: 0, count: headSize)
        let count = pread(descriptor, &head, headSize, 0)
        return count > 0 && ImageTrace.isPicture(Array(head.prefix(count)))
    }
}
