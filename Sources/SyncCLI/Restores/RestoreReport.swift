import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SystemPackage

/// `restore --json`: the fields are a contract (docs/commands.md).
struct RestoreReport: Encodable {
    struct Item: Encodable {
        @Nullable var path: String?
        /// `path`, and those of photos with the same bytes that were asked for, too.
        var paths: [String]
        var key: String
        var state: String
        @Nullable var error: String?
        /// In what it differs from what was asked for.
        @Nullable var note: String?
    }

    struct Skipped: Encodable {
        @Nullable var path: String?
        @Nullable var key: String?
        /// What it is instead: `retrieving`, `restored`, `readable`, `original`, `saved`, `unknown`, `pending`, `lost`.
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
    /// Photos that can be read, and could not be saved: by the places where they were to be.
    var notSaved: [PathRemark] = []
    /// What the store, or the catalogue of another machine, could not tell, where all photos were asked for, or those
    /// of another machine: some may be missing, or be without their names.
    var problems: [String] = []

    init(_ request: Restores.Request, items: [RestoreItem]) {
        let proposal = request.proposal
        jobId = request.job.map { "\($0.id)" }
        tier = proposal.tier.rawValue
        estimatedCostUSD = proposal.estimate.totalUSD.roundedUSD
        unpriced = proposal.estimate.unpriced.map(\.rawValue)
        estimatedHours = request.hours
        // A copy that is to stay longer may be saved by this job too: it is told once, unless the store refused.
        let inJob = Set(items.map(\.key))
        self.items =
            items.map { Item($0) }
            + request.changes.filter { $0.error != nil || !inJob.contains($0.candidate.key) }.map { change in
                Item(
                    path: change.candidate.path?.text, paths: change.candidate.path.map { [$0.text] } ?? [],
                    key: change.candidate.key.rawValue,
                    state: change.purpose == .longer
                        ? RestoreItemState.restored.rawValue : RestoreItemState.retrieving.rawValue,
                    error: change.error, note: change.error == nil ? proposal.note(of: change.candidate.key) : nil)
            }
        let asked = Set(self.items.map(\.key))
        skipped =
            Skipped.all(in: proposal).filter { !asked.contains($0.key ?? "") }
            + request.taken.map {
                Skipped(
                    path: nil, key: $0.rawValue, state: "retrieving", reason: "already retrieving, by another restore")
            }
    }

