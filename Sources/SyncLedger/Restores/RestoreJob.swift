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
    /// The one that it had when somebody stopped the saving; `nil` when nobody has.
    package let stoppedOutput: FilePath?
    package let estimatedCostUSD: Double?
    package let estimatedHours: Double?
    package let finishedAt: Date?
    /// Whether its end was made known.
    package let isAnnounced: Bool
    /// Whether it was made known that its copies end soon.
    package let isExpiryAnnounced: Bool
    /// The hidden file by which the job knows `output`. `nil` once the job is over, and the file was taken away.
    package let mark: FilePath.Component?
    /// Whether the file was put there. Before that, no photo was saved, but by an older version.
    package let isMarked: Bool
}

extension RestoreJob: FetchableRecord {
    static let columns = """
        id, requested_at, requested_by, tier, days, output, estimated_cost_usd, estimated_hours, finished_at, \
        announced, expiry_announced, is_rush, mark, marked_in IS NOT NULL, stopped_in
        """

    init(row: Row) throws {
        let tier = try RestoreTier(rawValue: row[3]).known()
        let id = RestoreJobID(rawValue: row[0])
        self.init(
            id: id, requestedAt: Date(milliseconds: row[1]), requestedBy: row[2], tier: tier, isRush: row[11],
            days: row[4], output: row.path(5), stoppedOutput: row.path(14), estimatedCostUSD: row[6],
            estimatedHours: row[7], finishedAt: row.time(8), isAnnounced: row[9], isExpiryAnnounced: row[10],
            mark: id.mark(row[12]), isMarked: row[13])
    }
}

extension RestoreJobID {
    /// Each machine counts its jobs from 1, and several may save into one folder: a random part tells them apart.
    func mark(_ random: String?) -> FilePath.Component? {
        random.flatMap { FilePath.Component("\(Self.markPrefix)\(rawValue)-\($0)") }
    }

    private static let markPrefix = ".sync-agent-restore-"

    /// Whether a file has such a name, of whatever ledger.
    package static func isMark(_ name: FilePath.Component) -> Bool {
        guard name.string.hasPrefix(markPrefix) else { return false }
        let parts = name.string.dropFirst(markPrefix.count).split(separator: "-", omittingEmptySubsequences: false)
        return parts.count == 2 && Int64(parts[0]) != nil && parts[1].count == 16 && parts[1].allSatisfy(\.isHexDigit)
    }
}

/// A job's hidden file that is of no use any more.
package struct EndedRestoreMark: Hashable, Sendable {
    package let job: RestoreJobID
    package let file: FilePath
    /// How many folders were made for the job, its own and those above it; 0 where a photo was saved.
    package let madeFolders: Int
}

extension EndedRestoreMark: FetchableRecord {
    init(row: Row) throws {
        job = RestoreJobID(rawValue: row[0])
        file = FilePath(blob: row[2] as Data).appending(try job.mark(row[1]).known())
        madeFolders = row[3]
    }
}

/// A restore job that is about to be made.
package struct RestoreJobDraft: Hashable, Sendable {
    package struct Item: Hashable, Sendable {
        package var key: ObjectKey
        /// Absolute, as the person named or knows it.
        package var path: FilePath?
        /// Where it is saved, below the job's output.
        package var destination: FilePath?
        /// Where else it is saved.
        package var further: [RestorePlace] = []
        /// Stored bytes.
        package var size: Int64
        /// Of the stored bytes.
        package var sha256: SHA256Digest?
        package var storageClass: StorageClass
        package var tier: RestoreTier
        /// What became of it already, where nothing has to be asked for.
        package var outcome: RestoreOutcome?
        /// In what it differs from what was asked for, in plain words.
        package var note: String?

        package init(
            key: ObjectKey, path: FilePath? = nil, destination: FilePath? = nil, size: Int64,
            sha256: SHA256Digest? = nil, storageClass: StorageClass, tier: RestoreTier, outcome: RestoreOutcome? = nil
        ) {
            self.key = key
            self.path = path
            self.destination = destination
            self.size = size
            self.sha256 = sha256
            self.storageClass = storageClass
            self.tier = tier
            self.outcome = outcome
        }
    }

    package var requestedBy: String
    package var tier: RestoreTier
    /// Whether each item has the fastest tier that there is for it.
    package var isRush: Bool
    /// 1 or more.
    package var days: Int
    package var output: FilePath?
    package var estimatedCostUSD: Double?
    package var estimatedHours: Double?
    /// Each key once.
    package var items: [Item]

    package init(
        requestedBy: String, tier: RestoreTier, isRush: Bool = false, days: Int, output: FilePath? = nil,
        estimatedCostUSD: Double? = nil, estimatedHours: Double? = nil, items: [Item]
    ) {
        self.requestedBy = requestedBy
        self.tier = tier
        self.isRush = isRush
        self.days = days
        self.output = output
        self.estimatedCostUSD = estimatedCostUSD
        self.estimatedHours = estimatedHours
        self.items = items
    }
}

