package import FoundationEssentials
import GRDB

/// Objects in STANDARD that rules for old objects are about.
package struct ArchiveBacklog: Hashable, Sendable {
    /// Their time has come, and they are not moved yet.
    package var due: Int
    /// They will never be moved.
    package var tooSmall: Int

    package init(due: Int = 0, tooSmall: Int = 0) {
        self.due = due
        self.tooSmall = tooSmall
    }
}

extension Ledger {
    /// What waits to be archived, from counts that are kept for each day. They are kept for one smallest size: with
    /// another than the last time, they are made anew by a walk over all objects, a second for a million; each time, as long
    /// as they cannot be kept: whoever asks what there is must get an answer on a full disk, too.
    /// - Parameters:
    ///   - prefixes: as ``TierShare/prefix``.
    ///   - minimumBytes: smaller objects are not archived.
    ///   - days: the age at which objects are archived. At which hour of a day an object came is not known: it is due when
    ///     it surely is, for 0 at once.
    package func archiveBacklog(
        below prefixes: [String], minimumBytes: Int64, afterDays days: Int, at time: Date
    ) throws(LedgerError) -> ArchiveBacklog {
        let operation = "count what is to be archived"
        let isKept = try read(operation) { try $0.number(Self.archiveFloor) == minimumBytes }
        let today = Int(time.timeIntervalSince1970 / 86_400)
        let lastDay = days == 0 ? today : today - days - 1
        if !isKept {
            do {
                try write(operation) { try $0.keepAges(smallBelow: minimumBytes) }
            } catch {
                guard error.mayPass else { throw error }
                return try read(operation) { db in
                    try db.backlog(below: prefixes, LedgerQuery.uncountedArchiveBacklog, [lastDay, minimumBytes])
                }
            }
        }
        return try read(operation) { try $0.backlog(below: prefixes, LedgerQuery.archiveBacklog, [lastDay]) }
    }

    fileprivate static let archiveFloor = "SELECT archive_floor FROM agent"
}

extension Database {
    /// - Parameter query: takes a prefix after the arguments.
    fileprivate func backlog(
        below prefixes: [String], _ query: String, _ arguments: StatementArguments
    ) throws -> ArchiveBacklog {
        try prefixes.reduce(into: ArchiveBacklog()) { backlog, prefix in
            let row = try Row.fetchOne(cachedStatement(sql: query), arguments: arguments + [prefix])
            backlog.due += row?[0] ?? 0
            backlog.tooSmall += row?[1] ?? 0
        }
    }

    fileprivate func keepAges(smallBelow bytes: Int64) throws {
        try run("UPDATE agent SET archive_floor = ?", [bytes])
        try run("DELETE FROM object_ages")
        try run(
            """
            INSERT INTO object_ages
                SELECT family, storage_class, since_day, size < ?, COUNT(*), SUM(size) FROM objects GROUP BY 1, 2, 3, 4
            """, [bytes])
    }
}
