package import FoundationEssentials
import GRDB
import SyncCore

/// What came of looking at one object.
package enum ObjectCheck: Hashable, Sendable {
    /// As it is known now.
    case intact(ObjectRecord)
    case broken(BrokenObject)
}

/// Where verification stands.
package struct VerificationStatus: Hashable, Sendable {
    /// When the bytes of the object that waits longest were proved, or looked at, last; `nil` when there is none.
    package var oldest: Date?
    /// Objects that were looked at, ever; one that was looked at twice counts twice.
    package var checked = 0
    /// Objects that are known to be damaged, or gone, now.
    package var damaged = 0
    package var missing = 0
    /// Files that are known by size and time alone, since a rebuild.
    package var unread = 0
    /// US dollars, in the month of the moment that was asked about.
    package var spentUSD = 0.0

    package init() {}
}

/// Where a page of objects begins, in the order in which they are verified.
package struct ProofCursor: Hashable, Sendable {
    fileprivate var provedAt: Int64
    fileprivate var id: Int64

    /// Before the first one.
    package static let start = ProofCursor(provedAt: .min, id: 0)

    /// Behind all that were proved at a moment or before it.
    package static func after(_ time: Date) -> ProofCursor { ProofCursor(provedAt: time.milliseconds, id: .max) }
}

extension Ledger {
    /// A page of objects, the longest unproven first, of those that were proved before a moment.
    /// - Returns: where the next page begins; `nil` when there is none.
    package func longestUnproven(
        before time: Date, after cursor: ProofCursor, limit: Int
    ) throws(LedgerError) -> (objects: [ObjectRecord], next: ProofCursor?) {
        try read("list what is to be verified") { db in
            let rows = try db.rawRows(
                LedgerQuery.longestUnproven, [time.milliseconds, cursor.provedAt, cursor.id, limit])
            let next = rows.last.map {
                ProofCursor(provedAt: $0[ObjectRecord.columnCount], id: $0[ObjectRecord.columnCount + 1])
            }
            return (try rows.map { try ObjectRecord(row: $0) }, rows.count == limit ? next : nil)
        }
    }

    /// Counts what looks at objects cost as spent, before they are made: so many of them as a month's money lasts for,
    /// whichever process spends it, and also where this one is killed over them.
    /// - Parameters:
    ///   - prices: US dollars, of one look after the other.
    ///   - limit: US dollars of the month; `nil` for any.
    /// - Returns: how many may be made, from the first one on.
    package func payForChecks(_ prices: [Double], ofMonth limit: Double?, at time: Date) throws(LedgerError) -> Int {
        guard prices.contains(where: { $0 > 0 }) else { return prices.count }
        return try write("note what a verification costs") { db in
            let month = Self.month(time)
            let row = try db.rawRow("SELECT usd FROM verification_costs WHERE month = ?", [month])
            let spent: Double = row?[0] ?? 0
            var (count, sum) = (0, 0.0)
            for price in prices {
                if let limit, price > 0, spent + sum + price > limit { break }
                sum += price
                count += 1
            }
            try db.noteCost(sum, in: month)
            return count
        }
    }

    /// Corrects what was paid for looks that cost less, since they were broken off, or more.
    /// - Parameter time: at which it was paid.
    package func correctCost(byUSD difference: Double, at time: Date) throws(LedgerError) {
        try write("note what a verification costs") { try $0.noteCost(difference, in: Self.month(time)) }
    }

    /// Notes what verification has found: each object was looked at now, whatever came of it.
    /// - Parameter undecided: of which the store could not tell: see ``unclearObjects()``.
    package func noteChecks(
        _ checks: [ObjectCheck], undecided: [ObjectRecord] = [], at time: Date
    ) throws(LedgerError) {
        try write("note a verification") { db in
            var ignored = BrokenCount()
            for check in checks {
                switch check {
                case .intact(let record):
                    try db.noteProof(record, isRead: true, at: time)
                    try db.noteDecided(record.key)
                    try db.count("ok", bytes: record.size)
                case .broken(let broken):
                    try db.markBroken(broken, at: time, &ignored)
                    try db.run(
                        "UPDATE objects SET verified_at = ? WHERE key = ? AND stored_at = ?",
                        [time.milliseconds, broken.record.key.rawValue, broken.record.storedAt.milliseconds])
                    try db.noteDecided(broken.record.key)
                    try db.count(broken.problem.isDamage ? "damaged" : "missing", bytes: broken.record.size)
                }
            }
            for record in undecided { try db.noteUndecided(record) }
        }
    }

