import GRDB
import Glibc
import SyncCore
import SyncSystem
import SystemPackage

/// The file on the disk, before SQLite opens it.
enum LedgerFile {
    /// What SQLite keeps beside a file: where that itself lies, wherever links to it are
    /// (https://www.sqlite.org/wal.html, "The WAL File").
    static func log(of path: FilePath) -> FilePath { beside(path, "-wal") }

    private static func beside(_ path: FilePath, _ suffix: String) -> FilePath {
        FilePath((path.resolved ?? path).string + suffix)
    }

    /// A file, and what SQLite keeps beside it.
    fileprivate static func all(of path: FilePath) -> [FilePath] { [path, beside(path, "-wal"), beside(path, "-shm")] }

    /// Makes the folders above `path` that are missing (0700), and the file itself (0600). SQLite gives the files that
    /// it puts beside it the same mode.
    static func prepare(_ path: FilePath) throws(LedgerError) {
        try makeFolder(path.containingFolder, for: path)
        try LedgerOwnership.secure(folder: folder(of: path), of: path)
        try checkFolder(of: path, rights: .execute, "cannot be entered")
        do {
            // Never opened when it is there already: to close a descriptor of the database drops the locks of every
            // other connection in this process (fcntl(2), "Record locking"; sqlite.org/howtocorrupt.html, 2.2).
            try FileDescriptor.open(
                path, .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec], permissions: [.ownerReadWrite]
            ).close()
        } catch let error as Errno {
            if error.isRefusal { try checkFolder(of: path, rights: [.write, .execute], "cannot be written") }
            if error != .fileExists { throw failure(error, "the file cannot be made", path) }
        } catch {
            throw LedgerError(error, operation: "open", path: path)
        }
        try LedgerOwnership.secure(files: path)
        // SQLite says the same of a file that it may not read and of a log that it may not write: asked here, the answer
        // has a reason.
        try check(path, rights: .read, "the file cannot be read")
        try check(path, rights: .write, "the file cannot be written")
        try checkFolder(of: path, rights: [.write, .execute], "cannot be written")
    }

    private static func folder(of path: FilePath) -> FilePath {
        let folder = path.containingFolder
        return folder.isEmpty ? "." : folder
    }

    private static func check(_ path: FilePath, rights: AccessRights, _ what: String) throws(LedgerError) {
        do {
            try path.requireAccess(rights)
        } catch let reason {
            if reason == .noSuchFileOrDirectory, (try? FileStatus(at: path))?.kind == .link {
                throw LedgerError(
                    code: .unreadable, operation: "open", path: path,
                    message: "it is a link that leads nowhere; mount the drive that it leads to, or remove the link: "
                        + "the next pass finds again what is stored")
            }
            var error = failure(reason, what, path)
            if rights == .read { error.code = error.code == .readOnly ? .notAllowed : .unreadable }
            throw error
        }
    }

    private static func checkFolder(of path: FilePath, rights: AccessRights, _ what: String) throws(LedgerError) {
        let folder = folder(of: path)
        // Of a file in its place, what is tried next says that it is one.
        if (try? FileStatus(at: folder, followsLinks: true))?.kind == .file { return }
        do {
            try folder.requireAccess(rights)
        } catch let reason {
            throw folderFailure(reason, "its folder \(folder.string.escapingControls) \(what)", path)
        }
    }

    /// Of the folder, whose owner and mode are not those of the ledger.
    static func folderFailure(_ error: Errno, _ what: String, _ path: FilePath) -> LedgerError {
        failure(
            error, what, path,
            ofRefusal: "make it this user's (chown) with mode 0700 (chmod), or give another state folder "
                + "(XDG_STATE_HOME)")
    }

    private static func makeFolder(_ folder: FilePath, for path: FilePath) throws(LedgerError) {
        if (try? FileStatus(at: self.folder(of: path), followsLinks: true)) != nil { return }
        do {
            try Folder.make(folder, permissions: .ownerReadWriteExecute)
        } catch {
            let code: LedgerError.Code =
                switch error.code {
                case .readOnly, .notAllowed: .readOnly
                case .noSpace: .noSpace
                default: .unreadable
                }
            throw LedgerError(code: code, operation: "open", path: path, message: "\(error)")
        }
    }

    private static func failure(
        _ error: Errno, _ what: String, _ path: FilePath,
        ofRefusal: String = "check its owner and mode, or give another state folder"
    ) -> LedgerError {
        let (code, remedy): (LedgerError.Code, String) =
            switch error {
            case .readOnlyFileSystem: (.readOnly, "mount it writable, or give another state folder")
            case .permissionDenied, .notPermitted: (.readOnly, ofRefusal)
            case .noSpace, .diskQuotaExceeded: (.noSpace, "free some space")
            case .notDirectory: (.unreadable, "a part of its path is a file; give another state folder")
            default: (.unreadable, "check the path")
            }
        return LedgerError(
            code: code, operation: "open", path: path, message: "\(what): \(error.description); \(remedy)")
    }
}

extension Ledger {
    /// A copy in memory, as of this moment: what is written to it is never kept. For dry runs.
    ///
    /// It takes about 300 bytes of memory for each photo.
    package func copyInMemory() throws(LedgerError) -> Ledger {
        try Ledger(inMemoryAs: database, at: path, operation: "copy the ledger")
    }
}

/// Who else can write to the ledger, or put another file in its place: whoever can decides what is called safe, and which
/// files the agent writes. What is ours is tightened; what is another's is refused.
enum LedgerOwnership {
    /// The folder that the ledger lies in. One that only lets others look in is left as its owner made it.
    static func secure(folder: FilePath, of path: FilePath) throws(LedgerError) {
        guard let status = status(of: folder) else { return }
        let isOurs = status.user == geteuid()
        if isOurs, status.permissions.rawValue & 0o022 != 0 {
            guard (try? folder.setPermissions(.ownerReadWriteExecute)) != nil else {
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
        for file in LedgerFile.all(of: path) {
            guard let status = status(of: file) else { continue }
            guard status.user == geteuid() || !isForeign(status) else {
                throw refusal(
                    path,
                    "\(file.string.escapingControls) belongs to \(owner(status)); run it as that user, or move it away: "
                        + "the next pass finds again what is stored")
            }
            guard status.permissions.rawValue & 0o077 != 0, status.user == geteuid() else { continue }
            // By its name: to open and close a database of SQLite would drop the locks of this process.
            guard (try? file.setPermissions(.ownerReadWrite)) != nil else {
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
        LedgerError(code: .readOnly, operation: "open", path: path, message: message)
    }
}
