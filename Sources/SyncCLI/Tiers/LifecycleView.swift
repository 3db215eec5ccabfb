import SyncCore

/// The rules for old objects, for people, in 80 columns.
struct LifecycleView {
    let terminal: Terminal

    /// All rules, how they stand, and what is missing.
    func rules(_ report: LifecycleReport, of policy: TierPolicy, in store: StoreIdentity) -> [String] {
        var lines = who(report, in: store) + [""]
        for rule in report.rules {
            lines.append(word(for: rule.state) + "  " + terminal.styled(rule.id.escapingControls, .bold))
            lines += terminal.wrapped(rule.description, indent: 11)
        }
        if report.rules.isEmpty { lines.append("No rules.") }
        lines += foreign(report)
        lines += [""] + terminal.wrapped(report.floor.sentence)
        let open = report.changes.count { $0.action != .keep }
        if open > 0 {
            lines.append(
                "\(Quantities.counted(open, "rule")) to be written: sync-agent lifecycle apply")
        }
        return lines
    }

    /// `+` new, `~` another, `-` gone, `=` as it is.
    func difference(_ report: LifecycleReport) -> [String] {
        report.changes.flatMap { change in
            let (mark, style): (String, Terminal.Style) =
                switch change.action {
                case .add: ("+", .green)
                case .change: ("~", .yellow)
                case .remove: ("-", .red)
                case .keep: ("=", .dim)
                }
            return [terminal.styled("\(mark) \(change.id.escapingControls)", style)]
                + terminal.wrapped(change.description, indent: 4)
        } + foreign(report)
    }

    private func who(_ report: LifecycleReport, in store: StoreIdentity) -> [String] {
        let text =
            switch report.carriedOutBy {
            case "store": "\(store.location) moves old photos to the archive by the rules that are kept in it."
            case "agent":
                report.mode == TierMode.agent.rawValue
                    ? "The agent moves old photos to the archive (tiers.mode: agent), on every sync and hourly in run."
                    : """
                    The embedded store keeps no rules: the agent takes them from the configuration and carries them out \
                    on every sync, and hourly in run.
                    """
            default: "Nobody moves old photos to the archive (tiers.mode: off)."
            }
        return terminal.wrapped(text)
    }

    private func foreign(_ report: LifecycleReport) -> [String] {
        guard report.foreign > 0 else { return [] }
        let names = report.foreignIds.map { $0.isEmpty ? "(without a name)" : $0.escapingControls }
        let text =
            "\(Quantities.counted(report.foreign, "rule")) of others, left as they are: \(names.joined(separator: ", "))"
        return terminal.wrapped(text)
    }

    private func word(for state: LifecycleReport.Rule.State) -> String {
        let (word, style): (String, Terminal.Style) =
            switch state {
            case .active: ("in store", .green)
            case .missing: ("missing", .yellow)
            case .different: ("different", .yellow)
            case .unwanted: ("unwanted", .yellow)
            case .byAgent: ("by agent", .green)
            }
        return terminal.styled(TextLayout.fitted(word, to: 9), style)
    }
}
