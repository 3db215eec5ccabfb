import SyncConfig
import SyncCore
import SyncEngine
import SyncLocalStore

/// `lifecycle show|apply --json`: the fields are a contract (docs/commands.md).
struct LifecycleReport: Encodable {
    struct Floor: Encodable {
        /// The smallest object that is archived; `null` when archiving pays for none.
        @Nullable var bytes: Int64?
        /// `tiers.minimum_archive_bytes`
        var configuredBytes: Int64
        /// From which size on archiving pays within `months`; `null` when it never does, or no prices count here.
        @Nullable var breakEvenBytes: Int64?
        var months: Int
        /// In plain words.
        var explanation: String
    }

    struct Rule: Encodable {
        enum State: String, Encodable {
            /// It stands in the store as it should.
            case active
            /// The store has none like it.
            case missing
            /// The store has another one under its name.
            case different
            /// It stands in the store and is not wanted.
            case unwanted
            /// The agent carries it out, and it stands in no store.
            case byAgent
        }

        var id: String
        /// In plain words.
        var description: String
        @Nullable var prefix: String?
        @Nullable var days: Int?
        @Nullable var storageClass: String?
        /// Bytes.
        @Nullable var largerThan: Int64?
        var state: State
    }

    struct Change: Encodable {
        enum Action: String, Encodable {
            case add, change, remove, keep
        }

        var action: Action
        var id: String
        var description: String
    }

    var mode: String
    /// Who moves old photos to the archive: `store`, `agent` or `nobody`.
    var carriedOutBy: String
    var floor: Floor
    var rules: [Rule]
    /// Rules of others in the store.
    var foreign: Int
    var foreignIds: [String]
    /// What `apply` does, or has done.
    var changes: [Change]
    var applied: Bool
}

extension LifecycleReport {
    /// - Parameters:
    ///   - plan: `nil` for a store that keeps no rules.
    init(_ policy: TierPolicy, plan: LifecyclePlan?, foreignIDs: [String], floor: Floor, applied: Bool) {
        let (isStores, changes) = (policy.mode == .bucket && plan != nil, plan?.changes ?? [])
        let own = isStores ? [] : policy.archiveRules.map { Rule($0, .byAgent) }
        self.init(
            mode: policy.mode.rawValue,
            carriedOutBy: policy.mode == .off ? "nobody" : isStores ? "store" : "agent", floor: floor,
            rules: own + changes.compactMap { Rule($0, applied: applied) }, foreign: plan?.foreignCount ?? 0,
            foreignIds: foreignIDs, changes: changes.map(Change.init), applied: applied)
    }
}

extension LifecycleReport.Rule {
    fileprivate init(_ rule: LifecycleRule, _ state: State) {
        self.init(
            id: rule.id, description: rule.words, prefix: rule.own?.prefix,
            days: rule.own.flatMap { $0.transition?.afterDays ?? $0.expireAfterDays ?? $0.abortUploadsAfterDays },
            storageClass: rule.own?.transition?.storageClass.rawValue, largerThan: rule.own?.largerThan, state: state)
    }

    /// `nil` for a rule that is gone.
    fileprivate init?(_ change: LifecyclePlan.Change, applied: Bool) {
        switch change {
        case .removed where applied: return nil
        case .added(let rule): self.init(rule, applied ? .active : .missing)
        case .changed(_, let rule): self.init(rule, applied ? .active : .different)
        case .removed(let rule): self.init(rule, .unwanted)
        case .unchanged(let rule): self.init(rule, .active)
        }
    }
}

extension LifecycleReport.Change {
    fileprivate init(_ change: LifecyclePlan.Change) {
        switch change {
        case .added(let rule): self.init(action: .add, id: rule.id, description: rule.words)
        case .changed(let old, let rule):
            self.init(action: .change, id: rule.id, description: "\(rule.words) (it was: \(old.words))")
        case .removed(let rule): self.init(action: .remove, id: rule.id, description: rule.words)
        case .unchanged(let rule): self.init(action: .keep, id: rule.id, description: rule.words)
        }
    }
}

extension LifecycleRule {
    /// What it does. A rule under our name that says what ours never do is somebody's edit.
    var words: String { own?.description ?? "edited by somebody else" }
}