/// A restore job and what became of its items.
package struct RestoreJobSummary: Hashable, Sendable {
    package let job: RestoreJob
    /// States that no item is in are left out.
    package let counts: [RestoreItemState: Int]
    /// Items that are saved in the job's output, also those whose copies have ended since.
    package let saved: Int
    /// Items that can be read now, and are not saved.
    package let readableUnsaved: Int
    /// When the first of their copies ends.
    package let firstUnsavedExpiry: Date?
    /// Items whose copies have ended, and that were not saved before.
    package let endedUnsaved: Int
    /// Stored bytes of all items.
    package let bytes: Int64
    /// When the first of the copies ends that can be read now.
    package let earliestExpiry: Date?
    /// When the last of those that came could be read.
    package let latestReadyAt: Date?
    /// Copies of archived objects that can be read now. What was never archived needs none, and stays readable.
    package let copies: Int

    /// - Parameter row: as ``LedgerQuery/progressOfJob`` gives it.
    init(job: RestoreJob, progress row: Row) {
        self.job = job
        counts = RestoreItemState.allCases.enumerated().reduce(into: [:]) { counts, state in
            let count = (row[state.offset] as Int?) ?? 0
            if count > 0 { counts[state.element] = count }
        }
        saved = row[5]
        bytes = (row[6] as Int64?) ?? 0
        earliestExpiry = row.time(7)
        latestReadyAt = row.time(8)
        copies = (row[9] as Int?) ?? 0
        readableUnsaved = (row[10] as Int?) ?? 0
        endedUnsaved = (row[11] as Int?) ?? 0
        firstUnsavedExpiry = row.time(12)
    }
}

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
    /// Where else it is saved.
    package let further: [RestorePlace]
    /// Who has it in hand: asks for it, or gives it its name.
    let holder: String?
    /// Whether it was to be saved when the saving of its job was stopped.
    let wasGivenUp: Bool

    package var error: String? { state == .failed ? note : nil }

    /// Its note, with one more difference.
    package func noting(_ difference: String) -> String {
        [note, difference].compactMap(\.self).joined(separator: "; ")
    }

    /// Whether it was to be saved, and may still be.
    package var isLeftToSave: Bool { savedAt == nil && (state.isOpen || state == .restored) }
    /// Whether somebody gives it its name just now.
    package var isBeingSaved: Bool { savedAt == nil && state != .planned && holder != nil }
    /// Whether it is not saved since somebody has stopped that.
    package var isGivenUp: Bool { wasGivenUp && savedAt == nil && !isBeingSaved }
    /// What people are told beside its state: its note, and that it was given up.
    package var remark: String? {
        let givenUp = isGivenUp && state != .failed ? "not saved: given up (--stop-saving)" : nil
        let parts = [note, givenUp].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }
}

extension RestoreItem: FetchableRecord {
    static let selection = """
        SELECT items.id, items.job_id, items.key, items.path, items.destination, items.size, items.sha256, \
        items.storage_class, items.tier, jobs.days, items.state, items.requested_at, items.ready_at, \
        items.expires_at, items.saved_at, items.note, items.attempts, jobs.is_rush, items.further, \
        items.claimed_by, items.given_up
        """

    init(row: Row) throws {
        guard let tier = RestoreTier(rawValue: row[8]), let state = RestoreItemState(rawValue: row[10]) else {
            throw UnknownName()
        }
        self.init(
            id: row[0], job: RestoreJobID(rawValue: row[1]), key: try ObjectKey(row[2] as String),
            path: row.path(3), destination: row.path(4), size: row[5], sha256: SHA256Digest(blob: row[6]),
            storageClass: StorageClass(rawValue: row[7]), tier: tier, days: row[9], isRush: row[17], state: state,
            requestedAt: row.time(11), readyAt: row.time(12), expiresAt: row.time(13), savedAt: row.time(14),
            note: row[15], attempts: row[16], further: [RestorePlace](blob: row[18]), holder: row[19],
            wasGivenUp: row[20])
    }
}

/// What became of items of a restore job, or how far they are.
package struct RestoreOutcome: Hashable, Sendable {
    package var state: RestoreItemState
    /// `nil` where it stays as it was.
    package var tier: RestoreTier?
    /// Since when a restored one can be read; `nil`: since it was noted, unless an earlier moment is known.
    package var readyAt: Date?
    /// `nil` where it is not known, or stays as it was.
    package var expiresAt: Date?
    /// Why it failed, or in what it differs from what was asked for, in plain words.
    package var note: String?

    package init(state: RestoreItemState, tier: RestoreTier? = nil, expiresAt: Date? = nil, note: String? = nil) {
        self.state = state
        self.tier = tier
        self.expiresAt = expiresAt
        self.note = note
    }

    package static func failed(_ reason: String) -> RestoreOutcome {
        RestoreOutcome(state: .failed, note: reason)
    }
}

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
    package let polledAt: Date?
    package let polls: Int
    /// When ``Ledger/claimPlannedItems(of:limit:at:)`` gives the next one; `nil` when all were sent.
    package let claimableAt: Date?
}

/// The open items of one job that are of one kind and state.
struct OpenRestoreGroup: FetchableRecord {
    let job: RestoreJobID
    let madeAt: Date
    let polledAt: Date?
    let polls: Int
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
        let tier = try RestoreTier(rawValue: row[5]).known()
        let claimed: Int64 = row[8]
        job = RestoreJobID(rawValue: row[0])
        madeAt = Date(milliseconds: row[1])
        polledAt = row.time(2)
        polls = row[3]
        kind = OpenRestoreJob.Kind(storageClass: StorageClass(rawValue: row[4]), tier: tier)
        isPlanned = row[6]
        requestedAt = row.time(7)
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
            polledAt: first.polledAt, polls: first.polls,
            claimableAt: isFree
                ? .distantPast : planned.compactMap(\.claimedAt).min().map { $0 + Ledger.restoreClaimSeconds })
    }
}
