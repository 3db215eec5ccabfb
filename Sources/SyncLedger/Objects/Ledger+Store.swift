import FoundationEssentials
import GRDB
package import SyncCore

extension Ledger {
    /// Ties the ledger to the store that its objects are in, unless it is tied to another one already: what is stored
    /// there is not stored here.
    /// - Parameter store: what tells one place of objects from another, in plain words. As long as no object is known, a
    ///   new one takes the place of the old.
    /// - Returns: the store that the ledger is tied to now.
    package func bind(to store: String) throws(LedgerError) -> String {
        let operation = "note the store"
        // By bytes, as a store tells users and folders apart: of a name that looks the same, the objects are others.
        if let bound = try read(operation, { try $0.boundStore() }), bound.inBytes == store.inBytes { return bound }
        return try write(operation) { db in
            if try db.objectCount() > 0, let bound = try db.boundStore() { return bound }
            // Another place has another store in it.
            try db.run("UPDATE agent SET store_id = IIF(store IS ?1, store_id, NULL), store = ?1", [store])
            return store
        }
    }

    /// The store that the ledger is tied to, in plain words; `nil` when it is tied to none yet.
    package func boundStore() throws(LedgerError) -> String? {
        try read("read which store it is") { try $0.boundStore() }
    }

    /// How many objects are known.
    package func knownObjects() throws(LedgerError) -> Int {
        try read("count objects") { try $0.objectCount() }
    }

    /// How many of these are known, with the same size.
    package func known(among objects: [ObjectInfo]) throws(LedgerError) -> Int {
        try read("look up objects") { db in
            let sql = "SELECT COUNT(*) FROM objects WHERE key = ? AND size = ?"
            return try objects.reduce(0) { try $0 + db.total(sql, [$1.key.rawValue, $1.size]) }
        }
    }

    /// Ties the ledger to another place, which has what it knows: the same store under another name, or a copy of it. What
    /// the place has in truth is looked at by the next listing, and what it lacks is stored again.
    /// - Parameters:
    ///   - store: as ``bind(to:)`` takes it.
    ///   - id: of the store; `nil` where it has none.
    ///   - isCopy: whether the objects are others than before: then marks of their versions mean nothing, no copy of an
    ///     archived one is there, shares are written anew, with new links, and uploads in parts are none of this store's.
    package func adopt(store: String, id: String?, isCopy: Bool) throws(LedgerError) {
        try write("note another place of the store", isDurable: true) { db in
            try db.run(
                "UPDATE agent SET store = ?, store_id = ?, classes_refreshed_at = NULL, unclear_objects = 0",
                [store, id])
            try db.run("DELETE FROM unclear_objects")
            try db.run("DELETE FROM denied_objects")
            guard isCopy else { return }
            try db.run("UPDATE objects SET etag = NULL WHERE etag IS NOT NULL")
            try db.run("DELETE FROM archive_notes")
            try db.run("UPDATE objects SET restore_state = 'none', restored_until = NULL WHERE restore_state <> 'none'")
            // Whatever end they had, it is that of another copy.
            try db.run("UPDATE restore_items SET state = 'expired', expires_at = NULL WHERE state = 'restored'")
            try db.run("DELETE FROM uploads")
            try db.run("UPDATE shares SET step = 'publish' WHERE state IN ('preparing', 'waiting', 'live')")
        }
    }
}

extension Database {
    fileprivate func boundStore() throws -> String? {
        try rawRow("SELECT store FROM agent")?[0] as String?
    }

    fileprivate func storeID() throws -> String? {
        try rawRow("SELECT store_id FROM agent")?[0] as String?
    }

    /// How many objects are known.
    func objectCount() throws -> Int { try total("SELECT SUM(objects) FROM object_tallies") }
}

extension Ledger: StoreIDKeeper {
    /// The id of the embedded store that the objects are in; `nil` as long as none was noted.
    package func storeID() throws(LedgerError) -> String? {
        try read("read which store it is") { try $0.storeID() }
    }

    /// Whether an embedded store was ever noted, or any object is known: then a store that is missing is away.
    package func knowsStore() throws(LedgerError) -> Bool {
        try read("read whether a store is known") { db in
            try db.storeID() != nil || db.objectCount() > 0
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

/// The keys that begin with a prefix, from one of them on, as a range in the order of bytes.
struct KeyRange {
    /// For ``from`` and ``to``, in this order. As texts, a bound could not hold just any bytes.
    static let condition = "key >= CAST(? AS TEXT) AND key < CAST(? AS TEXT)"

    let from: Data
    let to: Data

    /// - Parameters:
    ///   - last: the range begins behind it.
    ///   - end: the last key of the range; `nil`: it has all that begin with the prefix.
    init(prefix: String, after last: ObjectKey?, through end: ObjectKey? = nil) {
        let bytes = Self.bytes(of: prefix)
        // No key begins with a NUL, or holds one. (An empty BLOB would be bound as NULL.)
        let first = bytes.isEmpty ? Data([0]) : bytes
        let next = last.map { Self.bytes(of: $0.rawValue) + [0] } ?? first
        from = next.lexicographicallyPrecedes(first) ? first : next
        // A byte of UTF-8 is never 0xFF: the last one can always be raised.
        let all: Data = bytes.last.map { bytes.dropLast() + [$0 + 1] } ?? Data([0xFF])
        let some: Data = end.map { Self.bytes(of: $0.rawValue) + [0] } ?? all
        to = all.lexicographicallyPrecedes(some) ? all : some
    }

    /// Of `text.utf8` itself, Foundation would ask Swift's runtime whether its bytes lie together: a look through all conformances
    /// of the program.
    private static func bytes(of text: String) -> Data {
        var text = text
        return text.withUTF8 { Data(buffer: $0) }
    }
}

/// The ledger is the memory of the one store that it is tied to. What it cannot note or read at the moment is forgotten,
/// as the protocol allows; whatever is wrong with the file, the queue meets it too, and tells.
extension Ledger: EndpointFactStore {
    package func noteUpload(_ upload: StoredUpload) {
        try? write("note an upload in parts", isDurable: true) { db in
            try db.run(
                "INSERT OR REPLACE INTO uploads (id, key, began_at) VALUES (?, ?, ?)",
                [upload.id, upload.key.rawValue, upload.began.milliseconds])
            return
        }
    }

    package func forgetUpload(_ id: String) {
        try? write("forget an upload in parts") { db in
            try db.run("DELETE FROM uploads WHERE id = ?", [id])
            return
        }
    }

    package func unfinishedUploads() -> [StoredUpload] {
        let uploads = try? read("list uploads in parts") { db in
            try db.rows("SELECT id, key, began_at FROM uploads ORDER BY began_at, rowid", as: StoredUpload.self)
        }
        return uploads ?? []
    }

    package func facts(of place: String) -> [String: String] {
        let facts = try? read("read what is known of a store") { db in
            try db.rawRows("SELECT fact, value FROM store_facts WHERE place = ?", [place])
                .reduce(into: [String: String]()) { facts, row in facts[row[0] as String] = row[1] }
        }
        return facts ?? [:]
    }

    package func remember(_ fact: String, value: String, of place: String) {
        _ = try? write(
            "note what is known of a store",
            "INSERT OR REPLACE INTO store_facts (place, fact, value) VALUES (?, ?, ?)", [place, fact, value])
    }
}

extension StoredUpload: FetchableRecord {
    init(row: Row) throws {
        self.init(id: row[0], key: try ObjectKey(row[1] as String), began: Date(milliseconds: row[2]))
    }
}
