/// How to get from the rules that a store has to those we want, with every rule of others left as it stands.
///
/// Ours are the rules with an id of our policy. Those of another user of the same bucket look alike and are not ours.
package struct LifecyclePlan: Hashable, Sendable {
    package enum Change: Hashable, Sendable {
        case added(LifecycleRule)
        /// Our setting is another now, or somebody else has edited the rule.
        case changed(from: LifecycleRule, to: LifecycleRule)
        case removed(LifecycleRule)
        case unchanged(LifecycleRule)
    }

    /// All rules as they should be: changed ones in their place, new ones at the end. To be written as a whole.
    package let configuration: LifecycleConfiguration
    /// Of our rules, in the order of the store, then the new ones.
    package let changes: [Change]
    /// How many rules of others stand beside ours.
    package let foreignCount: Int

    package var isNothingToDo: Bool {
        changes.allSatisfy { change in
            if case .unchanged = change { true } else { false }
        }
    }

    package init(from current: LifecycleConfiguration, policy: TierPolicy) {
        let ids = policy.ruleIDs
        var rules: [LifecycleRule] = []
        var changes: [Change] = []
        var open = policy.bucketRules
        for rule in current.rules {
            guard ids.contains(rule.id) else {
                rules.append(rule)
                continue
            }
            // A second rule with the same id finds its wanted one taken, and goes.
            guard let index = open.firstIndex(where: { $0.id == rule.id }) else {
                changes.append(.removed(rule))
                continue
            }
            let target = open.remove(at: index)
            rules.append(target)
            changes.append(rule == target ? .unchanged(rule) : .changed(from: rule, to: target))
        }
        foreignCount = current.rules.count { !ids.contains($0.id) }
        self.changes = changes + open.map { .added($0) }
        configuration = LifecycleConfiguration(rules: rules + open, defaultMinimumSize: current.defaultMinimumSize)
    }
}
