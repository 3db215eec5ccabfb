import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine

/// The restore of photos that are to be shared and are only in the archive.
struct ShareRestore {
    let parts: ShareServices
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

    /// Why a restore would be paid for and be of no use: the share may be over before its photos are there.
    /// - Parameter end: of the share.
    func uselessness(of restore: RestoreProposal, until end: Date) -> String? {
        guard !restore.candidates.isEmpty, let hours = parts.restores.desk.hours(of: restore) else { return nil }
        let left = end.timeIntervalSince(installation.time.now())
        guard hours * 3_600 >= left else { return nil }
        let days = Int((hours / 24).rounded(.up)) + 1
        return
            "\(Quantities.counted(restore.candidates.count, "photo has", plural: "photos have")) to come back from the archive first, which "
            + "takes up to \(RestoreView.hours(hours)), and the share ends in \(Quantities.span(.seconds(left))). Give it "
            + "longer, such as --expires \(days)d, or bring them back first with sync-agent restore"
    }
}
