import SyncCore
package import SyncLedger
import SyncSystem
package import SystemPackage

/// The folder that a restore job saves its photos in. A hidden file of the job's own, which is there before the first photo
/// gets its name, tells it from what has its path meanwhile: the place where a drive was mounted, or another drive. Device and
/// inode do not: two sticks have the same, one after the other, and one that is mounted anew gets others. All functions block.
package struct RestoreFolder: Hashable, Sendable {
    package let path: FilePath
    let job: RestoreJobID
    let mark: FilePath.Component

    /// The hidden file.
    var file: FilePath { path.appending(mark) }

    /// Whether the path leads to it.
    /// - Throws: `Errno` when nobody can tell.
    func isInPlace() throws(Errno) -> Bool {
        do {
            return try FileStatus(at: file).kind == .file
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
    /// - Throws: ``FolderError``, `Errno`: also of a disk that is full.
    func take() throws {
        try put()
        try sync()
    }

    /// Makes the folder where it is not there, and puts the file into it. Its name may be known to the memory only: see
    /// ``sync()``.
    /// - Returns: how many folders were made: it, and those above it.
    /// - Throws: ``FolderError``, `Errno`: also of a disk that is full. The file is not there then, and no folder for it.
    @discardableResult
    func put(_ calls: Folder.Calls = Folder.Calls()) throws -> Int {
        let made = try Folder.make(path, permissions: .readableFolder, calls: calls)
        do {
            try makeFile()
        } catch {
            Folder.removeEmpty(made)
            throw error
        }
        return Folder.count(of: made, upTo: path)
    }

    /// Puts the name of the file on the disk for good.
    func sync() throws(Errno) { try Folder.sync(path) }

    private func makeFile() throws {
        do {
            let text = Array(
                "Restore \(job) of sync-agent saves its photos here. This file goes when all are saved.\n".utf8)
            // A full disk may have room for a file of a few bytes.
            let block = text + [UInt8](repeating: 0, count: Self.blockLength - text.count)
            try NewFile.make(block, at: file, permissions: .readableFile) { file in
                try file.sync()
                try file.resize(to: Int64(text.count))
            }
        } catch Errno.fileExists {
            // That of another process which is at the same job, or was killed before it noted it.
        }
    }

    private static let blockLength = 4_096

    /// What became of a job's file that is to go.
    enum Removal: Sendable {
        /// It was there, and is no more.
        case done
        /// The folder does not have it.
        case unneeded
        /// It may be on a drive that is away, or its disk does not let it go.
        case pending
    }

    /// Takes the file away.
    @discardableResult
    func leave() -> Removal { Self.remove(file) }

    /// Takes a job's file away, which is in its folder.
    static func remove(_ file: FilePath) -> Removal {
        do {
            if try file.unlink() { return .done }
            return try FileStatus.find(file.removingLastComponent(), followsLinks: true) == nil ? .pending : .unneeded
        } catch {
            return .pending
        }
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

extension RestoreFolder {
    init(_ reservation: RestoreReservation) {
        self.init(path: reservation.folder, job: reservation.job, mark: reservation.mark)
    }
}