    /// What the exit code says: what is missing of what was asked for.
    var status: ExitStatus {
        let failed = items.count { $0.error != nil }
        if failed > 0, failed == items.count { return .failed }
        let isAnyLeft = failed > 0 || skipped.contains { ["unknown", "pending", "lost"].contains($0.state) }
        let isIncomplete = isAnyLeft || !problems.isEmpty
        return isIncomplete ? .partlyDone : .done
    }
}

extension RestoreItem {
    /// Of all photos that it is.
    var paths: [String] { ([path].compactMap(\.self) + further.map(\.path)).map(\.text) }
}

extension RestoreReport.Item {
    init(_ item: RestoreItem) {
        self.init(
            path: item.path?.text, paths: item.paths, key: item.key.rawValue, state: item.state.rawValue,
            error: item.error, note: item.error == nil ? item.note : nil)
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

    init(_ problem: RestoreSelection.Problem) {
        var isKey = false
        var state = "unknown"
        let reason: String
        switch problem.reason {
        case .unknown: reason = "nothing is known by this name; is it below a watched folder, and was it synced?"
        case .notStored(let why): (state, reason) = ("pending", "it is not stored yet: \(why)")
        case .noMD5(let why): (state, reason) = ("pending", "never stored: \(why)")
        case .changed(let why):
            (state, reason) = (
                "pending",
                "its file has changed since it was stored, and is not stored as it is now: \(why); --version 1 brings "
                    + "back what was stored"
            )
        case .lost(let why, let hasVersions):
            let remedy = hasVersions ? "; --version 1 brings back what was stored before" : ""
            (state, reason) = ("lost", "it is lost: \(why)\(remedy)")
        case .ambiguous(let folders): reason = "\(VacationLookupError.ambiguous(problem.name, folders: folders))"
        case .noOriginal:
            reason = "its own bytes are not kept (photos.keep_originals); without --original its stored copy comes back"
        case .unreadable(let why): (isKey, reason) = (true, "the store cannot tell of it: \(why)")
        }
        self.init(
            path: isKey ? nil : problem.name, key: isKey ? problem.name : nil, state: state, reason: reason)
    }
}

extension RestoreSkip {
    fileprivate var state: String {
        switch self {
        case .alreadyRetrieving: "retrieving"
        case .alreadyReadable: "restored"
        case .notArchived: "readable"
        case .originalThere: "original"
        case .saved: "saved"
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
    /// As in ``RestoreReport``.
    var problems: [String] = []

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

extension RestoreProposal {
    /// Whether nothing at all is meant.
    var isEmpty: Bool { candidates.isEmpty && plan.skipped.isEmpty && plan.groups.isEmpty && problems.isEmpty }

    /// Whether nothing is known by any of the names.
    var isAllUnknown: Bool {
        candidates.isEmpty && plan.skipped.isEmpty && !problems.isEmpty
            && problems.allSatisfy { [.unknown, .noOriginal].contains($0.reason) }
    }
}

extension RestoreJob {
    /// - Parameter hours: `nil` when it is not known.
    func end(after hours: Double?) -> Date? {
        hours.map { requestedAt.addingTimeInterval($0 * 3_600) }
    }
}

/// What a restore comes to, for people.
struct RestoreView {
    let terminal: Terminal
    let prices: PriceTable
    /// Whether the store asks for money at all.
    let isFree: Bool

    private let table = Table(indent: 2, .left(12), .left(16), .right(12))

    /// What was found, and what each tier would cost.
    func proposal(_ proposal: RestoreProposal) -> [String] {
        let candidates = proposal.candidates
        let bytes = candidates.reduce(0) { $0 + $1.size }
        var lines = [
            candidates.isEmpty
                ? "Nothing has to be brought back from the archive."
                : "\(Quantities.counted(candidates.count, "photo")) to bring back from the archive, "
                    + Quantities.bytes(bytes)
        ]
        lines += skipped(proposal)
        if proposal.copiesOnly > 0 {
            let photos = Quantities.counted(
                proposal.copiesOnly, "photo comes as its stored copy, since its",
                plural: "photos come as their stored copies, since their")
            lines += terminal.wrapped("\(photos) own bytes are not kept, or are damaged.")
        }
        guard !candidates.isEmpty else { return lines }
        if !proposal.options.isEmpty {
            lines += ["", terminal.styled(table.row("tier", "ready within", "costs about"), .bold)]
        }
        lines += proposal.options.map { option in
            let mark = option.tier == proposal.tier ? "  <- this one" : ""
            return table.row(
                option.tier.rawValue, option.estimate.hours.map(Self.hours) ?? "not known",
                Quantities.dollars(option.estimate.totalUSD)) + mark
        }
        let total = Quantities.aboutDollars(proposal.estimate.totalUSD)
        lines += terminal.wrapped("As asked for (\(requests(proposal))), it costs \(total) in all.")
        lines += terminal.wrapped(
            "For \(Quantities.counted(proposal.order.days, "day")), with everything downloaded once"
                + (proposal.estimate.egressMayBeFree
                    ? " (which may fall into the \(Int(prices.freeEgressGB)) GB a month that are free)" : "")
                + "; Amazon's list prices in \(prices.region), \(prices.asOf)."
                + (isFree ? " The embedded store itself costs nothing, and takes store.restore_seconds." : ""), .dim)
        if !proposal.estimate.unpriced.isEmpty {
            let classes = proposal.estimate.unpriced.map(\.rawValue).joined(separator: ", ")
            lines += terminal.wrapped("Not in it, because no price is known: \(classes).")
        }
        lines += proposal.hints.flatMap { hint in
            let wait = hint.hours.map { ", within \(Self.hours($0))" } ?? ""
            return terminal.wrapped(
                "With --tier \(hint.tier.rawValue)\(wait), it costs \(Quantities.dollars(hint.savedUSD)) less.")
        }
        if proposal.plan.groups.contains(where: \.mayEndBeforeReady) {
            lines += terminal.wrapped(
                "The days count from now: they may be over before the photos are there. Ask for more with --days.")
        }
        return lines
    }

    /// `38 standard from DEEP_ARCHIVE, 2 expedited from GLACIER, 5 to stay longer`
    private func requests(_ proposal: RestoreProposal) -> String {
        proposal.plan.groups.map { group in
            let count = Quantities.count(group.candidates.count)
            return switch group.purpose {
            case .restore: "\(count) \(group.request.tier.rawValue) from \(group.storageClass)"
            case .faster: "\(count) faster, \(group.request.tier.rawValue) from \(group.storageClass)"
            case .longer: "\(count) to stay longer"
            }
        }.joined(separator: ", ")
    }

    /// A name in a line of its own, with what is said of it below.
    private func named(_ name: String, _ text: String) -> [String] {
        ["  " + TextLayout.shortened(name.escapingControls, to: terminal.textWidth - 2)]
            + terminal.wrapped(text.escapingControls, indent: 6)
    }

    /// One line for each reason, with names while there are few.
    func skipped(_ proposal: RestoreProposal) -> [String] {
        let skipped = RestoreReport.Skipped.all(in: proposal)
        let byReason = Dictionary(grouping: skipped, by: \.reason)
        return byReason.sorted { ($0.value.count, $1.key) > ($1.value.count, $0.key) }.flatMap { reason, skipped in
            if skipped.count > 3 {
                return terminal.wrapped("\(Quantities.counted(skipped.count, "photo")): \(reason)", indent: 2)
            }
            return skipped.flatMap { named($0.path ?? $0.key ?? "", reason) }
        }
    }

    /// What was done.
    func result(_ report: RestoreReport, readyAt: Date?) -> [String] {
        var lines: [String] = []
        let failed = report.items.filter { $0.error != nil }
        lines += failures(failed)
        lines += notes(report.items)
        let asked = report.items.count - failed.count
        guard let job = report.jobId else {
            if asked > 0 { lines.append("\(Quantities.counted(asked, "restore")) changed.") }
            return lines
        }
        lines += terminal.wrapped(
            "Restore \(job): \(Quantities.counted(asked, "photo")), \(report.tier)"
                + (readyAt.map { ", ready by \(Quantities.time($0)) at the latest." } ?? "."))
        let waiting = report.items.count { $0.state == RestoreItemState.planned.rawValue }
        if waiting > 0 {
            lines += terminal.wrapped(
                "\(Quantities.counted(waiting, "photo")) could not be requested yet, the store is busy: the agent, or "
                    + "sync-agent restores --refresh, continues it.")
        }
        lines.append("Follow it with: sync-agent restores \(job)")
        return lines
    }

    func failures(_ items: [RestoreReport.Item]) -> [String] {
        let shown = 10
        var lines = items.prefix(shown).flatMap { item in
            [terminal.styled("failed", .red)] + named(item.path ?? item.key, item.error ?? "")
        }
        if items.count > shown { lines.append("and \(items.count - shown) more that failed") }
        return lines
    }

    func notes(_ items: [RestoreReport.Item]) -> [String] {
        Dictionary(grouping: items.compactMap(\.note)) { $0 }.sorted { $0.key < $1.key }.flatMap { note, all in
            terminal.wrapped("\(Quantities.counted(all.count, "photo")): \(note)")
        }
    }

    static func hours(_ hours: Double) -> String { Quantities.span(.seconds(hours * 3_600)) }
}
