import SyncSystem
import SystemPackage

/// Makes the folders and the file that `init` promises. It never changes what is there.
struct FolderMaker {
    /// Of a watched folder.
    static let watched = FilePermissions.ownerReadWriteExecute.union([.groupReadExecute, .otherReadExecute])

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

    /// Makes a folder for what a person wants saved there.
    /// - Throws: ``CommandFailure`` for the folders of this program; ``FolderError``.
    // Swift 6.3.1 crashes where it optimises an async function with this in it.
    @inline(never)
    func makeOutput(_ path: FilePath, _ installation: Installation) throws {
        try OutputPlace.checkAgain(path, installation)
        try Folder.make(path, permissions: .readableFolder)
    }

    /// Makes folders, and then a file that must not exist yet, readable for its owner only: all of it, or nothing. The
    /// folders that were made are removed again when something cannot be made.
    /// - Throws: ``FolderError``; ``CommandFailure`` that names the file and says what to do.
    func makeAll(_ folders: [(path: FilePath, permissions: FilePermissions)], _ text: String, at file: FilePath) throws
    {
        try requireFree(file)
        var made: [FilePath] = []
        do {
            for folder in folders + [(file.removingLastComponent(), .ownerReadWriteExecute)] {
                made += try Folder.make(folder.path, permissions: folder.permissions)
            }
            try write(text, to: file)
        } catch {
            // What somebody has put something into meanwhile is not empty, and stays.
            for folder in made.reversed() { try? folder.removeFolder() }
            throw error
        }
    }

    /// - Throws: ``CommandFailure`` when there is something.
    func requireFree(_ file: FilePath) throws {
        if let status = try? FileStatus(at: file) { throw Self.isTaken(file, by: status) }
    }

    private func write(_ text: String, to path: FilePath) throws {
        do {
            let isWritten = try NewFile.save(text.utf8, to: path, permissions: .ownerReadWrite, overwrites: false)
            if !isWritten { throw Errno.fileExists }
        } catch Errno.fileExists {
            throw Self.isTaken(path, by: try? FileStatus(at: path))
        } catch let error as Errno {
            throw CommandFailure(error, at: "\(path.string): cannot be made", or: "name another file with --config")
        }
    }

    private static func isTaken(_ path: FilePath, by status: FileStatus?) -> CommandFailure {
        CommandFailure.configuration(
            status?.kind == .folder
                ? "\(path.string) is a folder; name a file in it with --config"
                : "\(path.string) exists already and was left as it is; edit it, or name another file with --config")
    }
}
