import SyncCore
import SyncSystem
import SystemPackage

/// The file that a contact sheet becomes: whole or not at all, and never in the place of another one that was not to go.
struct SheetFile {
    let path: FilePath
    let overwrites: Bool

    /// - Throws: ``CommandFailure`` when something has the name and is not to be replaced.
    init(_ path: FilePath, overwrites: Bool) throws {
        self.path = path
        self.overwrites = overwrites
        guard let status = try? FileStatus(at: path) else { return }
        if status.kind == .folder {
            throw CommandFailure(.failed, "\(path.string.escapingControls) is a folder; name a file")
        }
        if !overwrites { throw isTaken }
    }

    /// - Throws: ``CommandFailure``.
    func write(_ text: String) throws {
        do {
            // As the person's umask wants it.
            let isWritten = try NewFile.save(
                text.utf8, to: path, permissions: FilePermissions(rawValue: 0o666), overwrites: overwrites)
            if !isWritten { throw isTaken }
        } catch Errno.wouldBlock {
            throw CommandFailure(
                .failed, "\(path.string.escapingControls) is being written already; wait for it, or name another file")
        } catch let error as Errno {
            throw CommandFailure(
                error == .permissionDenied || error == .readOnlyFileSystem ? .refused : .failed,
                "\(path.string.escapingControls): cannot be written: "
                    + FileFault(error, or: "name another file").message)
        }
    }

    private var isTaken: CommandFailure {
        CommandFailure(.failed, "\(path.string.escapingControls) is there already; name another file, or use --force")
    }
}
