package import FoundationEssentials
package import Logging
package import SyncCore
package import SyncLedger
package import SyncSystem
package import SystemPackage

/// The metrics of an agent, from its ledger alone: no request, no look at a disk. docs/monitoring.md names them.
package struct MetricsReport: Sendable {
    private let retention: RetentionOutlook
    private let prices: PriceTable?

    /// - Parameter prices: `nil` where nobody knows what the store costs.
    package init(retention: RetentionOutlook, prices: PriceTable?) {
        self.retention = retention
        self.prices = prices
    }

    /// Blocks. Its cost is that of a few seeks for each folder, and of walks over what is broken and overdue.
    /// - Returns: the text of the exposition format. What has no value yet has no sample.
    package func text(_ ledger: Ledger, at now: Date) throws(LedgerError) -> String {
        let overview = try ledger.overview()
        let counts = try ledger.counts()
        var page = Exposition()
        Self.add(overview, to: &page)
        Self.add(counts, to: &page)
        page.add(
            "sync_agent_events_overdue", .gauge,
            "Gallery events that a daily cleanup should have deleted, and has not.",
            [.init(try retention.overdue(ledger, at: now))])
        page.add(
            "sync_agent_retention_last_run_timestamp_seconds", .gauge, "When the last daily cleanup ended.",
            try ledger.dailyRun(RetentionService.task).map { [.init($0.finishedAt)] } ?? [])
        page.add(
            "sync_agent_monthly_cost_dollars", .gauge,
            "What storing all objects for a month costs, by list prices, where they apply.",
            prices.map { [.init(Self.monthlyUSD(overview, $0))] } ?? [])
        return page.text
    }

    private static func add(_ overview: Overview, to page: inout Exposition) {
        page.add(
            "sync_agent_last_success_timestamp_seconds", .gauge, "When the last whole pass ended.",
            overview.lastSyncAt.map { [.init($0)] } ?? [])
        page.add(
            "sync_agent_oldest_unsynced_timestamp_seconds", .gauge,
            "Since when the photo that waits longest is there; no value when none waits.",
            overview.oldestUnsynced.map { [.init($0.since)] } ?? [])
        page.add(
            "sync_agent_store_failing_timestamp_seconds", .gauge,
            "Since when the store cannot be used, or takes no photos; no value when it is well.",
            overview.store?.since.map { [.init($0)] } ?? [])
        page.add(
            "sync_agent_photos", .gauge, "Files of the watched folders.",
            overview.folders.flatMap { folder in
                PhotoState.allCases.map { state in
                    .init(
                        folder.tallies[state].files, [("folder", folder.record.path.text), ("state", state.rawValue)])
                }
            })
        page.add(
            "sync_agent_lost_photos", .gauge,
            "Photos of which nothing is left, also those that are no files of the watched folders.",
            [.init(overview.lost)])
        page.add(
            "sync_agent_objects", .gauge, "Objects in the store, without those that are known to be damaged or gone.",
            overview.storedTiers.map { .init($0.objects, [("storage_class", $0.storageClass.rawValue)]) })
    }

    private static func add(_ counts: LedgerCounts, to page: inout Exposition) {
        page.add(
            "sync_agent_uploads_total", .counter, "Photos and files of events that were sent to the store.",
            [.init(Double(counts.uploads))])
        page.add(
            "sync_agent_upload_bytes_total", .counter, "Bytes that were sent for them.",
            [.init(Double(counts.uploadBytes))])
        // A photo's own is always there: what appears with its first error is no increase.
        let errors = [Ledger.photoReason: 0].merging(counts.errors) { $1 }
        page.add(
            "sync_agent_errors_total", .counter,
            "Photos that cannot be stored (photo), and what the store has refused, by its reason.",
            errors.sorted { $0.key < $1.key }.map { .init(Double($0.value), [("reason", $0.key)]) })
        page.add(
            "sync_agent_watch_overflows_total", .counter,
            "How often the kernel's queue of changes overflowed. The folder is then scanned.",
            [.init(Double(counts.watchOverflows))])
        page.add(
            "sync_agent_restores", .gauge, "Photos of all restores.",
            RestoreItemState.allCases.map { .init(counts.restores[$0] ?? 0, [("state", $0.rawValue)]) })
        page.add(
            "sync_agent_retention_failures_total", .counter,
            "Gallery events that a cleanup could not delete, each time.", [.init(Double(counts.retentionFailures))])
        page.add(
            "sync_agent_verified_objects_total", .counter, "Objects that were verified.",
            ["ok", "damaged", "missing"].map { .init(Double(counts.verified[$0] ?? 0), [("result", $0)]) })
    }

    private static func monthlyUSD(_ overview: Overview, _ prices: PriceTable) -> Double {
        let loads = overview.storedTiers.map {
            StoredLoad(storageClass: $0.storageClass, objects: $0.objects, bytes: $0.bytes)
        }
        return StorageCost(of: loads, restoreDays: 1, prices: prices).monthlyUSD
    }
}

/// The metrics as a file, for the textfile collector of Prometheus' node exporter: whole at any moment.
package final class MetricsFile: Sendable {
    private let path: FilePath
    private let report: MetricsReport
    private let ledger: LedgerQueue
    private let pool: BlockingPool
    private let time: TimeSource
    private let logger: Logger
    /// Why it could not be written the last time; `nil` when it could.
    private let problem = Lock<String?>(nil)
    /// What the ledger said when it was read last.
    private let last = Lock<String?>(nil)

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
        let text = try await ledger { [report, time] in try report.text($0, at: time.now()) }
        last.withLock { $0 = text }
        try await replace(with: text)
    }

    /// Writes what the ledger said last once more, without a look at it: by the file's time others see that the agent
    /// runs.
    /// - Throws: ``LedgerError``, `CancellationError`.
    func renew() async throws {
        guard let text = last.withLock({ $0 }) else { return try await write() }
        try await replace(with: text)
    }

    private func replace(with text: String) async throws {
        let failure = try await pool.run { [path] () throws -> Errno? in
            do {
                try Self.save(text, to: path)
                return nil
            } catch let error as Errno {
                return error
            }
        }
        let reason = failure.map { FileFault($0, or: "correct metrics.textfile").message }
        let isNews = problem.withLock { exchange(&$0, with: reason) } != reason
        if isNews, let reason { logger.warning("metrics cannot be written to \(path): \(reason)") }
    }

    private static func save(_ text: String, to path: FilePath) throws {
        let file = try NewFile(for: path)
        // The collector is another user, and a unit's umask keeps others out.
        try file.descriptor.setPermissions(.readableFile)
        try file.descriptor.writeAll(text.utf8)
        _ = try file.place(overwrites: true)
    }
}
