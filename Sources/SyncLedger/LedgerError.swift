import GRDB
import SyncCore
package import SystemPackage

/// Why the ledger could not be opened, read or written. The one place that says what each of SQLite's codes means to us.
package struct LedgerError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Hashable, Sendable, CaseIterable {
        /// The file or a folder above it cannot be opened.
        case unreadable
        /// It may not be read: its mode, or another owner.
        case notAllowed
        /// It can be read, but not written.
        case readOnly
        /// The disk is full.
        case noSpace
        /// Not a database, or a damaged one.
        case damaged
        /// Its name leads to another file now, or to none: what is written would be lost with it.
        case moved
        /// Written by a newer version of this program.
        case newerSchema
        /// Another process kept it locked for longer than ``Ledger/busyTimeout``.
        case busy
        /// Anything else.
        case failed
    }

    package var code: Code
    /// What was being done: `open`, `commit`.
    package var operation: String
    /// The file; empty for a ledger in memory.
    package var path: FilePath
    /// The reason, with the next step. It never holds a value out of the ledger.
    package var message: String

    /// Whether it may pass while the program goes on: a full disk is given room, a drive answers again, another process
    /// is done. The one place that decides it.
    package var mayPass: Bool {
        switch code {
        case .unreadable, .notAllowed, .readOnly, .noSpace, .busy, .failed: true
        case .damaged, .moved, .newerSchema: false
        }
    }

    package var description: String {
        let name = path.isEmpty ? "in memory" : path.string.escapingControls
        return "ledger \(name): cannot \(operation): \(message)"
    }
}

extension LedgerError {
    /// - Parameter error: what GRDB threw, or what our own code threw inside a transaction.
    init(_ error: any Error, operation: String, path: FilePath) {
        switch error {
        case let error as LedgerError:
            self = error
        case let error as DatabaseError:
            self.init(
                sqlite: error.extendedResultCode.rawValue, words: error.message ?? "", operation: operation, path: path)
        default:
            // A decoding error of GRDB prints the row it met, so only its type is told.
            self.init(
                code: .failed, operation: operation, path: path,
                message: "a row cannot be read (\(type(of: error)))")
        }
    }

    /// - Parameters:
    ///   - code: an extended result code (https://www.sqlite.org/rescode.html).
    ///   - words: SQLite's own message: names of tables and columns, never values.
    package init(sqlite code: Int32, words: String, operation: String, path: FilePath) {
        let meaning = Self.meaning(of: code)
        let detail = words.isEmpty ? "SQLite \(code)" : "SQLite \(code): \(words)"
        self.init(code: meaning.code, operation: operation, path: path, message: "\(meaning.reason) (\(detail))")
    }

    private static func meaning(of extended: Int32) -> (code: Code, reason: String) {
        let full = "the disk is full; free some space and start it again (a running agent goes on by itself)"
        // The -shm file is grown by writing zeros: when that fails, the disk has no room for it, or fails itself.
        if extended == ResultCode.SQLITE_IOERR_SHMSIZE.rawValue {
            return (.noSpace, "the disk is full, or it fails; free some space, look at the drive, and start it again")
        }
        switch ResultCode(rawValue: extended).primaryResultCode {
        case .SQLITE_FULL:
            return (.noSpace, full)
        case .SQLITE_READONLY:
            return (.readOnly, "the file or its folder cannot be written to; check its owner, mode and mount")
        case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH:
            return (.unreadable, "it cannot be opened; check that it is a file, and the owner and mode of its folder")
        case .SQLITE_CORRUPT, .SQLITE_NOTADB:
            return (
                .damaged,
                "the file is damaged or no ledger, or its drive fails; look into the kernel's log, and if the drive is well, "
                    + "run sync-agent rebuild: it puts the file aside and makes a new one of what is stored"
            )
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            return (.busy, "another process kept it locked for 5 s; try again when that one is done")
        case .SQLITE_IOERR:
            return (.failed, "reading or writing the file failed; check the drive and the kernel's log")
        case .SQLITE_NOMEM:
            return (.failed, "the machine is out of memory")
        case .SQLITE_MISUSE:
            return (.failed, "the ledger is closed, or a query is wrong")
        default:
            return (.failed, "SQLite refused it; this is a fault of the program, please report it")
        }
    }
}

private typealias ResultCode = GRDB.ResultCode
