import SyncCore

/// `lifecycle show|apply --json`: the fields are a contract (docs/design.md, section 7).
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
        let isStores = policy.mode == .bucket && plan != nil
        mode = policy.mode.rawValue
        carriedOutBy = policy.mode == .off ? "nobody" : isStores ? "store" : "agent"
        self.floor = floor
        let own = isStores ? [] : policy.archiveRules.map { Rule($0, .byAgent) }
        rules = own + (plan?.changes ?? []).compactMap { Rule($0, applied: applied) }
        foreign = plan?.foreignCount ?? 0
        foreignIds = foreignIDs
        changes = (plan?.changes ?? []).map(Change.init)
        self.applied = applied
    }
}

extension LifecycleReport.Rule {
    fileprivate init(_ rule: LifecycleRule, _ state: State) {
        id = rule.id
        description = rule.words
        prefix = rule.own?.prefix
        days = rule.own.flatMap { $0.transition?.afterDays ?? $0.expireAfterDays ?? $0.abortUploadsAfterDays }
        storageClass = rule.own?.transition?.storageClass.rawValue
        largerThan = rule.own?.largerThan
        self.state = state
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
