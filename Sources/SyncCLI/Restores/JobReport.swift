import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SystemPackage

/// `restores --json`: the fields are a contract (docs/design.md, section 7).
struct JobListReport: Encodable {
    var restores: [JobReport]
}

struct JobReport: Encodable {
    /// `sending`, `retrieving`, `saving`, `ready`, `partlyReady`, `failed`, `expired`.
    enum State: String, Encodable {
        case sending, retrieving, saving, ready, partlyReady, failed, expired
    }

    struct Item: Encodable {
        @Nullable var path: String?
        var key: String
        var state: String
        var storageClass: String
        var tier: String
        var bytes: Int64
        @Nullable var readyAt: Date?
        @Nullable var expiresAt: Date?
        @Nullable var savedAt: Date?
        @Nullable var error: String?
        /// In what it differs from what was asked for.
        @Nullable var note: String?
    }

    var jobId: String
    var state: State
    var tier: String
    var requestedAt: Date
    var requestedBy: String
    /// When the last item could be read; while it is under way, when that will be at the latest.
    @Nullable var readyAt: Date?
    @Nullable var expiresAt: Date?
    var items: Int
    var done: Int
    var saved: Int
    var failed: Int
    /// Archived again.
    var expired: Int
    var bytes: Int64
    @Nullable var costUSD: Double?
    @Nullable var output: String?
    /// Where one job was asked for.
    @Nullable var itemList: [Item]?

    init(_ summary: RestoreJobSummary, items list: [RestoreItem]? = nil) {
        let job = summary.job
        jobId = "\(job.id)"
        state = State(summary)
        tier = job.tier.rawValue
        requestedAt = job.requestedAt
        requestedBy = job.requestedBy
        readyAt =
            state == .sending || state == .retrieving ? job.end(after: job.estimatedHours) : summary.latestReadyAt
        expiresAt = summary.earliestExpiry
        items = summary.total
        done = (summary.counts[.restored] ?? 0) + (summary.counts[.expired] ?? 0)
        saved = summary.saved
        failed = summary.counts[.failed] ?? 0
        expired = summary.counts[.expired] ?? 0
        bytes = summary.bytes
        costUSD = job.estimatedCostUSD.map(\.roundedUSD)
        output = job.output?.string
        itemList = list.map { $0.map(Item.init) }
    }
}

extension JobReport.State {
    fileprivate init(_ summary: RestoreJobSummary) {
        let counts = summary.counts
        let (failed, expired, restored) = (counts[.failed] ?? 0, counts[.expired] ?? 0, counts[.restored] ?? 0)
        if counts[.planned] ?? 0 > 0 {
            self = .sending
        } else if counts[.retrieving] ?? 0 > 0 {
            self = .retrieving
        } else if failed == summary.total {
            self = .failed
        } else if summary.copies == 0, expired > 0 {
            // What was never archived can be read all the same, and is not what anybody waits for.
            self = .expired
        } else if summary.job.output != nil, summary.saved < restored {
            self = .saving
        } else {
            self = failed + expired > 0 ? .partlyReady : .ready
        }
    }
}

extension JobReport.Item {
    fileprivate init(_ item: RestoreItem) {
        self.init(
            path: item.path?.string, key: item.key.rawValue, state: item.state.rawValue,
            storageClass: item.storageClass.rawValue, tier: item.tier.rawValue,
            bytes: item.size, readyAt: item.readyAt, expiresAt: item.expiresAt, savedAt: item.savedAt,
            error: item.error, note: item.error == nil ? item.note : nil)
    }
}
