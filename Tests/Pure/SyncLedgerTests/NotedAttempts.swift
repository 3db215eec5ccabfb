import GRDB

@testable import SyncLedger

/// An attempt to store a photo, as the ledger remembers it.
struct NotedAttempt {
    let outcome: String?
    let error: String?
}

extension Ledger {
    /// The last attempts at a photo, oldest first.
    func attempts(of photoID: Int64) throws -> [NotedAttempt] {
        try database.read { db in
            try Row.fetchAll(
                db, sql: "SELECT outcome, error FROM attempts WHERE photo_id = ? ORDER BY id", arguments: [photoID]
            ).map { NotedAttempt(outcome: $0[0], error: $0[1]) }
        }
    }
}
