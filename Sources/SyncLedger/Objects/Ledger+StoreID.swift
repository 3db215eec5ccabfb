import GRDB
import SyncCore

extension Ledger: StoreIDMemory {
    /// The id of the embedded store that the objects are in; `nil` as long as none was noted.
    package func storeID() throws(LedgerError) -> String? {
        try read("read which store it is") { try $0.storeID() }
    }

    /// Whether an embedded store was ever noted, or any object is known: then a store that is missing is away.
    package func knowsStore() throws(LedgerError) -> Bool {
        try read("read whether a store is known") { db in
            if try db.storeID() != nil { return true }
            return try db.number("SELECT SUM(objects) FROM object_tallies") ?? 0 > 0
        }
    }

    /// Ties the ledger to an embedded store, unless it is tied to one already.
    /// - Returns: the id of the store that it is tied to now.
    package func bindStoreID(_ id: String) throws(LedgerError) -> String {
        let operation = "note which store it is"
        if let bound = try read(operation, { try $0.storeID() }) { return bound }
        return try write(operation) { db in
            try db.run("UPDATE agent SET store_id = ? WHERE store_id IS NULL", [id])
            return try db.storeID() ?? id
        }
    }
}

extension Database {
    fileprivate func storeID() throws -> String? {
        try String.fetchOne(self, sql: "SELECT store_id FROM agent")
    }
}
