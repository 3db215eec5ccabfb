import SyncConfig
import SyncCore
import SyncEngine
import SyncLocalStore

/// How the rules stand in the configured store.
struct LifecycleDesk {
    struct Standing {
        /// `nil` for a store that keeps no rules.
        let inStore: (current: LifecycleConfiguration, plan: LifecyclePlan)?
        let report: LifecycleReport
    }

    let store: any ObjectStore
    let policy: TierPolicy
    private let prices: PriceTable?

    var editor: LifecycleEditor { LifecycleEditor(store: store, policy: policy) }

    init(_ workspace: Workspace) throws {
        let installation = workspace.installation
        store = installation.retrying(try installation.makeStore(try workspace.ledger, access: .reads))
        policy = try installation.tierPolicy()
        prices = try installation.pricesThatCount()
    }

    /// - Throws: ``CommandFailure`` where rules are wanted and the store has no such thing; ``StoreError``.
    func standing() async throws -> Standing {
        let inStore = try await rules()
        return Standing(inStore: inStore, report: report(inStore, applied: false))
    }

    func report(_ standing: Standing, applied: Bool) -> LifecycleReport {
        report(standing.inStore, applied: applied)
    }

    private func report(
        _ inStore: (current: LifecycleConfiguration, plan: LifecyclePlan)?, applied: Bool
    ) -> LifecycleReport {
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
