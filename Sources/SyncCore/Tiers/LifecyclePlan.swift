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

/// All lifecycle rules of a store.
package struct LifecycleConfiguration: Hashable, Sendable {
    package var rules: [LifecycleRule]
    /// What the store says of the smallest object that it moves by itself (S3:
    /// `x-amz-transition-default-minimum-object-size`), given back as it came.
    package var defaultMinimumSize: String?

    package init(rules: [LifecycleRule] = [], defaultMinimumSize: String? = nil) {
        self.rules = rules
        self.defaultMinimumSize = defaultMinimumSize
    }
}

package struct LifecycleRule: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        /// One that says nothing but what ``TierRule`` can say.
        case own(TierRule)
        /// Any other: kept, and given back byte for byte.
        case foreign(String)
    }

    /// Of at most 255 characters; empty where a foreign rule has none.
    package var id: String
    package var content: Content

    package init(id: String, content: Content) {
        self.id = id
        self.content = content
    }

    /// `nil` for a rule of others.
    package var own: TierRule? {
        if case .own(let rule) = content { rule } else { nil }
    }
}

/// What is to happen to objects as they grow old, for one part of the store.
package struct TierRule: Hashable, Sendable {
    /// Beginning of the keys, below the store's own prefix; empty for all.
    package var prefix: String
    /// Only objects that are larger than so many bytes.
    package var largerThan: Int64?
    package var transition: Transition?
    /// Objects are removed when they are so many days old.
    package var expireAfterDays: Int?
    /// What was replaced or deleted is removed so many days later, where the store keeps earlier versions.
    package var expireEarlierAfterDays: Int?
    /// Uploads in parts that were not finished are taken back after so many days.
    package var abortUploadsAfterDays: Int?

    package struct Transition: Hashable, Sendable {
        package var afterDays: Int
        package var storageClass: StorageClass

        package init(afterDays: Int, storageClass: StorageClass) {
            self.afterDays = afterDays
            self.storageClass = storageClass
        }
    }

    package init(
        prefix: String, largerThan: Int64? = nil, transition: Transition? = nil, expireAfterDays: Int? = nil,
        expireEarlierAfterDays: Int? = nil, abortUploadsAfterDays: Int? = nil
    ) {
        self.prefix = prefix
        self.largerThan = largerThan
        self.transition = transition
        self.expireAfterDays = expireAfterDays
        self.expireEarlierAfterDays = expireEarlierAfterDays
        self.abortUploadsAfterDays = abortUploadsAfterDays
    }
}
