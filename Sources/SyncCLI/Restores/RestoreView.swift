import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SystemPackage

/// What a restore comes to, for people.
struct RestoreView {
    let terminal: Terminal
    let prices: PriceTable
    /// Whether the store asks for money at all.
    let isFree: Bool

    private let table = Table(indent: 2, .left(12), .left(16), .right(12))

    init(terminal: Terminal, prices: PriceTable, isFree: Bool) {
        self.terminal = terminal
        self.prices = prices
        self.isFree = isFree
    }

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
            lines += terminal.wrapped("Not in it, because no price is known: \(classes(proposal.estimate.unpriced)).")
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

    private func classes(_ classes: [StorageClass]) -> String {
        classes.map(\.rawValue).joined(separator: ", ")
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
        lines += Dictionary(grouping: report.items.compactMap(\.note)) { $0 }.sorted { $0.key < $1.key }.flatMap {
            note, all in
            terminal.wrapped("\(Quantities.counted(all.count, "photo")): \(note)")
        }
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

    private func failures(_ items: [RestoreReport.Item]) -> [String] {
        let shown = 10
        var lines = items.prefix(shown).flatMap { item in
            [terminal.styled("failed", .red)] + named(item.path ?? item.key, item.error ?? "")
        }
        if items.count > shown { lines.append("and \(items.count - shown) more that failed") }
        return lines
    }

    /// How it ended, for those who waited.
    func end(_ report: RestoreReport, _ summary: RestoreJobSummary) -> [String] {
        let ready = summary.counts[.restored] ?? 0
        var line = "\(Quantities.counted(ready, "photo")) can be read now"
        if let output = summary.job.output {
            line += ", \(Quantities.count(summary.saved)) saved in \(output.text.escapingControls)"
        }
        return failures(report.items.filter { $0.error != nil }) + [line]
    }

    static func hours(_ hours: Double) -> String { Quantities.span(.seconds(hours * 3_600)) }
}
