package import FoundationEssentials
import GRDB
package import SyncCore
package import SystemPackage

/// The number of a restore job, by which people name it: `7`. Counted up, and never given twice.
package struct RestoreJobID: RawRepresentable, Hashable, Sendable, Comparable, CustomStringConvertible {
    package let rawValue: Int64

    package init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    package static func < (left: RestoreJobID, right: RestoreJobID) -> Bool { left.rawValue < right.rawValue }

    package var description: String { String(rawValue) }
}

/// One request to bring archived objects back. What became of it is told by its items.
package struct RestoreJob: Hashable, Sendable {
    package let id: RestoreJobID
    package let requestedAt: Date
    /// Who asked, as the history shows it.
    package let requestedBy: String
    /// As it was asked for; an item may have another one.
    package let tier: RestoreTier
    /// Whether each object was asked for in the fastest tier that it has.
    package let isRush: Bool
    /// How long the readable copies stay.
    package let days: Int
    /// The folder into which files are saved when they are there; `nil` when they are not to be.
    package let output: FilePath?
    package let estimatedCostUSD: Double?
    package let estimatedHours: Double?
    package let finishedAt: Date?
    /// Whether its end was made known.
    package let isAnnounced: Bool
    /// Whether it was made known that its copies end soon.
    package let isExpiryAnnounced: Bool
}

extension RestoreJob: FetchableRecord {
    static let columns = """
        id, requested_at, requested_by, tier, days, output, estimated_cost_usd, estimated_hours, finished_at, \
        announced, expiry_announced, is_rush
        """

    init(row: Row) throws {
        guard let tier = RestoreTier(rawValue: row[3]) else { throw UnknownName() }
        self.init(
            id: RestoreJobID(rawValue: row[0]), requestedAt: Date(milliseconds: row[1]), requestedBy: row[2],
            tier: tier, isRush: row[11], days: row[4], output: (row[5] as Data?).map(FilePath.init(blob:)),
            estimatedCostUSD: row[6],
            estimatedHours: row[7], finishedAt: (row[8] as Int64?).map(Date.init(milliseconds:)), isAnnounced: row[9],
            isExpiryAnnounced: row[10])
    }
}
