package import FoundationEssentials
import SyncCore
import SyncSystem
import SystemPackage

/// How the files of a ledger stand. While they stand so, no process commits anything: each commit is written to the
/// log (https://www.sqlite.org/wal.html), or to the file itself.
///
/// Who looks now and then whether another process has put something into the ledger asks this first, which takes two
/// calls of statx(2). To ask SQLite keeps threads, pages and connections of an idle agent in memory.
package struct LedgerMark: Hashable, Sendable {
    /// Seconds that nobody may have written for. The times of files are two seconds apart on some file systems, and
    /// what is in the log is to be seen only when that is on the disk: a mark of a moment in between would be that of a
    /// later one, too.
    private static let quiet: TimeInterval = 5

    private let file: FileStamp
    private let log: FileStamp?

    /// `nil` where the files were written to in the last seconds, or after `now`: nothing can be told from that.
    /// - Throws: `Errno` where the file is not there, or its drive does not answer.
    init?(of path: FilePath, at now: Date) throws(Errno) {
        file = try FileStatus(at: path, followsLinks: true).stamp
        log = try FileStatus.find(LedgerFile.log(of: path), followsLinks: true)?.stamp
        let written = max(file.modified, log?.modified ?? .min)
        guard now.timeIntervalSince1970 - TimeInterval(written) / 1e9 >= Self.quiet else { return nil }
    }
}

extension LedgerQueue {
    /// How the files stand now; `nil` where nothing can be told from that: in memory, just after somebody has written,
    /// and where they cannot be seen. Whoever got one, and gets the same one later, has missed nothing.
    package func mark(at now: Date) async -> LedgerMark? {
        let path = ledger.path
        guard !path.isEmpty else { return nil }
        return try? await marks.run { try LedgerMark(of: path, at: now) }
    }
}
