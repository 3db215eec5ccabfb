import SyncCore
import SyncEngine
import SyncLedger
import SystemPackage

/// A restore of which no more is to be saved, since somebody has said so: what of its photos is given up.
struct StoppedSaving {
    /// At photos that another process has in hand, a second apart.
    static let mostTries = 10

    let job: RestoreJobID
    /// Where they were to be saved.
    let output: FilePath
    let ledger: LedgerQueue
    /// This process, as the ledger knows it.
    let owner: ClaimOwner
    let time: TimeSource

    /// Photos that are not saved. What another process has in hand is saved all the same: it is waited for a while.
    /// - Parameter told: items that are left out.
    /// - Throws: `LedgerError`, `CancellationError`.
    func unsaved(besides told: Set<Int64>) async throws -> [RestoreDownloader.Problem] {
        for attempt in 1... {
            let items = try await ledger { [job, owner] ledger in
                // Of a process that was killed, nothing more comes.
                try ledger.releaseRestoreClaims(of: owner.hasEnded)
                return try ledger.restoreItems(of: job, after: 0, limit: .max)
            }
            let left = items.filter { item in
                let isUnsaved = item.isLeftToSave || item.isGivenUp && item.state != .failed
                return isUnsaved && !told.contains(item.id)
            }
            if attempt > Self.mostTries || !left.contains(where: \.isBeingSaved) { return left.map(problem) }
            try await time.sleep(.seconds(1))
        }
        return []
    }

    /// Of what could not be saved before, what nobody has saved since.
    func stillLeft(_ told: [RestoreDownloader.Problem]) async throws -> [RestoreDownloader.Problem] {
        let items = try await ledger { [job] in try $0.restoreItems(of: job, after: 0, limit: .max) }
        let unsaved = Set(items.filter { $0.savedAt == nil }.map(\.id))
        return told.filter { unsaved.contains($0.item) }
    }

    func problem(_ item: RestoreItem) -> RestoreDownloader.Problem {
        let rest =
            switch item.state {
            case .restored: "it can be read"
            case .planned: "it is requested all the same"
            case .expired: "its copy is archived again"
            default: "it can be read when the store has brought it back"
            }
        let reason =
            item.isBeingSaved ? Restores.inOtherHands(job) : "given up (--stop-saving); \(rest)"
        return RestoreDownloader.Problem(item, in: output, reason)
    }

    /// For people.
    func lines(_ problems: [RestoreDownloader.Problem], _ terminal: Terminal) -> [String] {
        RestoreDownloader.SaveSummary.lines(
            problems.map(\.description), allBy: "sync-agent restores \(job)"
        ).map { terminal.styled("not saved", .yellow) + "  \($0.escapingControls)" }
    }
}
