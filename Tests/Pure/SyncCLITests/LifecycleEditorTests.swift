import SyncCore
import SyncTestSupport
import Testing

@testable import SyncCLI

@Suite struct LifecycleEditorTests {
    private static let foreign = LifecycleRule(
        id: "theirs", content: .foreign("<Rule><ID>theirs</ID><Status>Disabled</Status></Rule>"))
    private let policy = TierPolicy(
        user: "ana", mode: .bucket, archiveAfterDays: 180, originalsAfterDays: 180,
        floor: ArchiveFloor(configured: 131_072, prices: nil), shareExpireDays: 30)

    private func editor(_ rules: [LifecycleRule]) async throws -> LifecycleEditor {
        let store = InMemoryStore(lifecycle: .byRules)
        try await store.setLifecycle(LifecycleConfiguration(rules: rules))
        return LifecycleEditor(store: store, policy: policy)
    }

    @Test func `our rules are written beside those of others, and a second time there is nothing to do`() async throws {
        let editor = try await editor([Self.foreign])
        let (current, plan) = try await editor.plan()
        #expect(try await editor.carryOut(plan, from: current) == [])
        let now = try await editor.plan()
        #expect(now.current.rules == [Self.foreign] + policy.bucketRules)
        #expect(now.plan.isNothingToDo && now.plan.foreignCount == 1)
    }

    @Test func `rules that somebody else has written meanwhile are not overwritten`() async throws {
        let editor = try await editor([])
        let (current, plan) = try await editor.plan()
        let theirs = LifecycleConfiguration(rules: [Self.foreign])
        try await editor.store.setLifecycle(theirs)
        let failure = await #expect(throws: CommandFailure.self) { _ = try await editor.carryOut(plan, from: current) }
        #expect("\(failure as Any)".contains("changed by somebody else in this moment"))
        #expect(try await editor.store.lifecycle() == theirs)
    }

    @Test func `a store that has rules to read and none to write is told with the way that is left`() async throws {
        let store = FaultyStore(
            InMemoryStore(lifecycle: .byRules), faults: [StoreFault(.setLifecycle, .failBefore(.unsupported))])
        let editor = LifecycleEditor(store: store, policy: policy)
        let (current, plan) = try await editor.plan()
        let failure = await #expect(throws: CommandFailure.self) { _ = try await editor.carryOut(plan, from: current) }
        #expect("\(failure as Any)".contains("Set tiers.mode: agent"))
    }

    private static let own = LifecycleRule(
        id: "sync-agent-shares", content: .own(TierRule(prefix: "shares/", expireAfterDays: 31)))

    @Test(arguments: [
        ([own, foreign], []), ([foreign, own], []),
        ([own], ["theirs, a rule of others: it is gone"]),
        (
            [own, LifecycleRule(id: "theirs", content: .foreign("<Rule></Rule>"))],
            ["theirs, a rule of others: it is another now"]
        ),
        (
            [foreign, LifecycleRule(id: own.id, content: .own(TierRule(prefix: "shares/", expireAfterDays: 1)))],
            [
                "sync-agent-shares (shares/: removed after 31 days): it is another now (shares/: removed after 1 day)"
            ]
        ),
        ([own, foreign, foreign], ["theirs: a rule that was not written"]),
    ])
    func `what a store has altered is told, and the order of rules is nothing`(
        found: [LifecycleRule], differences: [String]
    ) {
        let wanted = LifecycleConfiguration(rules: [Self.own, Self.foreign])
        #expect(
            LifecycleEditor.differences(between: wanted, and: LifecycleConfiguration(rules: found)) == differences)
    }
}
