import SyncConfig
import SyncCore
import SyncEngine
import SyncLocalStore

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
            throw CommandFailure(
                .failed,
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
            throw CommandFailure(
                .failed,
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
        CommandFailure(
            .failed,
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
    struct Standing {
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
    func standing() async throws -> Standing {
        let inStore = try await rules()
        return Standing(inStore: inStore, report: report(inStore, applied: false))
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
