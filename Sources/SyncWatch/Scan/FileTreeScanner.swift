import Glibc
package import SyncCore
package import SystemPackage

/// The scanner for real folders.
package struct FileTreeScanner: TreeScanner {
    package init() {}

    package func scan(root: FilePath, from start: FilePath, visit: (ScannedFolder) throws -> Void) throws {
        guard let path = RelativePath(start, below: root) else {
            throw ScanError(.failed, path: start, message: "it is not below the watched folder \(root)")
        }
        guard !path.names.contains(where: \.isIgnored) else { return }
        let handle: DirectoryHandle
        do throws(Errno) {
            handle = try DirectoryHandle(root: root, descending: path)
        } catch {
            throw ScanError(error, opening: start)
        }
        try FolderWalk.run(from: handle, at: path) { folder in
            var contents = FolderContents()
            do throws(Errno) {
                try contents.read(folder.folder.get())
            } catch {
                let reason = ScanError(error, opening: folder.path.filePath(below: root))
                if folder.depth == 0 { throw reason }
                // A folder that went away since its parent was read is no error: the parent's next scan shows it.
                if error != .noSuchFileOrDirectory {
                    try visit(ScannedFolder(path: folder.path.filePath, files: [], error: reason))
                }
                return []
            }
            try visit(ScannedFolder(path: folder.path.filePath, files: contents.files))
            return contents.folders
        }
    }

    package func stamp(of file: FilePath) throws(ScanError) -> FileStamp? {
        var status = stat()
        guard file.withPlatformString({ lstat($0, &status) }) == 0 else {
            let reason = Errno(rawValue: errno)
            if reason == .noSuchFileOrDirectory || reason == .notDirectory { return nil }
            throw ScanError(reason, opening: file)
        }
        return status.isRegularFile ? FileStamp(status) : nil
    }

    package func isBeingWritten(_ file: FilePath) -> Bool {
        WriteLease.isRefused(for: file)
    }
}

/// What one folder holds.
private struct FolderContents {
    var files: [ScannedFile] = []
    var folders: [EntryName] = []

    mutating func read(_ handle: DirectoryHandle) throws(Errno) {
        try handle.forEachEntry { name, kind throws(Errno) in
            guard kind != .other, !IgnoredNames.contains(String(cString: name)) else { return }
            if kind == .folder {
                folders.append(EntryName(name))
                return
            }
            guard let status = try handle.status(of: name) else { return }
            if status.isRegularFile, let component = FilePath.Component(platformString: name) {
                files.append(ScannedFile(name: component, stamp: FileStamp(status)))
            } else if kind == .unknown, status.isFolder {
                folders.append(EntryName(name))
            }
        }
    }
}

extension stat {
    var isRegularFile: Bool { st_mode & S_IFMT == S_IFREG }
    var isFolder: Bool { st_mode & S_IFMT == S_IFDIR }
}

extension FileStamp {
    init(_ status: stat) {
        self.init(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
            // Wraps past the year 2262, and for a time that a broken camera made up: only equality counts.
            modified: Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
        )
    }
}