extension LifecycleReport.Floor {
    /// - Parameter prices: those that `floor` was made with; `nil` where none count.
    init(_ floor: ArchiveFloor, prices: PriceTable?) {
        let months = ArchiveFloor.months
        let configured = "tiers.minimum_archive_bytes is \(Quantities.bytes(floor.configured))"
        let by = prices.map { "by Amazon's list prices (\($0.region), \($0.asOf))" } ?? ""
        var breakEven: Int64?
        let explanation: String
        switch floor.breakEven {
        case .from(let size):
            breakEven = size
            explanation =
                "\(configured), and \(by) archiving pays within \(months) months from \(Quantities.bytes(size)) on; the "
                + "larger one counts"
        case .never: explanation = "\(configured), but \(by) archiving pays for no object within \(months) months"
        case .unknown:
            let why = prices == nil ? "this store does not bill as Amazon does" : "the price table lacks a class"
            explanation = "\(configured); no price counts, because \(why)"
        }
        self.init(
            bytes: floor.bytes, configuredBytes: floor.configured, breakEvenBytes: breakEven, months: months,
            explanation: explanation)
    }

    /// `Archived are photos of 128 KiB and more: …`
    var sentence: String {
        let head = bytes.map { "Archived are photos of \(Quantities.bytes($0)) and more" } ?? "Nothing is archived"
        return "\(head): \(explanation)."
    }
}

/// The rules for old objects, for people, in 80 columns.
struct LifecycleView {
    let terminal: Terminal

