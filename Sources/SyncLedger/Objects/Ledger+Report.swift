package import FoundationEssentials
import GRDB
package import SyncCore

extension Ledger {
    /// Brings objects up to what a listing of the store says of them: class and restore. Another size is no news: it is
    /// another object (``markBroken(_:at:)``). It costs a transaction only
    /// when something is new. What was put, or asked to be restored, since the listing was asked for is left as it is.
    /// - Parameters:
    ///   - page: bounded by the caller, to some thousand objects.
    ///   - tellsRestores: whether the store's listings tell of restores. Where they do not, silence means nothing.
    ///   - time: when the page was asked for.
    /// - Returns: how many known objects had something new, and how many objects the ledger does not know.
    package func mergeReport(
        _ page: [ObjectInfo], tellsRestores: Bool, at time: Date
    ) throws(LedgerError) -> (changed: Int, unknown: Int) {
        let operation = "compare objects with the store"
        var changes: [(known: ReportedObject, now: ReportedObject)] = []
        var unknown = 0
        try read(operation) { db in
            for info in page {
                guard let known: ReportedObject = try db.row(LedgerQuery.reportedObject, [info.key.rawValue]) else {
                    unknown += 1
                    continue
                }
                let now = try db.news(info, of: known, tellsRestores: tellsRestores, at: time)
                if let now { changes.append((known, now)) }
            }
        }
        if changes.isEmpty { return (0, unknown) }
        let changed = try write(operation) { db in
            // One that somebody else changed since it was read is left for the next report.
            try changes.count { known, now in
                try db.run(
                    """
                    UPDATE objects SET restore_state = ?1, restored_until = ?2, storage_class = ?3,
                        class_since = IIF(storage_class <> ?3, ?4, class_since)
                    WHERE id = ?5 AND restore_state = ?6 AND restored_until IS ?7 AND storage_class = ?8
                    """,
                    [
                        now.restore.name, now.restore.until, now.storageClass.rawValue, time.milliseconds,
                        known.id, known.restore.name, known.restore.until, known.storageClass.rawValue,
                    ]) > 0
            }
        }
        return (changed, unknown)
    }

    /// When all objects were compared with the store last; `nil` before the first time.
    package func classesRefreshedAt() throws(LedgerError) -> Date? {
        try read("read when classes were refreshed") { db in
            try db.number("SELECT classes_refreshed_at FROM agent").map(Date.init(milliseconds:))
        }
    }

    /// Objects that were listed then, and of which the store could not tell more: neither there nor gone, or that a rebuild
    /// has found otherwise than was told of them. And those that a verification could not read: each until it is read,
    /// stored anew, or known to be gone or damaged.
    package func unclearObjects() throws(LedgerError) -> Int {
        try read("count what the store could not tell of") { db in
            try db.total("SELECT unclear_objects + (SELECT COUNT(*) FROM unclear_objects) FROM agent")
        }
    }

    /// Of these, those that something speaks against, or that could not be looked at or read: all but those that are only
    /// to be read (``noteListed(_:keys:damaged:tellsRestores:tellsDigests:at:)``), and those that a look has only counted.
    package func namedUnclearObjects() throws(LedgerError) -> Int {
        try read("count what the store could not tell of") {
            try $0.total("SELECT COUNT(*) FROM unclear_objects WHERE is_unseen = 1 OR is_unread = 1")
        }
    }

    /// Of the objects that were listed then, and of which the store could not tell more, those that this ledger has,
    /// with the segments of its catalogue and the manifests of its vacations: what others have below the same prefix is
    /// none of them. Whether a verification could read one changes nothing.
    package func unclearOwnObjects(_ keys: KeyLayout) throws(LedgerError) -> Int {
        let status = try catalogStatus()
        let segments = status.segments.map { CatalogSegment(machine: status.machine, from: $0.from, to: $0.to) }
        let manifests = try storedManifests()
        let others = segments.compactMap { try? $0.key(keys) } + manifests.compactMap { try? keys.vacation($0) }
        return try read("count own objects that the store could not tell of") { db in
            let objects = "SELECT COUNT(*) FROM unclear_objects JOIN objects USING (key) WHERE is_unseen = 1"
            let other = "SELECT COUNT(*) FROM unclear_objects WHERE key = ? AND is_unseen = 1"
            return try others.reduce(db.total(objects)) { try $0 + db.total(other, [$1.rawValue]) }
        }
    }

