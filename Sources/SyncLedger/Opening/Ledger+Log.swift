import GRDB
import SyncCore
import SyncSystem
import SystemPackage

/// How large the write-ahead log grows, and when it is folded into the file.
extension Ledger {
    /// How many pages are folded at once: 31 MiB. A page that is changed again and again meanwhile is written to the
    /// file once. They are also what a power failure may take, as far as the kernel has not written them by itself.
    private static let foldedPages = 8_000
    /// Bytes to which a log is cut that a long transaction has made larger.
    private static let largestLog = 32 << 20
    /// Bytes that a log may keep at rest.
    private static let restingLog: Int64 = 4 << 20

    static func boundLog(_ db: Database) throws {
        try db.execute(sql: "PRAGMA wal_autocheckpoint = \(foldedPages)")
        try db.execute(sql: "PRAGMA journal_size_limit = \(largestLog)")
    }

    /// Lets go what SQLite keeps of the file: up to 2 MiB for each connection, and those that read. What is asked for next
    /// is read again. A large log is folded into the file, and emptied: this is called when nobody works.
    func releaseMemory() {
        guard let pool = database as? DatabasePool else { return }
        foldLargeLog()
        pool.releaseMemory()
    }

    private func foldLargeLog() {
        let log = try? FileStatus(at: LedgerFile.log(of: path), followsLinks: true)
        guard let log, log.stamp.size > Self.restingLog else { return }
        try? onWriter("fold the write-ahead log") { db in
            // Where another process reads, the log stays until the next time: nobody waits for it.
            try db.execute(sql: "PRAGMA busy_timeout = 0")
            defer { try? db.execute(sql: "PRAGMA busy_timeout = \(Int(Self.busyTimeout * 1_000))") }
            try db.checkpoint(.truncate)
        }
    }
}
