import GRDB

/// Which embedded store the objects are in: the id in its marker.
enum StoreIDSchema {
    static let all = ["ALTER TABLE agent ADD COLUMN store_id TEXT"]
}
