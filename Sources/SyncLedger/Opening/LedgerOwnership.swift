import Glibc
import SyncCore
import SyncSystem
import SystemPackage

/// Who else can write to the ledger, or put another file in its place: whoever can decides what is called safe, and which
/// files the agent writes. What is ours is tightened; what is another's is refused.
enum LedgerOwnership {
    /// The folder that the ledger lies in. One that only lets others look in is left as its owner made it.
    static func secure(folder: FilePath, of path: FilePath) throws(LedgerError) {
        guard let status = status(of: folder) else { return }
        let isOurs = status.user == geteuid()
        if isOurs, status.permissions.rawValue & 0o022 != 0 {
            guard folder.withPlatformString({ chmod($0, 0o700) }) == 0 else {
                throw refusal(path, "others can write to \(folder.string.escapingControls); chmod it to 0700")
            }
        } else if !isOurs, status.permissions.rawValue & 0o002 != 0 {
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
            guard status.user == geteuid() || !isForeign(status) else {
                throw refusal(
                    path,
                    "\(file.string.escapingControls) belongs to \(owner(status)); run it as that user, or move it away: "
                        + "the next pass finds again what is stored")
            }
            guard status.permissions.rawValue & 0o077 != 0, status.user == geteuid() else { continue }
            // By its name: to open and close a database of SQLite would drop the locks of this process.
            guard file.withPlatformString({ chmod($0, 0o600) }) == 0 else {
                throw refusal(path, "others can read or write \(file.string.escapingControls); chmod it to 0600")
            }
        }
    }

    /// Of another user, who is not root. Root itself may use what it likes.
    private static func isForeign(_ status: FileStatus) -> Bool { status.user != 0 && geteuid() != 0 }

    private static func status(of path: FilePath) -> FileStatus? {
        try? FileStatus(at: path, followsLinks: true)
    }

    private static func owner(_ status: FileStatus) -> String { "another user (uid \(status.user))" }

    private static func refusal(_ path: FilePath, _ message: String) -> LedgerError {
        LedgerError(.readOnly, operation: "open", path: path, message: message)
    }
}
