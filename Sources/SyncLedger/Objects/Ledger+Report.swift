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
        let report = Report(tellsRestores: tellsRestores, time: time)
        var changes: [(known: ReportedObject, now: ReportedObject)] = []
        var unknown = 0
        try read(operation) { db in
            for info in page {
                guard let known = try db.reported(info.key) else {
                    unknown += 1
                    continue
                }
                if let now = try report.news(info, of: known, in: db) { changes.append((known, now)) }
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

    package func noteClassesRefreshed(at time: Date) throws(LedgerError) {
        try write("note that classes were refreshed") { db in
            try db.run("UPDATE agent SET classes_refreshed_at = ?", [time.milliseconds])
            return
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

private struct Report {
    let tellsRestores: Bool
    let time: Date

    /// The object as the store reports it; `nil` when that is nothing new.
    func news(
        _ info: ObjectInfo, of known: ReportedObject, in db: Database
    ) throws -> ReportedObject? {
        guard known.storedAt <= time else { return nil }
        var now = known
        now.storageClass = info.storageClass
        now.restore = restore(info, known)
        guard !now.isSame(known) else { return nil }
        if now.restore != known.restore, try db.isAskedFor(info.key, since: time) { now.restore = known.restore }
        return now.isSame(known) ? nil : now
    }

    private func restore(_ info: ObjectInfo, _ known: ReportedObject) -> RestoreState {
        switch info.restore {
        case .restored(let until?) where until <= time: .none
        case .none where !tellsRestores && info.storageClass == known.storageClass: known.restore
        default: info.restore
        }
    }
}

extension Database {
    fileprivate func reported(_ key: ObjectKey) throws -> ReportedObject? {
        try row(LedgerQuery.reportedObject, [key.rawValue])
    }

    /// Whether the store took a request for the object at this moment or later.
    fileprivate func isAskedFor(_ key: ObjectKey, since time: Date) throws -> Bool {
        let item = try row(LedgerQuery.openItemOfKey, [key.rawValue], as: RestoreItem.self)
        return item?.requestedAt.map { $0.milliseconds >= time.milliseconds } ?? false
    }
}
