import Glibc
import SyncCore
import SystemPackage

/// Who else can write to the ledger, or put another file in its place: whoever can decides what is called safe, and which
/// files the agent writes. What is ours is tightened; what is another's is refused.
enum LedgerOwnership {
    /// The folder that the ledger lies in. One that only lets others look in is left as its owner made it.
    static func secure(folder: FilePath, of path: FilePath) throws(LedgerError) {
        guard let status = status(of: folder) else { return }
        let isOurs = status.st_uid == geteuid()
        if isOurs, status.st_mode & 0o022 != 0 {
            guard folder.withPlatformString({ chmod($0, 0o700) }) == 0 else {
                throw refusal(path, "others can write to \(folder.string.escapingControls); chmod it to 0700")
            }
        } else if !isOurs, status.st_mode & 0o002 != 0 {
            throw refusal(
                path,
                "everybody can write to \(folder.string.escapingControls), which belongs to \(owner(status)); "
                    + "give a state folder of your own, mode 0700 (XDG_STATE_HOME)")
        } else if !isOurs, isForeign(status) {
            throw refusal(
                path,
                "\(folder.string.escapingControls) belongs to \(owner(status)); run it as that user, or give a state "
                    + "folder of your own (XDG_STATE_HOME)")
        }
    }

    /// The ledger, and what SQLite keeps beside it.
    static func secure(files path: FilePath) throws(LedgerError) {
        for suffix in ["", "-wal", "-shm"] {
            let file = FilePath(path.string + suffix)
            guard let status = status(of: file) else { continue }
            guard status.st_uid == geteuid() || !isForeign(status) else {
                throw refusal(
                    path,
                    "\(file.string.escapingControls) belongs to \(owner(status)); run it as that user, or move it away: "
                        + "the next pass finds again what is stored")
            }
            guard status.st_mode & 0o077 != 0, status.st_uid == geteuid() else { continue }
            // By its name: to open and close a database of SQLite would drop the locks of this process.
            guard file.withPlatformString({ chmod($0, 0o600) }) == 0 else {
                throw refusal(path, "others can read or write \(file.string.escapingControls); chmod it to 0600")
            }
        }
    }

    /// Of another user, who is not root. Root itself may use what it likes.
    private static func isForeign(_ status: stat) -> Bool { status.st_uid != 0 && geteuid() != 0 }

    private static func status(of path: FilePath) -> stat? {
        var status = stat()
        return stat(path.string, &status) == 0 ? status : nil
    }

    private static func owner(_ status: stat) -> String { "another user (uid \(status.st_uid))" }

    private static func refusal(_ path: FilePath, _ message: String) -> LedgerError {
        LedgerError(.readOnly, operation: "open", path: path, message: message)
    }
}
