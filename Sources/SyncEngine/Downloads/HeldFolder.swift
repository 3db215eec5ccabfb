import SyncSystem
import SystemPackage

/// A folder that is held open while files are saved into it. A drive that was mounted there and is taken away leaves
/// another folder under its name: that one gets none of them.
final class HeldFolder: Sendable {
    /// Leads to the folder as long as this lives, whatever has its name.
    let held: FilePath
    /// For people.
    private let path: FilePath
    private let descriptor: FileDescriptor

    /// - Throws: ``DownloadError``.
    init(_ path: FilePath) throws(DownloadError) {
        do {
            descriptor = try FileDescriptor.opened(path, .readOnly, [.directory, .closeOnExec])
        } catch {
            throw DownloadError(error, path)
        }
        self.path = path
        held = descriptor.heldPath(else: path)
    }

    deinit {
        try? descriptor.close()
    }

    /// An error of a file in it, with the folder under the name that people know.
    func told(_ error: any Error) -> any Error { DownloadError.told(error, of: path, heldAs: held) }
}

extension DownloadError {
    /// An error of a file in a folder that is held open, with the folder under the name that people know.
    static func told(_ error: any Error, of folder: FilePath, heldAs held: FilePath) -> any Error {
        guard var error = error as? DownloadError, error.path.removePrefix(held) else { return error }
        error.path = folder.pushing(error.path)
        return error
    }
}
