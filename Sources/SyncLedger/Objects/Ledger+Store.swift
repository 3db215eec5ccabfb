import GRDB

extension Ledger {
    /// Ties the ledger to the store that its objects are in, unless it is tied to another one already: what is stored
    /// there is not stored here.
    /// - Parameter store: what tells one place of objects from another, in plain words. As long as no object is known, a
    ///   new one takes the place of the old.
    /// - Returns: the store that the ledger is tied to now.
    package func bind(to store: String) throws(LedgerError) -> String {
        let operation = "note the store"
        if let bound = try read(operation, { try $0.boundStore() }), bound == store { return bound }
        return try write(operation) { db in
            let objects = try db.number("SELECT SUM(objects) FROM object_tallies") ?? 0
            if objects > 0, let bound = try db.boundStore() { return bound }
            // Another place has another store in it.
            try db.run("UPDATE agent SET store_id = IIF(store IS ?1, store_id, NULL), store = ?1", [store])
            return store
        }
    }
}

extension Database {
    fileprivate func boundStore() throws -> String? {
        try String.fetchOne(self, sql: "SELECT store FROM agent")
    }
}
