import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport

/// Images that another app makes, and their list.
extension AgentProcess {
    /// More than a life has: each earlier image stays as long as its project.
    private static let keptVersions = 100

    private var needs: OtherReferences {
        OtherReferences(
            store: store, ledger: queue, keys: keys, spool: home.tree.path("needs.part"), pool: pool, time: time)
    }

    var projectPolicy: ProjectUploadPolicy {
        ProjectUploadPolicy(listSync: listSync, ledger: ledger, now: time.now)
    }

    var projectVersions: ProjectVersions {
        ProjectVersions(
            store: store, ledger: queue, others: needs, kept: Self.keptVersions, now: time.now, logger: logger)
    }

    /// Deletes a project with all that is stored of it.
    /// - Returns: what failed.
    func deleteProject(_ id: String) async throws -> [String] {
        guard let folder = home.projects?.path else { return ["this home has no projects"] }
        let remover = ProjectRemover(
            store: store, ledger: queue, keys: keys, others: needs, listSync: listSync, scanner: home.view,
            pool: pool, time: time)
        let targets = try await remover.find(id, in: [folder])
        let outcomes = try await remover.remove(targets)
        return outcomes.flatMap(\.failures)
    }
}
