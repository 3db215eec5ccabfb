import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import UnixSignals

/// Waits for a restore job, with a bar, and saves what it brings. The agent may work on the same job meanwhile: what it
/// has noted counts. Ctrl-C ends the waiting, not the job.
struct RestoreWait: Sendable {
    private let parts: RestoreServices
    private let time: TimeSource
    private let terminal: Terminal

    init(_ parts: RestoreServices, time: TimeSource, terminal: Terminal) {
        self.parts = parts
        self.time = time
        self.terminal = terminal
    }

    /// - Throws: `LedgerError`; ``CommandFailure`` when somebody pressed Ctrl-C. A store that is away is waited for.
    func run(_ job: RestoreJobID) async throws -> RestoreJobSummary {
        switch try await Interruptible.run(until: .sigint, .sigterm, body: { try await follow(job) }) {
        case .done(let summary): return summary
        case .interrupted(let signal, _):
            throw CommandFailure(
                ExitStatus(endedBy: signal),
                "restore \(job) continues in the background; follow it with: sync-agent restores \(job)")
        }
    }

    private func follow(_ job: RestoreJobID) async throws -> RestoreJobSummary {
        let line = ProgressLine(terminal, time: time)
        defer { line.finish() }
        var next: Date? = .distantPast
        var told: Set<String> = []
        // What could not be saved would meet the same a second later.
        var unsaved: Set<Int64> = []
        while true {
            do {
                if let due = next, due <= time.now() { next = try await parts.service.follower.step(job: job) }
                let delivered = try await parts.service.delivery.run(job: job, leavingOut: unsaved)
                unsaved.formUnion(delivered.unsaved[job] ?? [])
                for failure in delivered.failures where told.insert(failure).inserted {
                    line.finish()
                    terminal.writeLine(terminal.styled("not saved", .red) + "  \(failure.escapingControls)")
                }
                let summary = try await self.summary(of: job)
                if summary.isOver || summary.isStuck(leaving: unsaved.count) { return summary }
                line.show(text(summary, next: next))
            } catch let error as StoreError {
                line.show("the store is away, the restore goes on when it is back: \(error)")
            }
            try await time.sleep(.seconds(1))
        }
    }

    private func summary(of job: RestoreJobID) async throws -> RestoreJobSummary {
        guard let summary = try await parts.ledger({ try $0.restoreJob(job) }) else {
            throw CommandFailure(.failed, "restore \(job) is no longer known")
        }
        return summary
    }

    private func text(_ summary: RestoreJobSummary, next: Date?) -> String {
        let ready = summary.counts[.restored] ?? 0
        let done = summary.job.output == nil ? ready : summary.saved
        var text = ProgressBar.text(done, of: summary.total, "photo")
        text += summary.job.output == nil ? " restored" : " saved"
        if ready < summary.total, let hours = summary.job.estimatedHours {
            let end = summary.job.requestedAt.addingTimeInterval(hours * 3_600)
            text += end > time.now() ? "  ready by \(Quantities.time(end))" : "  ready any moment"
        }
        return text
    }
}

extension RestoreJobSummary {
    /// All is answered, and what is not saved will not be by waiting.
    /// - Parameter unsaved: items that could not be saved, and would meet the same again.
    fileprivate func isStuck(leaving unsaved: Int) -> Bool {
        let open = (counts[.planned] ?? 0) + (counts[.retrieving] ?? 0)
        return open == 0 && unsaved > 0 && saved + unsaved >= (counts[.restored] ?? 0)
    }

    /// Whether all that can be read is where it was to be saved.
    var isSaved: Bool { job.output == nil || saved >= (counts[.restored] ?? 0) }
}
