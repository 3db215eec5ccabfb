import FoundationEssentials
import GRDB
package import SyncCore

/// The ledger is the memory of the one store that it is tied to. What it cannot note or read at the moment is forgotten,
/// as the protocol allows; whatever is wrong with the file, the queue meets it too, and tells.
extension Ledger: StoreMemory {
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
            try Row.fetchAll(db, sql: "SELECT fact, value FROM store_facts WHERE place = ?", arguments: [place])
                .reduce(into: [String: String]()) { facts, row in facts[row[0] as String] = row[1] }
        }
        return facts ?? [:]
    }

    package func remember(_ fact: String, value: String, of place: String) {
        try? write("note what is known of a store") { db in
            try db.run(
                "INSERT OR REPLACE INTO store_facts (place, fact, value) VALUES (?, ?, ?)", [place, fact, value])
            return
        }
    }
}

extension StoredUpload: FetchableRecord {
    init(row: Row) throws {
        self.init(id: row[0], key: try ObjectKey(row[1] as String), began: Date(milliseconds: row[2]))
    }
}
