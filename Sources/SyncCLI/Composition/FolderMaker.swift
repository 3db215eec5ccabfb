import SyncSystem
import SystemPackage

/// Makes the folders and the file that `init` promises. It never changes what is there.
struct FolderMaker {
    /// What stands in the way of a folder: the first thing on the way to it that is there and is no folder.
    func obstacle(to path: FilePath) -> FilePath? {
        var place = path
        while !place.components.isEmpty {
            if let status = try? FileStatus(at: place, followsLinks: true) {
                return status.kind == .folder ? nil : place
            }
            place.removeLastComponent()
        }
        return nil
    }

    /// Makes a folder and those above it.
    /// - Throws: ``FolderError``.
    func makeFolder(_ path: FilePath, permissions: FilePermissions) throws {
        try Folder.make(path, permissions: permissions)
    }

    /// Writes a file that must not exist yet, readable for its owner only.
    /// - Throws: ``CommandFailure`` that names the file and says what to do.
    func writeNew(_ text: String, to path: FilePath) throws {
        try makeFolder(path.removingLastComponent(), permissions: .ownerReadWriteExecute)
        do {
            try NewFile.make(text.utf8, at: path)
        } catch Errno.fileExists {
            throw CommandFailure(
                .configuration,
                "\(path.string) exists already and was left as it is; edit it, or name another file with --config")
        } catch let error as Errno {
            throw Self.failure(error, path)
        }
    }

    private static func failure(_ error: Errno, _ path: FilePath) -> CommandFailure {
        let isRefusal = error == .permissionDenied || error == .notPermitted || error == .readOnlyFileSystem
        return CommandFailure(
            isRefusal ? .refused : .failed, "\(path.string): cannot be made: \(error.description.lowercased())")
    }
}
