package import FoundationEssentials
import GRDB
package import SyncCore

/// A job of which something is still to come: what one must know to choose when to look at it.
package struct OpenRestoreJob: Hashable, Sendable {
    package struct Kind: Hashable, Sendable {
        package let storageClass: StorageClass
        package let tier: RestoreTier

        package init(storageClass: StorageClass, tier: RestoreTier) {
            self.storageClass = storageClass
            self.tier = tier
        }
    }

    package let id: RestoreJobID
    /// When the first request of those that are not answered in full was taken by the store; as long as none was, when
    /// the job was made.
    package let requestedAt: Date
    /// Of the open items, the kind that takes longest.
    package let slowest: Kind
    /// When the store was asked last how far they are.
    package let lookedAt: Date?
    package let looks: Int
    /// When ``Ledger/claimPlannedItems(of:limit:at:)`` gives the next one; `nil` when all were sent.
    package let claimableAt: Date?
}

/// The open items of one job that are of one kind and state.
struct OpenRestoreGroup: FetchableRecord {
    let job: RestoreJobID
    let madeAt: Date
    let lookedAt: Date?
    let looks: Int
    let kind: OpenRestoreJob.Kind
    let isPlanned: Bool
    let requestedAt: Date?
    /// Of the oldest claim; `nil` when one of them is not claimed.
    let claimedAt: Date?

    static let selection = """
        SELECT jobs.id, jobs.requested_at, jobs.looked_at, jobs.looks, items.storage_class, items.tier,
            items.state = 'planned', MIN(items.requested_at), MIN(COALESCE(items.claimed_at, -1))
        FROM restore_items AS items INDEXED BY restore_items_waiting
        JOIN restore_jobs AS jobs ON jobs.id = items.job_id
        WHERE items.state IN ('planned', 'retrieving')
        GROUP BY jobs.id, items.storage_class, items.tier, items.state ORDER BY jobs.id
        """

    init(row: Row) throws {
        guard let tier = RestoreTier(rawValue: row[5]) else { throw UnknownName() }
        let claimed: Int64 = row[8]
        job = RestoreJobID(rawValue: row[0])
        madeAt = Date(milliseconds: row[1])
        lookedAt = (row[2] as Int64?).map(Date.init(milliseconds:))
        looks = row[3]
        kind = OpenRestoreJob.Kind(storageClass: StorageClass(rawValue: row[4]), tier: tier)
        isPlanned = row[6]
        requestedAt = (row[7] as Int64?).map(Date.init(milliseconds:))
        claimedAt = claimed < 0 ? nil : Date(milliseconds: claimed)
    }
}

extension OpenRestoreJob {
    /// `nil` without a group.
    /// - Parameter groups: those of one job.
    init?(_ groups: [OpenRestoreGroup]) {
        // A kind of which no time is known counts as the slowest: it is not asked for too often.
        let hours = { (kind: Kind) in kind.storageClass.restoreHours(kind.tier) ?? .infinity }
        guard let first = groups.first, let slowest = groups.map(\.kind).max(by: { hours($0) < hours($1) }) else {
            return nil
        }
        let planned = groups.filter(\.isPlanned)
        let isFree = planned.contains { $0.claimedAt == nil }
        self.init(
            id: first.job, requestedAt: groups.compactMap(\.requestedAt).min() ?? first.madeAt, slowest: slowest,
            lookedAt: first.lookedAt, looks: first.looks,
            claimableAt: isFree
                ? .distantPast : planned.compactMap(\.claimedAt).min().map { $0 + Ledger.restoreClaimSeconds })
    }
}
