import SyncCore
import Testing

@Suite struct LifecyclePlanTests {
    private static func policy(user: String = "ana", mode: TierMode = .bucket, days: Int = 180) -> TierPolicy {
        TierPolicy(
            user: user, mode: mode, archiveAfterDays: days, originalsAfterDays: days,
            floor: ArchiveFloor(configured: 131_072, prices: .example), shareExpireDays: 30)
    }

    private static func foreign(_ id: String, _ text: String = "<Rule/>") -> LifecycleRule {
        LifecycleRule(id: id, content: .foreign(text))
    }

    private let wanted = policy().bucketRules

    @Test func `an empty store gets all rules`() {
        let plan = LifecyclePlan(from: LifecycleConfiguration(), policy: Self.policy())
        #expect(plan.configuration.rules == wanted)
        #expect(plan.changes == wanted.map { .added($0) })
        #expect(!plan.isNothingToDo && plan.foreignCount == 0)
    }

    @Test func `what was written once is nothing to do the second time, in whatever order the store gives it back`() {
        let stored = LifecycleConfiguration(
            rules: [Self.foreign("x")] + wanted.reversed(), defaultMinimumSize: "varies_by_storage_class")
        let plan = LifecyclePlan(from: stored, policy: Self.policy())
        #expect(plan.isNothingToDo)
        #expect(plan.configuration == stored)
        #expect(plan.changes.count == 5 && plan.foreignCount == 1)
    }

    @Test func `another setting changes our rules in their places`() throws {
        let stored = LifecycleConfiguration(rules: [wanted[0], Self.foreign("x"), wanted[1]] + wanted[2...])
        let plan = LifecyclePlan(from: stored, policy: Self.policy(days: 30))
        #expect(plan.configuration.rules.map(\.id) == stored.rules.map(\.id))
        let target = Self.policy(days: 30).bucketRules
        #expect(
            plan.changes.prefix(2) == [
                .changed(from: wanted[0], to: target[0]), .changed(from: wanted[1], to: target[1]),
            ])
        #expect(plan.changes.suffix(2) == [.unchanged(wanted[3]), .unchanged(wanted[4])])
    }

    @Test func `archiving turned off takes our rules away, and nobody else's`() {
        let bob = Self.policy(user: "bob").bucketRules[0]
        let stored = LifecycleConfiguration(rules: [Self.foreign("x"), bob] + wanted)
        let plan = LifecyclePlan(from: stored, policy: Self.policy(mode: .off))
        #expect(plan.configuration.rules == [Self.foreign("x"), bob] + wanted.suffix(2))
        #expect(plan.changes.prefix(3) == wanted.prefix(3).map { .removed($0) }[...])
        #expect(plan.foreignCount == 2)
    }

    @Test func `a rule with our id that somebody has edited is put right, and shown as changed`() {
        let edited = Self.foreign("sync-agent-photos-ana", "<Rule><Status>Disabled</Status></Rule>")
        let plan = LifecyclePlan(
            from: LifecycleConfiguration(rules: [edited] + wanted.dropFirst()), policy: Self.policy())
        #expect(plan.changes.first == .changed(from: edited, to: wanted[0]))
        #expect(plan.configuration.rules == wanted)
    }

    @Test func `a second rule with one of our ids goes`() {
        let plan = LifecyclePlan(
            from: LifecycleConfiguration(rules: wanted + [wanted[0]]), policy: Self.policy())
        #expect(plan.configuration.rules == wanted)
        #expect(plan.changes.last == .removed(wanted[0]))
    }

    /// Three rules of others with what ours never say, and one that looks like ours.
    private static let others = [
        foreign("tagged", "<Rule><ID>tagged</ID><Filter><Tag><Key>a</Key><Value>b</Value></Tag></Filter></Rule>"),
        foreign("sized", "<Rule><ID>sized</ID><Filter><ObjectSizeLessThan>9</ObjectSizeLessThan></Filter></Rule>"),
        foreign("", "<Rule><NoncurrentVersionTransition/></Rule>"),
        LifecycleRule(id: "sync-agent-photos-bob", content: .own(TierRule(prefix: "users/bob/photos/"))),
    ]

    @Test func `whatever is applied in whatever order, the rules of others stay as they are and where they are`() {
        let policies = [
            Self.policy(), Self.policy(mode: .agent), Self.policy(days: 0), Self.policy(mode: .off),
            Self.policy(user: "cleo"),
        ]
        for first in policies {
            for position in 0...first.bucketRules.count {
                var rules = first.bucketRules
                rules.insert(contentsOf: Self.others, at: position)
                var stored = LifecycleConfiguration(rules: rules, defaultMinimumSize: "all_storage_classes_128K")
                for policy in policies where policy.ruleIDs == first.ruleIDs {
                    let plan = LifecyclePlan(from: stored, policy: policy)
                    stored = plan.configuration
                    #expect(stored.rules.filter { !policy.ruleIDs.contains($0.id) } == Self.others)
                    #expect(Set(stored.rules).isSuperset(of: policy.bucketRules))
                    #expect(stored.rules.count == Self.others.count + policy.bucketRules.count)
                    #expect(stored.defaultMinimumSize == "all_storage_classes_128K")
                    #expect(LifecyclePlan(from: stored, policy: policy).isNothingToDo)
                }
            }
        }
    }
}
