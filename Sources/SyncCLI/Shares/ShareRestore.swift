import SyncConfig
import SyncCore
import SyncEngine

/// The restore of photos that are to be shared and are only in the archive.
struct ShareRestore {
    let parts: ShareParts
    let installation: Installation

    /// - Returns: `nil` when nothing has to be asked for.
    /// - Throws: ``CommandFailure`` when `restore.tier` cannot be had; ``StoreError``, ``LedgerError``.
    func proposal(_ archived: [ObjectKey]) async throws -> RestoreProposal? {
        guard !archived.isEmpty else { return nil }
        let settings = installation.settings.restore
        let order = RestoreOrder(
            names: archived.map(\.rawValue), wish: .tier(settings.tier), days: settings.days,
            requestedBy: ProcessEnvironment.userName ?? "unknown")
        do {
            return try await parts.restores.desk.propose(order, in: installation.restorePlaces)
        } catch let error as TierNotOffered {
            throw CommandFailure(.usage, "\(error); set restore.tier, or restore them first. Nothing was shared")
        }
    }
}
