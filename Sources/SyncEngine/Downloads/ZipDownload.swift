import FoundationEssentials
import SyncCore
import SyncSystem
import SystemPackage

/// Puts objects into a ZIP file, one after the other. Each is a file for a moment, proven before a byte of it goes into the
/// archive, so that a cut connection costs no archive, and memory is one buffer whatever the object's size.
struct ZipDownload: Sendable {
    /// Bytes of the archive's name in that of the scratch folder.
    private static let longestName = 200

    private let archive: any ZipWriter
    private let download: ObjectDownload
    private let path: FilePath
    private let scratch: FilePath
    private let pool: BlockingPool

    /// - Parameter path: of the archive. Its own lock keeps two processes out of the scratch folder beside it, which is made
    ///   anew: what a killed process left there goes away.
    /// - Throws: ``DownloadError``, `CancellationError`.
    init(
        from store: any ObjectSource, into archive: any ZipWriter, at path: FilePath, pool: BlockingPool,
        time: TimeSource
    ) async throws {
        self.archive = archive
        self.path = path
        // A text, since what removes the folder takes one.
        var name = path.lastComponent?.text ?? ""
        while name.utf8.count > Self.longestName { name.removeLast() }
        let scratch = path.removingLastComponent().appending(".\(name).sync-agent-scratch")
        self.scratch = scratch
        self.pool = pool
        download = ObjectDownload(store: store, pool: pool, time: time)
        try await pool.run {
            try? FileManager.default.removeItem(atPath: scratch.string)
            do throws(Errno) {
                try scratch.makeFolder(.ownerReadWriteExecute)
            } catch {
                throw Self.failure(error, path)
            }
        }
    }

    /// - Throws: ``StoreError``, ``DownloadError``, ``ZipError``, `CancellationError`.
    func add(_ key: ObjectKey, as name: String, sha256: SHA256Digest?, modified: Date) async throws -> DownloadOutcome {
        // A name of its own: a part that was left behind is never gone on from for another object.
        guard let component = FilePath.Component(String(UInt64.random(in: .min ... .max), radix: 16)) else {
            preconditionFailure("digits make a name")
        }
        let task = DownloadTask(key: key, folder: scratch, name: component, sha256: sha256)
        let file = task.destination
        do {
            let outcome = try await download.run(task)
            try await pool.run { [archive] in
                defer { _ = try? file.unlink() }
                let size = try FileStatus(at: file).stamp.size
                try archive.add(ZipEntry(name: name, size: size, modified: modified), from: file)
            }
            return outcome
        } catch let error as Errno {
            throw Self.failure(error, path)
        } catch var error as DownloadError {
            // Nobody but us knows the scratch folder.
            error.path = path
            throw error
        } catch var error as ZipError where error.name == file.string {
            error.name = "\(path), \(name)"
            throw error
        }
    }

    private static func failure(_ errno: Errno, _ path: FilePath) -> DownloadError {
        DownloadError(errno, path, or: "write the archive to another disk")
    }

    /// Removes the scratch folder, also when the task was cancelled.
    func cleanUp() async {
        let scratch = scratch
        await pool.finish { try? FileManager.default.removeItem(atPath: scratch.string) }
    }
}
