package import SyncCore

extension StoreChecks {
    /// The store's rules are compared and not written: a change belongs to `lifecycle apply`.
    /// - Parameter classes: those that the store turned out to have; `nil` where that was not tried.
    package func lifecycle(_ policy: TierPolicy, classes: [StorageClass]? = nil) async throws -> Finding {
        try await finding("lifecycle") { name in
            if let classes, let lacking = policy.archiveClasses.first(where: { !classes.contains($0) }) {
                return .limited(
                    name, "the store has no \(lacking), so that neither rules nor the agent can move photos there",
                    instead: "they stay in STANDARD; set tiers.mode: off")
            }
            guard store.capabilities.lifecycle == .byRules else {
                return .ok(name, "the store keeps no rules; sync-agent carries ours out by itself")
            }
            do {
                return Self.finding(name, LifecyclePlan(from: try await store.lifecycle(), policy: policy))
            } catch let error as StoreError where error.code == .unsupported {
                return .limited(
                    name, "the store has no rules that move or remove objects",
                    instead: "set tiers.mode: agent, and sync-agent moves them itself; or off")
            } catch let error as StoreError where error.code == .accessDenied {
                return .limited(
                    name, "the credentials may not read the rules",
                    instead: "rules are left alone; to manage them, grant s3:GetLifecycleConfiguration and "
                        + "s3:PutLifecycleConfiguration")
            }
        }
    }

    private static func finding(_ name: String, _ plan: LifecyclePlan) -> Finding {
        let others = plan.foreignCount == 0 ? "" : ", beside \(plan.foreignCount) of others"
        if plan.isNothingToDo {
            return .ok(name, "our \(plan.changes.count.counted("rule stands", "rules stand")) as configured\(others)")
        }
        let (added, changed, removed) = plan.counts
        let steps = [(added, "to add"), (changed, "to change"), (removed, "to remove")].filter { $0.0 > 0 }
        return .limited(
            name,
            "our rules are not as configured: \(steps.map { "\($0.0) \($0.1)" }.joined(separator: ", "))\(others)",
            instead: "the store goes by those that it has; run: sync-agent lifecycle apply")
    }
}

extension LifecyclePlan {
    fileprivate var counts: (added: Int, changed: Int, removed: Int) {
        changes.reduce(into: (0, 0, 0)) { counts, change in
            switch change {
            case .added: counts.0 += 1
            case .changed: counts.1 += 1
            case .removed: counts.2 += 1
            case .unchanged: break
            }
        }
    }
}

extension TierPolicy {
    /// Where old photos are to go; none where nothing is archived.
    fileprivate var archiveClasses: [StorageClass] {
        mode == .off ? [] : archiveRules.compactMap { $0.own?.transition?.storageClass }
    }
}
