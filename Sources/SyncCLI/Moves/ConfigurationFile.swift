import FoundationEssentials
import SyncConfig
import SyncCore
import SyncSystem
import SystemPackage

/// The configuration as a file that a move writes anew: through a link, where the file is.
struct ConfigurationFile {
    let path: FilePath

    init(_ location: ConfigLocation) {
        path = location.file.resolved ?? location.file
    }

    /// Found out before anything is copied: what was copied and is not used would be looked after by nobody.
    /// - Throws: ``CommandFailure``.
    func requireWritable() throws {
        do {
            try path.removingLastComponent().requireAccess([.write, .execute])
        } catch {
            throw CommandFailure.refused(
                "\(path): \(FileFault(error, or: "see that it can be written").message). Nothing was copied")
        }
    }

    /// - Throws: ``CommandFailure``.
    func write(_ text: String, mode: FilePermissions) throws {
        do {
            _ = try NewFile.save(text.utf8, to: path, permissions: mode, overwrites: true)
        } catch let error as Errno {
            throw CommandFailure(
                error, at: path.string, or: "see that it can be written",
                ". Everything is copied: run the command again, or put the new store into the configuration by hand "
                    + "and run sync-agent move-store --adopt")
        }
    }

    /// Removes what a move that was killed has left beside it: half of the new text, or the old one, which nobody asks for
    /// any more. What another process is at stays.
    func discardLeftover() {
        try? NewFile.discard(for: path)
    }
}
