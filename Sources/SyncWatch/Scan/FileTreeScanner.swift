package import SyncCore
import SyncSystem
package import SystemPackage

/// The scanner for real folders.
package struct FileTreeScanner: TreeScanner {
    private let mountTable: @Sendable () -> [UInt8]

    package init() {
        self.init(mountTable: WatchCalls.system.mountTable)
    }

    /// - Parameter mountTable: as `/proc/self/mountinfo` has it.
    init(mountTable: @escaping @Sendable () -> [UInt8]) {
        self.mountTable = mountTable
    }

    package func mountPoints(below root: FilePath) -> [FilePath] {
        MountPoint.below(root.resolved, in: mountTable())
    }

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
            var contents = FolderContents(root: root)
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
            try visit(
                ScannedFolder(path: folder.path.filePath, files: contents.files, others: contents.others))
            return contents.folders
        }
    }

    package func stamp(of file: FilePath) throws(ScanError) -> FileStamp? {
        do throws(Errno) {
            let status = try FileStatus(at: file)
            return status.kind == .file ? status.stamp : nil
        } catch {
            if error == .noSuchFileOrDirectory || error == .notDirectory { return nil }
            throw ScanError(error, opening: file)
        }
    }

    package func isThere(_ path: FilePath) -> Bool {
        do throws(Errno) {
            _ = try FileStatus(at: path)
            return true
        } catch {
            return error != .noSuchFileOrDirectory && error != .notDirectory
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

    init(root: FilePath) {
        self.root = root
    }

    mutating func read(_ handle: DirectoryHandle) throws(Errno) {
        try handle.forEachEntry { name, kind throws(Errno) in
            guard kind != .other, !IgnoredNames.contains(String(cString: name)) else {
                if let other = OtherEntry.look(at: name, kind, in: handle, below: root) { others.append(other) }
                return
            }
            if kind == .folder {
                folders.append(EntryName(name))
                return
            }
            guard let status = try handle.status(of: name) else { return }
            if status.kind == .file, let component = FilePath.Component(platformString: name) {
                files.append(ScannedFile(name: component, stamp: status.stamp))
            } else if kind == .unknown, status.kind == .folder {
                folders.append(EntryName(name))
            }
        }
    }
}
