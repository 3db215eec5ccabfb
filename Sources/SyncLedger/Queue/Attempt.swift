package import FoundationEssentials
import GRDB

/// One attempt to store a photo. The last ``kept`` of each photo are remembered.
package struct Attempt: Hashable, Sendable {
    package static let kept = 10

    package let id: Int64
    package let startedAt: Date
    /// `nil` while it lasts.
    package let finishedAt: Date?
    /// `uploaded`, `failed`, `skipped`, `postponed`, `waits`, `released`, `vanished`, or `interrupted` when the agent died.
    package let outcome: String?
    package let error: String?
}

extension Attempt: FetchableRecord {
    init(row: Row) {
        id = row[0]
        startedAt = Date(milliseconds: row[1])
        finishedAt = (row[2] as Int64?).map(Date.init(milliseconds:))
        outcome = row[3]
        error = row[4]
    }
}
