import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SystemPackage

/// `restore --json`: the fields are a contract (docs/commands.md).
struct RestoreReport: Encodable {
    struct Item: Encodable {
        @Nullable var path: String?
        var key: String
        var state: String
        @Nullable var error: String?
        /// In what it differs from what was asked for.
        @Nullable var note: String?
    }

    struct Skipped: Encodable {
        @Nullable var path: String?
        @Nullable var key: String?
        /// What it is instead: `retrieving`, `restored`, `readable`, `original`, `unknown`, `pending`.
        var state: String
        var reason: String
    }

    /// `null` when no job was made: nothing had to be sent, or only running restores were changed.
    @Nullable var jobId: String?
    var tier: String
    var estimatedCostUSD: Double
    /// Classes of which no price is known; what they cost is not in the estimate.
    var unpriced: [String]
    @Nullable var estimatedHours: Double?
    var items: [Item]
    var skipped: [Skipped]

    init(
        _ proposal: RestoreProposal, job: RestoreJob?, taken: [ObjectKey], items: [RestoreItem],
        changes: [RestoreUpgrader.Change], hours: Double?
    ) {
        jobId = job.map { "\($0.id)" }
        tier = proposal.tier.rawValue
        estimatedCostUSD = proposal.estimate.totalUSD.roundedUSD
        unpriced = proposal.estimate.unpriced.map(\.rawValue)
        estimatedHours = hours
        // A copy that is to stay longer may be saved by this job too: it is told once, unless the store refused.
        let inJob = Set(items.map(\.key))
        self.items =
            items.map { Item($0) }
            + changes.filter { $0.error != nil || !inJob.contains($0.candidate.key) }.map { change in
                Item(
                    path: change.candidate.path?.text, key: change.candidate.key.rawValue,
                    state: change.purpose == .longer
                        ? RestoreItemState.restored.rawValue : RestoreItemState.retrieving.rawValue,
                    error: change.error)
            }
        let asked = Set(self.items.map(\.key))
        skipped =
            Skipped.all(in: proposal).filter { !asked.contains($0.key ?? "") }
            + taken.map {
                Skipped(
                    path: nil, key: $0.rawValue, state: "retrieving", reason: "already retrieving, by another restore")
            }
    }
}

extension RestoreReport.Item {
    init(_ item: RestoreItem) {
        self.init(
            path: item.path?.text, key: item.key.rawValue, state: item.state.rawValue, error: item.error,
            note: item.error == nil ? item.note : nil)
    }
}

extension RestoreReport.Skipped {
    static func all(in proposal: RestoreProposal) -> [Self] {
        proposal.plan.skipped.map { skipped in
            Self(
                path: skipped.candidate.path?.text, key: skipped.candidate.key.rawValue,
                state: skipped.reason.state, reason: "\(skipped.reason)")
        } + proposal.problems.map { Self($0) }
    }

    private init(_ problem: RestoreSelection.Problem) {
        switch problem.reason {
        case .unknown:
            self.init(
                path: problem.name, key: nil, state: "unknown",
                reason: "nothing is known by this name; is it below a watched folder, and was it synced?")
        case .notStored(let why):
            self.init(path: problem.name, key: nil, state: "pending", reason: "it is not stored yet: \(why)")
        case .noMD5(let why):
            self.init(
                path: problem.name, key: nil, state: "pending",
                reason: "it was never read whole, so that its MD5 is not known: \(why)")
        case .ambiguous(let folders):
            self.init(
                path: problem.name, key: nil, state: "unknown",
                reason: "\(VacationLookupError.ambiguous(problem.name, folders: folders))")
        case .unreadable(let why):
            self.init(path: nil, key: problem.name, state: "unknown", reason: "the store cannot tell of it: \(why)")
        }
    }
}

extension RestoreSkip {
    fileprivate var state: String {
        switch self {
        case .alreadyRetrieving: "retrieving"
        case .alreadyReadable: "restored"
        case .notArchived: "readable"
        case .originalThere: "original"
        }
    }
}

/// `restore --estimate --json`.
struct EstimateReport: Encodable {
    struct Tier: Encodable {
        var tier: String
        @Nullable var hours: Double?
        var costUSD: Double
        var retrievalUSD: Double
        var requestsUSD: Double
        var temporaryCopyUSD: Double
        var egressUSD: Double
    }

    struct Hint: Encodable {
        var tier: String
        @Nullable var hours: Double?
        var savedUSD: Double
    }

    var items: Int
    var bytes: Int64
    /// Of the tiers as they were asked for, with all that is to be changed of other restores.
    var costUSD: Double
    /// Whether the download may fall into the gigabytes a month that leave the store for nothing.
    var egressMayBeFree: Bool
    var unpriced: [String]
    var tiers: [Tier]
    /// Slower tiers that save something against the one that was asked for.
    var hints: [Hint]
    var days: Int
    var prices: String
    var skipped: [RestoreReport.Skipped]

    init(_ proposal: RestoreProposal, prices: PriceTable) {
        let candidates = proposal.candidates
        items = candidates.count
        bytes = candidates.reduce(0) { $0 + $1.size }
        costUSD = proposal.estimate.totalUSD.roundedUSD
        egressMayBeFree = proposal.estimate.egressMayBeFree
        unpriced = proposal.estimate.unpriced.map(\.rawValue)
        tiers = proposal.options.map { option in
            let estimate = option.estimate
            return Tier(
                tier: option.tier.rawValue, hours: estimate.hours, costUSD: estimate.totalUSD.roundedUSD,
                retrievalUSD: estimate.retrievalUSD.roundedUSD, requestsUSD: estimate.requestsUSD.roundedUSD,
                temporaryCopyUSD: estimate.temporaryCopyUSD.roundedUSD, egressUSD: estimate.egressUSD.roundedUSD)
        }
        hints = proposal.hints.map { Hint(tier: $0.tier.rawValue, hours: $0.hours, savedUSD: $0.savedUSD.roundedUSD) }
        days = proposal.order.days
        self.prices = "\(prices.region), \(prices.asOf)"
        skipped = RestoreReport.Skipped.all(in: proposal)
    }
}

extension Double {
    /// To a millionth of a dollar: what is asked for one small photo is less than a cent.
    var roundedUSD: Double { (self * 1_000_000).rounded() / 1_000_000 }
}

extension RestoreReport {
    /// What the exit code says: what is missing of what was asked for.
    var status: ExitStatus {
        let failed = items.count { $0.error != nil }
        if failed > 0, failed == items.count { return .failed }
        let isIncomplete = failed > 0 || skipped.contains { ["unknown", "pending"].contains($0.state) }
        return isIncomplete ? .partlyDone : .done
    }
}

extension RestoreProposal {
    /// Whether nothing is known by any of the names.
    var isAllUnknown: Bool {
        candidates.isEmpty && plan.skipped.isEmpty && !problems.isEmpty && problems.allSatisfy { $0.reason == .unknown }
    }
}

extension RestoreJob {
    /// - Parameter hours: `nil` when it is not known.
    func end(after hours: Double?) -> Date? {
        hours.map { requestedAt.addingTimeInterval($0 * 3_600) }
    }
}
