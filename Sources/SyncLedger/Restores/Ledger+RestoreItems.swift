import FoundationEssentials
import GRDB
package import SyncCore

/// Lists are read in pages, the first one after 0. An item that comes into a list meanwhile may be left out.
extension Ledger {
    /// A page of a job's items, in the order of the draft.
    package func restoreItems(
        of id: RestoreJobID, after last: Int64, limit: Int
    ) throws(LedgerError) -> [RestoreItem] {
        try read("list restores") { try $0.rows(LedgerQuery.itemsOfJob, [id.rawValue, last, limit]) }
    }

    /// The items of a job that the store is bringing back, all of them.
    package func retrievingItems(of id: RestoreJobID) throws(LedgerError) -> [RestoreItem] {
        try read("list open restores") { try $0.rows(LedgerQuery.retrievingItemsOfJob, [id.rawValue]) }
    }

    /// The one open item in which an object is.
    package func openRestoreItem(for key: ObjectKey) throws(LedgerError) -> RestoreItem? {
        try read("look up an open restore") { try $0.row(LedgerQuery.openItemOfKey, [key.rawValue]) }
    }

    /// A page of what can be read, is to be saved, and is not saved yet.
    package func unsavedRestoredItems(after last: Int64, limit: Int) throws(LedgerError) -> [RestoreItem] {
        try read("list what is to be saved") { try $0.rows(LedgerQuery.unsavedItems, [last, limit]) }
    }
}

extension Database {
    func restoreCounts() throws -> [RestoreItemState: Int] {
        let rows = try Row.fetchAll(cachedStatement(sql: LedgerQuery.restoreTallies))
        return rows.reduce(into: [:]) { counts, row in
            if let state = RestoreItemState(rawValue: row[0]) { counts[state] = row[1] }
        }
    }
}
