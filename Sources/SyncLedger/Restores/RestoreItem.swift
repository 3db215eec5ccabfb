package import FoundationEssentials
import GRDB
package import SyncCore
package import SystemPackage

package enum RestoreItemState: String, Hashable, Sendable, CaseIterable {
    /// Not asked of the store yet.
    case planned
    case retrieving
    /// It can be read.
    case restored
    case failed
    /// Its copy has ended: it is archived again.
    case expired

    /// Whether something is still to come.
    package var isOpen: Bool { self == .planned || self == .retrieving }
}

/// One object of a restore job.
package struct RestoreItem: Hashable, Sendable {
    /// Counted up, over all jobs.
    package let id: Int64
    package let job: RestoreJobID
    package let key: ObjectKey
    /// Absolute, as the person named or knows it.
    package let path: FilePath?
    /// Where it is saved, below the job's output.
    package let destination: FilePath?
    /// Stored bytes.
    package let size: Int64
    /// Of the stored bytes; `nil` where it is not known.
    package let sha256: SHA256Digest?
    package let storageClass: StorageClass
    /// The one really asked for.
    package let tier: RestoreTier
    /// Those of its job.
    package let days: Int
    package let isRush: Bool
    package let state: RestoreItemState
    /// When the store took the request.
    package let requestedAt: Date?
    package let readyAt: Date?
    package let expiresAt: Date?
    package let savedAt: Date?
    /// Why it failed, or in what it differs from what was asked for, in plain words.
    package let note: String?
    /// Requests that were answered.
    package let attempts: Int

    package var error: String? { state == .failed ? note : nil }
}

extension RestoreItem: FetchableRecord {
    static let selection = """
        SELECT items.id, items.job_id, items.key, items.path, items.destination, items.size, items.sha256, \
        items.storage_class, items.tier, jobs.days, items.state, items.requested_at, items.ready_at, \
        items.expires_at, items.saved_at, items.note, items.attempts, jobs.is_rush
        """

    init(row: Row) throws {
        guard let tier = RestoreTier(rawValue: row[8]), let state = RestoreItemState(rawValue: row[10]) else {
            throw UnknownName()
        }
        self.init(
            id: row[0], job: RestoreJobID(rawValue: row[1]), key: try ObjectKey(row[2] as String),
            path: (row[3] as Data?).map(FilePath.init(blob:)),
            destination: (row[4] as Data?).map(FilePath.init(blob:)), size: row[5], sha256: SHA256Digest(blob: row[6]),
            storageClass: StorageClass(rawValue: row[7]), tier: tier, days: row[9], isRush: row[17],
            state: state,
            requestedAt: (row[11] as Int64?).map(Date.init(milliseconds:)),
            readyAt: (row[12] as Int64?).map(Date.init(milliseconds:)),
            expiresAt: (row[13] as Int64?).map(Date.init(milliseconds:)),
            savedAt: (row[14] as Int64?).map(Date.init(milliseconds:)), note: row[15], attempts: row[16])
    }
}
