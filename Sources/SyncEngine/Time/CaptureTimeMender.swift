import FoundationEssentials
import Glibc
package import Logging
package import SyncCore
package import SyncLedger
package import SyncSystem

/// Reads the capture times again that an older version noted, in UTC and without their offsets: of the photos that are on
/// the disk as they were stored. Nothing is sent for it, and of a file no more is read than what its camera wrote.
package struct CaptureTimeMender: Sendable {
    private static let pageSize = 200

    private let ledger: LedgerQueue
    private let source: any CaptureTimeSource
    private let pool: BlockingPool
    private let logger: Logger

    /// - Parameter pool: for reading files.
    package init(ledger: LedgerQueue, source: any CaptureTimeSource, pool: BlockingPool, logger: Logger) {
        self.ledger = ledger
        self.source = source
        self.pool = pool
        self.logger = logger
    }

    /// One round over all of them. What cannot be read now is read in a later one.
    /// - Returns: how many objects have their time by the rules of today.
    /// - Throws: ``LedgerError``, `CancellationError`.
    @discardableResult
    package func run() async throws -> Int {
        var mended = 0
        let pages = LedgerPages(ledger: ledger, place: \DatedBefore.object) {
            try $0.photosDatedBefore(after: $1 ?? 0, limit: Self.pageSize)
        }
        for try await page in pages {
            let times = await pool.finish { [source] in
                var times: [Int64: CaptureTime?] = [:]
                // Several files may be one object: the first that can be read tells.
                for photo in page where times[photo.object] == nil {
                    do throws(PhotoError) {
                        let time = try source.captureTime(of: photo.file, stamp: photo.stamp)
                        times.updateValue(time, forKey: photo.object)
                    } catch {
                        // It is gone, or another by now: the scan sees to it.
                        continue
                    }
                }
                return times
            }
            if !times.isEmpty { try await ledger.finish { try $0.noteCaptureTimes(times) } }
            mended += times.count
        }
        if mended > 0 { logger.info("capture times read again, with their offsets: \(mended)") }
        return mended
    }
}

extension MachineZone {
    /// That of this machine: `TZ`, else `/etc/localtime`, with its summer times (mktime(3), localtime_r(3)).
    package static let current = MachineZone(
        atClock: { clock in
            var seconds = time_t(clock)
            var parts = tm()
            // The fields of the clock; mktime(3) then finds out what its offset was.
            gmtime_r(&seconds, &parts)
            parts.tm_isdst = -1
            _ = mktime(&parts)
            return parts.tm_gmtoff / 60
        },
        atInstant: { instant in
            var seconds = time_t(instant.timeIntervalSince1970.rounded(.down))
            var parts = tm()
            // localtime_r(3) need not read TZ; mktime(3) above does, and so does this.
            tzset()
            localtime_r(&seconds, &parts)
            return parts.tm_gmtoff / 60
        })
}
