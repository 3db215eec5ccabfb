import Glibc
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
        var status = stat()
        guard lstat(path.string, &status) == 0 else { return }
        if status.st_mode & S_IFMT == S_IFDIR {
            throw CommandFailure(.failed, "\(path.string.escapingControls) is a folder; name a file")
        }
        if !overwrites { throw isTaken }
    }

    /// - Throws: ``CommandFailure``.
    func write(_ text: String) throws {
        do {
            let part = path.removingLastComponent().appending(
                ".sync-agent-\(String(UInt64.random(in: .min ... .max), radix: 16)).part")
            // As the person's umask wants it.
            let file = try FileDescriptor.open(
                part, .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec],
                permissions: [.ownerReadWrite, .groupReadWrite, .otherReadWrite])
            defer { unlink(part.string) }
            try file.closeAfter {
                _ = try file.writeAll(text.utf8)
                try file.sync()
            }
            try place(part)
            try Folder.sync(path.removingLastComponent())
        } catch let error as Errno {
            throw CommandFailure(
                error == .permissionDenied || error == .readOnlyFileSystem ? .refused : .failed,
                "\(path.string.escapingControls): cannot be written: \(error.description.lowercased())")
        }
    }

    private func place(_ part: FilePath) throws {
        // link(2) takes a name only where nothing has it; some file systems do not know it.
        if !overwrites, link(part.string, path.string) == 0 { return }
        if !overwrites, access(path.string, F_OK) == 0 { throw isTaken }
        guard rename(part.string, path.string) == 0 else { throw Errno(rawValue: errno) }
    }

    private var isTaken: CommandFailure {
        CommandFailure(.failed, "\(path.string.escapingControls) is there already; name another file, or use --force")
    }
}