    /// - Parameters:
    ///   - unclear: those that could not be looked at: see ``unclearObjects()``.
    ///   - more: how many there are beside them.
    package func noteClassesRefreshed(at time: Date, unclear: [ObjectKey] = [], more: Int = 0) throws(LedgerError) {
        try write("note that classes were refreshed") { db in
            try db.run("UPDATE agent SET classes_refreshed_at = ?, unclear_objects = ?", [time.milliseconds, more])
            try db.run("DELETE FROM unclear_objects WHERE is_unread = 0")
            try db.run("UPDATE unclear_objects SET is_unseen = 0")
            try db.noteUnclear(unclear)
        }
    }

    /// Notes what could not be looked at, beside what is noted already.
    package func noteUnclear(_ unclear: [ObjectKey]) throws(LedgerError) {
        try write("note what the store could not tell of") { try $0.noteUnclear(unclear) }
    }

    /// Notes what could not be looked at of what was looked at whole.
    /// - Parameter prefix: below which everything was. What was noted there is as it is now.
    package func noteUnclear(_ unclear: [ObjectKey], below prefix: String) throws(LedgerError) {
        try write("note what the store could not tell of") { db in
            try db.run("DELETE FROM unclear_objects WHERE substr(key, 1, length(?1)) = ?1", [prefix])
            try db.noteUnclear(unclear)
        }
    }
}

/// What a report may change of an object.
struct ReportedObject: FetchableRecord {
    static let columns = "id, storage_class, restore_state, restored_until, stored_at"

    let id: Int64
    var storageClass: StorageClass
    var restore: RestoreState
    let storedAt: Date

    init(row: Row) {
        id = row[0]
        storageClass = StorageClass(rawValue: row[1])
        restore = RestoreState(name: row[2], until: row[3])
        storedAt = Date(milliseconds: row[4])
    }

    /// Compared as they are kept: the store may tell times finer than milliseconds.
    func isSame(_ other: ReportedObject) -> Bool {
        storageClass == other.storageClass && restore.name == other.restore.name
            && restore.until == other.restore.until
    }
}

extension Database {
    /// The object as the store reports it; `nil` when that is nothing new.
    fileprivate func news(
        _ info: ObjectInfo, of known: ReportedObject, tellsRestores: Bool, at time: Date
    ) throws -> ReportedObject? {
        guard known.storedAt <= time else { return nil }
        var now = known
        now.storageClass = info.storageClass
        let isSilent = info.restore == .none && !tellsRestores && info.storageClass == known.storageClass
        now.restore = isSilent ? known.restore : info.restore.asOf(time)
        guard !now.isSame(known) else { return nil }
        if now.restore != known.restore, try isAskedFor(info.key, since: time) { now.restore = known.restore }
        return now.isSame(known) ? nil : now
    }

    /// Until the next look at all objects.
    func noteUnclear(_ keys: [ObjectKey]) throws {
        for key in keys {
            try run(
                "INSERT INTO unclear_objects VALUES (?, 1, 0) ON CONFLICT DO UPDATE SET is_unseen = 1", [key.rawValue])
        }
    }

    /// Until the next look at all objects, too. Nothing speaks against it, but that nothing was told of its bytes: where
    /// something does, that is what it counts as.
    func noteUntold(_ key: ObjectKey) throws {
        try run("INSERT INTO unclear_objects VALUES (?, 0, 0) ON CONFLICT DO NOTHING", [key.rawValue])
    }

    /// Whether the store took a request for the object at this moment or later.
    fileprivate func isAskedFor(_ key: ObjectKey, since time: Date) throws -> Bool {
        let item = try row(LedgerQuery.openItemOfKey, [key.rawValue], as: RestoreItem.self)
        return item?.requestedAt.map { $0.milliseconds >= time.milliseconds } ?? false
    }
}

/// The objects of one storage class below one prefix.
package struct TierShare: Hashable, Sendable {
    /// What a lifecycle rule would be made for: `users/ana/photos/`, `gallery-archive/ana/`, `shares/`; empty for objects
    /// without a folder.
    package let prefix: String
    package let storageClass: StorageClass
    package var objects: Int
    /// Stored bytes.
    package var bytes: Int64
    /// Of these, what is in the class for less than its minimum of days.
    package var youngObjects: Int
    package var youngBytes: Int64
}

