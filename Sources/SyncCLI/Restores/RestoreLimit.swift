import SyncConfig
import SyncCore
import SyncEngine

/// What a restore may cost at most.
struct RestoreLimit {
    /// `nil`: whatever it costs.
    let maximumUSD: Double?
    /// The option or key that says so.
    let source: String

    init(maximumCost: Double? = nil, _ settings: RestoreSettings) {
        maximumUSD = maximumCost ?? settings.maximumCostUSD
        source = maximumCost == nil ? "restore.max_cost_usd" : "--max-cost"
    }

    /// - Throws: ``CommandFailure`` with what would be cheaper.
    func check(_ proposal: RestoreProposal) throws {
        guard let limit = maximumUSD else { return }
        guard proposal.estimate.unpriced.isEmpty else {
            let classes = proposal.estimate.unpriced.map(\.rawValue).joined(separator: ", ")
            throw CommandFailure(
                .failed,
                "\(source) sets a limit, and no price of \(classes) is known; no restore was requested. Add it to the file that "
                    + "cost.prices names, or leave the limit out")
        }
        guard proposal.estimate.totalUSD > limit else { return }
        let cheaper = proposal.options.first { $0.estimate.totalUSD <= limit && $0.tier != proposal.tier }.map {
            "; --tier \($0.tier.rawValue) would cost \(Quantities.dollars($0.estimate.totalUSD))"
        }
        throw CommandFailure(
            .failed,
            "it would cost \(Quantities.aboutDollars(proposal.estimate.totalUSD)), and the limit is "
                + "$\(limit) (\(source)); no restore was requested"
                + (cheaper ?? ". Name fewer photos, or raise the limit"))
    }
}
