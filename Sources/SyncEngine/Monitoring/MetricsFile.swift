package import Logging
package import SyncCore
package import SyncLedger
package import SyncSystem
package import SystemPackage

/// The metrics as a file, for the textfile collector of Prometheus' node exporter: whole at any moment.
package final class MetricsFile: Sendable {
    private static let permissions: FilePermissions = [.ownerReadWrite, .groupRead, .otherRead]

    private let path: FilePath
    private let report: MetricsReport
    private let ledger: LedgerQueue
    private let pool: BlockingPool
    private let time: TimeSource
    private let logger: Logger
    /// Why it could not be written the last time; `nil` when it could.
    private let problem = Mutex<String?>(nil)

    /// - Parameters:
    ///   - path: absolute.
    ///   - pool: for a disk that may hang.
    package init(
        at path: FilePath, report: MetricsReport, ledger: LedgerQueue, pool: BlockingPool, time: TimeSource,
        logger: Logger
    ) {
        self.path = path
        self.report = report
        self.ledger = ledger
        self.pool = pool
        self.time = time
        self.logger = logger
    }

    /// One that cannot be written is a warning, once until it could be written again.
    /// - Throws: ``LedgerError``, `CancellationError`.
    package func write() async throws {
        let now = time.now()
        let text = try await ledger { [report] in try report.text($0, at: now) }
        let failure = try await pool.run { [path] () throws -> Errno? in
            do {
                try Self.save(text, to: path)
                return nil
            } catch let error as Errno {
                return error
            }
        }
        let reason = failure.map { FileFault($0, or: "correct metrics.textfile").message }
        let isNews = problem.withLock { problem in
            defer { problem = reason }
            return problem != reason
        }
        if isNews, let reason { logger.warning("metrics cannot be written to \(path): \(reason)") }
    }

    private static func save(_ text: String, to path: FilePath) throws {
        let file = try NewFile(for: path)
        // The collector is another user, and a unit's umask keeps others out.
        try file.descriptor.setPermissions(permissions)
        try file.descriptor.writeAll(text.utf8)
        _ = try file.place(overwrites: true)
    }
}
