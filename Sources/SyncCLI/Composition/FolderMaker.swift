import Glibc
import SyncSystem
import SystemPackage

/// Makes the folders and the file that `init` promises. It never changes what is there.
struct FolderMaker {
    /// What stands in the way of a folder: the first thing on the way to it that is there and is no folder.
    func obstacle(to path: FilePath) -> FilePath? {
        var place = path
        while !place.components.isEmpty {
            var status = stat()
            if stat(place.string, &status) == 0 { return status.st_mode & S_IFMT == S_IFDIR ? nil : place }
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
            let file = try FileDescriptor.open(
                path, .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec], permissions: .ownerReadWrite)
            do {
                _ = try file.closeAfter { try file.writeAll(text.utf8) }
            } catch {
                unlink(path.string)
                throw error
            }
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