extension Ledger {
    /// What is stored where, by prefix, then by class. It is read from counts that are kept for each day, however many
    /// objects there are.
    /// - Parameter minimumDays: for how long a class bills at least. Days are those of UTC, and an object counts from the
    ///   one in which it was put, or was first reported to be in the class.
    package func tierReport(at time: Date, minimumDays: (StorageClass) -> Int) throws(LedgerError) -> [TierShare] {
        try read("sum up the objects") { db in
            let today = Int(time.timeIntervalSince1970 / 86_400)
            var shares: [TierShare] = []
            try db.forEachRow(LedgerQuery.objectAges, []) { (age: ObjectAge) in
                if shares.last?.prefix != age.prefix || shares.last?.storageClass != age.storageClass {
                    shares.append(
                        TierShare(
                            prefix: age.prefix, storageClass: age.storageClass, objects: 0, bytes: 0, youngObjects: 0,
                            youngBytes: 0))
                }
                let minimum = minimumDays(age.storageClass)
                let last = shares.count - 1
                shares[last].objects += age.objects
                shares[last].bytes += age.bytes
                // To the end of the day on which the minimum is over: at which hour of it an object came is not known.
                guard minimum > 0, age.day + minimum >= today else { return }
                shares[last].youngObjects += age.objects
                shares[last].youngBytes += age.bytes
            }
            return shares
        }
    }
}

/// What came into one class on one day.
private struct ObjectAge: FetchableRecord {
    let prefix: String
    let storageClass: StorageClass
    /// Days since 1970, UTC.
    let day: Int
    let objects: Int
    let bytes: Int64

    init(row: Row) {
        prefix = row[0]
        storageClass = StorageClass(rawValue: row[1])
        day = row[2]
        objects = row[3]
        bytes = row[4]
    }
}

/// Objects of a class that rules for old objects are about.
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
    ///   - storageClass: of the objects.
    ///   - prefixes: as ``TierShare/prefix``.
    ///   - minimumBytes: smaller objects are not archived.
    ///   - days: the age at which objects are archived. At which hour of a day an object came is not known: it is due when
    ///     it surely is, for 0 at once.
    package func archiveBacklog(
        in storageClass: StorageClass = .standard, below prefixes: [String], minimumBytes: Int64, afterDays days: Int,
        at time: Date
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
                    try db.backlog(
                        in: storageClass, below: prefixes, LedgerQuery.uncountedArchiveBacklog,
                        [lastDay, minimumBytes], minimumBytes)
                }
            }
        }
        return try read(operation) {
            try $0.backlog(in: storageClass, below: prefixes, LedgerQuery.archiveBacklog, [lastDay], minimumBytes)
        }
    }

    fileprivate static let archiveFloor = "SELECT archive_floor FROM agent"
}

extension Database {
    /// - Parameter query: takes a prefix and the class after the arguments.
    fileprivate func backlog(
        in storageClass: SyncCore.StorageClass, below prefixes: [String], _ query: String,
        _ arguments: StatementArguments, _ minimumBytes: Int64
    ) throws -> ArchiveBacklog {
        try prefixes.reduce(into: ArchiveBacklog()) { backlog, prefix in
            let row = try rawRow(query, arguments + [prefix, storageClass.rawValue])
            backlog.due += row?[0] ?? 0
            // What is gone or damaged is no object of the class.
            let broken = try total(LedgerQuery.smallBroken, [minimumBytes, prefix, storageClass.rawValue])
            backlog.tooSmall += (row?[1] ?? 0) - broken
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

extension LedgerQuery {
    package static let objectAges = """
        SELECT family, storage_class, day, objects, bytes FROM object_ages WHERE objects > 0
        ORDER BY family, storage_class
        """
    /// The first argument is the last day from which objects are due.
    package static let archiveBacklog = """
        SELECT SUM(CASE WHEN is_small = 0 AND day <= ? THEN objects END), SUM(CASE WHEN is_small THEN objects END)
        FROM object_ages WHERE family = ? AND storage_class = ?
        """
    /// The same without the counts: a walk over all objects.
    static let uncountedArchiveBacklog = """
        SELECT COUNT(CASE WHEN since_day <= ?1 AND size >= ?2 THEN 1 END), COUNT(CASE WHEN size < ?2 THEN 1 END)
        FROM objects WHERE family = ?3 AND storage_class = ?4
        """
    /// Of those that are counted as too small, the ones that are known to be gone or damaged.
    static let smallBroken = """
        SELECT COUNT(*) FROM objects INDEXED BY objects_broken
        WHERE problem IS NOT NULL AND size < ? AND family = ? AND storage_class = ?
        """
    package static let reportedObject = "SELECT \(ReportedObject.columns) FROM objects WHERE key = ?"
}
