import SyncCore
package import SyncLedger
import SyncSystem
package import SystemPackage

/// The folder that a restore job saves its photos in. A hidden file of the job's own, which is there before the first photo
/// gets its name, tells it from what has its path meanwhile: the place where a drive was mounted, or another drive. Device and
/// inode do not: two sticks have the same, one after the other, and one that is mounted anew gets others. All functions block.
package struct RestoreFolder: Hashable, Sendable {
    /// Of folders that are made for photos.
    static let permissions: FilePermissions = [.ownerReadWriteExecute, .groupReadExecute, .otherReadExecute]

    package let path: FilePath
    private let job: RestoreJobID
    private let mark: FilePath.Component

    package init(at path: FilePath, of job: RestoreJobID, mark: FilePath.Component) {
        self.path = path
        self.job = job
        self.mark = mark
    }

    /// Whether the path leads to it.
    /// - Throws: `Errno` when nobody can tell.
    func isInPlace() throws(Errno) -> Bool {
        do {
            return try FileStatus(at: path.appending(mark)).kind == .file
        } catch {
            guard error.isMissing else { throw error }
            return false
        }
    }

    /// Sees to it that nothing is saved into another folder.
    /// - Throws: ``DownloadError`` of the file that was to be saved.
    func require(for destination: FilePath) throws(DownloadError) {
        let isInPlace: Bool
        do {
            isInPlace = try self.isInPlace()
        } catch {
            throw DownloadError(error.isRefusal ? .notAllowed : .ioFailed, destination, refusal(error))
        }
        if !isInPlace { throw DownloadError(.folderAway, destination, absence) }
    }

    /// Makes the folder where it is not there, and puts the file into it, both on the disk for good.
    /// - Throws: ``FolderError``, `Errno`.
    func take() throws {
        try Folder.make(path, permissions: Self.permissions)
        do {
            let text = "Restore \(job) of sync-agent saves its photos here. This file goes when all are saved.\n"
            try NewFile.make(
                text.utf8, at: path.appending(mark), permissions: [.ownerReadWrite, .groupRead, .otherRead])
        } catch Errno.fileExists {
            // That of another process which is at the same job, or was killed before it noted it.
        }
        try Folder.sync(path)
    }

    /// Sees whether files can be put into a folder: on a full disk, one without a byte can.
    static func probe(_ folder: FilePath) throws {
        let name = String(UInt64.random(in: .min ... .max), radix: 16)
        let file = folder.pushing(FilePath(".sync-agent-probe-\(name)"))
        defer { _ = try? file.unlink() }
        try NewFile.make([UInt8](repeating: 0, count: 4_096), at: file, permissions: .ownerReadWrite)
    }

    /// Takes the file away that was just put.
    func leave() {
        _ = try? path.appending(mark).unlink()
    }

    /// Why nothing is saved where the folder is not.
    var absence: String {
        "\(path.string.escapingControls) is not the folder that the job saves in: its drive is not mounted, or it was moved or "
            + "emptied (\(mark)). Mount the drive again, and the job goes on; else end it (sync-agent restores "
            + "\(job) --stop-saving), and restore into another folder (--output)"
    }

    /// Why nobody can tell whether the folder is there, or nothing can be put into it.
    func refusal(_ errno: Errno) -> String {
        let other = "restore into another folder (--output)"
        if errno.isRefusal, let folder = path.unreadableFolder {
            return "\(folder.string.escapingControls) may not be read and entered; allow it (chmod u+rx), or \(other)"
        }
        return "\(path.string.escapingControls): \(FileFault(errno, or: other).message)"
    }
}