    /// All rules, how they stand, and what is missing.
    func rules(_ report: LifecycleReport, in store: StoreIdentity) -> [String] {
        var lines = who(report, in: store) + [""]
        for rule in report.rules {
            let (word, style) = word(for: rule.state)
            lines.append(
                Table(.left(9, gap: 2), .rest).row(word, terminal.styled(rule.id.escapingControls, .bold)) {
                    terminal.styled($0, style)
                })
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

    private func word(for state: LifecycleReport.Rule.State) -> (String, Terminal.Style) {
        switch state {
        case .active: ("in store", .green)
        case .missing: ("missing", .yellow)
        case .different: ("different", .yellow)
        case .unwanted: ("unwanted", .yellow)
        case .byAgent: ("by agent", .green)
        }
    }
}

/// Brings the rules in a store to what the configuration wants, and proves that it did nothing else.
struct LifecycleEditor {
    let store: any ObjectStore
    let policy: TierPolicy

    /// What stands, and what would be done about it.
    func plan() async throws -> (current: LifecycleConfiguration, plan: LifecyclePlan) {
        let current = try await store.lifecycle()
        return (current, LifecyclePlan(from: current, policy: policy))
    }

    /// Writes all rules at once, and reads them again.
    /// - Parameter current: what the plan was made from.
    /// - Returns: what the store did not keep of ours, where that does no harm, in plain words.
    /// - Throws: ``CommandFailure`` where somebody else has written rules since the plan was made, and where the store
    ///   takes none or did not keep them as they were written; ``StoreError``.
    func carryOut(_ plan: LifecyclePlan, from current: LifecycleConfiguration) async throws -> [String] {
        // A person may have thought about the question for a while.
        guard try await store.lifecycle() == current else {
            throw CommandFailure.failed(
                "the rules in the store were changed by somebody else in this moment; nothing was written: look again")
        }
        do {
            try await store.setLifecycle(plan.configuration)
        } catch let error as StoreError where error.code == .unsupported {
            // Some stores have rules to read, and none to write.
            throw Self.withoutRules(error)
        }
        let kept = try await store.lifecycle()
        // Where nobody bills for small objects as Amazon does, that costs nothing. (Ceph 16 and moto drop
        // `ObjectSizeGreaterThan`.)
        let sizeless = policy.floor.breakEven == .unknown ? Self.rules(of: plan, in: kept, without: \.largerThan) : []
        let versionless = Self.rules(of: plan, in: kept, without: \.expireEarlierAfterDays)
        let tolerated = sizeless + versionless
        let expected = LifecycleConfiguration(
            rules: plan.configuration.rules.map { rule in tolerated.first { $0.id == rule.id } ?? rule })
        let differences = Self.differences(between: expected, and: kept)
        if !differences.isEmpty {
            throw CommandFailure.failed(
                "the store did not keep the rules as they were written:\n"
                    + differences.map { "  \($0)" }.joined(separator: "\n")
                    + "\nWhat it kept is in force now: correct the configuration and run lifecycle apply again. With "
                    + "tiers.mode: agent it needs no rules for old photos.")
        }
        return sizeless.map {
            "\($0.id): this store keeps no limit of size, so that smaller objects move too"
        }
            + versionless.map {
                "\($0.id): this store keeps no rule about earlier versions; where it keeps such, what was revoked stays"
            }
    }

    /// Our rules that came back whole but for one part, as they came.
    private static func rules<Value>(
        of plan: LifecyclePlan, in found: LifecycleConfiguration, without part: WritableKeyPath<TierRule, Value?>
    ) -> [LifecycleRule] {
        plan.configuration.rules.compactMap { rule in
            guard var own = rule.own, own[keyPath: part] != nil else { return nil }
            own[keyPath: part] = nil
            let cut = LifecycleRule(id: rule.id, content: .own(own))
            return found.rules.contains(cut) ? cut : nil
        }
    }

    /// What people hear of a store that has no rules.
    static func withoutRules(_ error: StoreError) -> CommandFailure {
        CommandFailure.failed(
            "\(error). Set tiers.mode: agent in the configuration: then the agent moves old photos to the archive "
                + "by itself, where the store has storage classes")
    }

    /// What of the rules that were written is not there as it was. In which order a store keeps them has no meaning.
    static func differences(between wanted: LifecycleConfiguration, and found: LifecycleConfiguration) -> [String] {
        var rest = found.rules
        let lost = wanted.rules.filter { rule in
            guard let index = rest.firstIndex(of: rule) else { return true }
            rest.remove(at: index)
            return false
        }
        let lines = lost.map { rule in
            let name = rule.id.isEmpty ? "a rule without a name" : rule.id.escapingControls
            let owner = rule.own == nil ? "\(name), a rule of others" : "\(name) (\(rule.words))"
            guard let index = rest.firstIndex(where: { $0.id == rule.id }) else { return "\(owner): it is gone" }
            let other = rest.remove(at: index)
            return "\(owner): it is another now" + (other.own.map { " (\($0))" } ?? "")
        }
        return lines + rest.map { "\($0.id.escapingControls): a rule that was not written" }
    }
}

/// How the rules stand in the configured store.
struct LifecycleInspector {
    struct Status {
        /// `nil` for a store that keeps no rules.
        let inStore: (current: LifecycleConfiguration, plan: LifecyclePlan)?
        let report: LifecycleReport
    }

    let store: any ObjectStore
    let policy: TierPolicy
    private let prices: PriceTable?

    var editor: LifecycleEditor { LifecycleEditor(store: store, policy: policy) }

    init(_ workspace: Workspace) async throws {
        let installation = workspace.installation
        store = try await workspace.readStore()
        policy = try installation.tierPolicy()
        prices = try installation.pricesThatCount()
    }

    /// - Throws: ``CommandFailure`` where rules are wanted and the store has no such thing; ``StoreError``.
    func status() async throws -> Status {
        let inStore = try await rules()
        return Status(inStore: inStore, report: report(inStore, applied: false))
    }

    func report(_ inStore: (current: LifecycleConfiguration, plan: LifecyclePlan)?, applied: Bool) -> LifecycleReport {
        LifecycleReport(
            policy, plan: inStore?.plan,
            foreignIDs: inStore?.current.rules.map(\.id).filter { !policy.ruleIDs.contains($0) } ?? [],
            floor: LifecycleReport.Floor(policy.floor, prices: prices), applied: applied)
    }

    private func rules() async throws -> (current: LifecycleConfiguration, plan: LifecyclePlan)? {
        if store.capabilities.lifecycle == .byAgent { return nil }
        do {
            return try await editor.plan()
        } catch let error as StoreError where error.code == .unsupported {
            if policy.mode != .bucket { return nil }
            throw LifecycleEditor.withoutRules(error)
        }
    }
}