    package func verificationStatus(at time: Date) throws(LedgerError) -> VerificationStatus {
        try read("read where verification stands") { db in
            var status = VerificationStatus()
            status.oldest = try db.number(LedgerQuery.oldestProof).map(Date.init(milliseconds:))
            status.checked = try db.total("SELECT SUM(objects) FROM verified_objects")
            if try db.isAnythingBroken() {
                let broken = """
                    SELECT COUNT(*) FROM objects INDEXED BY objects_broken
                    WHERE problem IS NOT NULL AND NOT \(LedgerQuery.isLeftToOthers)
                    """
                status.missing = try db.total("\(broken) AND problem = 'missing'")
                status.damaged = try db.total(broken) - status.missing
            }
            status.unread = try db.total("SELECT COUNT(*) FROM matched_photos")
            let spent = try db.rawRow("SELECT usd FROM verification_costs WHERE month = ?", [Self.month(time)])
            status.spentUSD = spent?[0] ?? 0
            return status
        }
    }

    /// When the agent verified by itself last; `nil` before the first time.
    package func verifiedAt() throws(LedgerError) -> Date? {
        try read("read when objects were verified") { db in
            try db.number("SELECT finished_at FROM daily_runs WHERE name = 'verify'").map(Date.init(milliseconds:))
        }
    }

    package func noteVerified(at time: Date) throws(LedgerError) {
        try write(
            "note when objects were verified",
            """
            INSERT INTO daily_runs (name, scheduled_at, finished_at) VALUES ('verify', ?1, ?1)
            ON CONFLICT DO UPDATE SET scheduled_at = ?1, finished_at = ?1
            """, [time.milliseconds])
    }

    /// `2026-11`, UTC.
    private static func month(_ time: Date) -> String { String(CalendarDay(time).description.prefix(7)) }
}

extension Database {
    /// What is known to be broken, or was stored anew since, is none of it.
    fileprivate func noteUndecided(_ record: ObjectRecord) throws {
        try run(
            """
            INSERT INTO unclear_objects SELECT key, 0, 1 FROM objects
            WHERE key = ? AND stored_at = ? AND problem IS NULL
            ON CONFLICT DO UPDATE SET is_unread = 1
            """, [record.key.rawValue, record.storedAt.milliseconds])
    }

    fileprivate func noteCost(_ usd: Double, in month: String) throws {
        if usd == 0 { return }
        try run(
            "INSERT INTO verification_costs VALUES (?, ?) ON CONFLICT DO UPDATE SET usd = usd + excluded.usd",
            [month, usd])
    }

    fileprivate func noteDecided(_ key: ObjectKey) throws {
        try run("DELETE FROM unclear_objects WHERE key = ?", [key.rawValue])
    }

    fileprivate func count(_ result: String, bytes: Int64) throws {
        try run(
            """
            INSERT INTO verified_objects VALUES (?, 1, ?)
            ON CONFLICT DO UPDATE SET objects = objects + 1, bytes = bytes + excluded.bytes
            """, [result, bytes])
    }
}

/// Files that were taken for what is stored by their size and time, after a rebuild: they are read later, so that a file of
/// other bytes is found, and stored. How many there are tells ``VerificationStatus/unread``.
extension Ledger {
    /// Puts some of them into the queue: what is stored of them is not sent again, when they are read.
    /// - Returns: how many.
    @discardableResult
    package func requeueMatched(limit: Int, at time: Date) throws(LedgerError) -> Int {
        try write("queue files that were not read") { db in
            let ids = try db.numbers("SELECT photo_id FROM matched_photos ORDER BY photo_id LIMIT ?", [limit])
            for id in ids {
                // What has changed since, or is gone, is looked at for that reason.
                try PhotoTable(db).repend(stored: id, at: time)
                try db.run("DELETE FROM matched_photos WHERE photo_id = ?", [id])
            }
            return ids.count
        }
    }
}

extension LedgerQuery {
    /// The longest unproven first. The second and third argument are where the page begins.
    package static let longestUnproven = """
        SELECT \(ObjectRecord.columns), objects.proved_at, objects.id FROM objects INDEXED BY objects_by_proof
        WHERE proved_at < ? AND (proved_at, id) > (?, ?) ORDER BY proved_at, id LIMIT ?
        """
    package static let oldestProof = "SELECT MIN(proved_at) FROM objects"
}
