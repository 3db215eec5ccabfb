import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SystemPackage

/// Shows how far a pass is. What went wrong is told at once, above the line.
final class PassProgress: Sendable {
    private struct State {
        var summary = PassSummary()
        var total = 0
        var failed: Set<FilePath> = []
        var waiting: [FilePath: String] = [:]

        /// Whether it was not told yet that this photo waits for this reason.
        mutating func isNew(_ event: PipelineEvent) -> Bool {
            guard case .postponed(let reason) = event.ending else { return true }
            return waiting.updateValue(reason, forKey: event.file) != reason
        }
    }

    private let terminal: Terminal
    private let line: ProgressLine
    private let time: TimeSource
    private let start: Duration
    private let state = Mutex(State())

    init(terminal: Terminal, time: TimeSource) {
        self.terminal = terminal
        self.time = time
        start = time.monotonic()
        line = ProgressLine(terminal, time: time)
    }

    var summary: PassSummary { state.withLock { $0.summary } }
    /// The photos of which it has told that they failed or wait.
    var told: Set<FilePath> { state.withLock { $0.failed.union($0.waiting.keys) } }

    /// How many photos there are to do, as far as is known.
    func expect(_ total: Int) {
        state.withLock { $0.total = total }
    }

    func note(_ event: PipelineEvent) {
        state.withLock { state in
            state.summary.count(event)
            if case .failed = event.ending { state.failed.insert(event.file) }
            if let text = complaint(about: event), state.isNew(event) { line.writeLine(text) }
            line.update { _ in Self.text(state.summary, total: state.total, elapsed: time.monotonic() - start) }
        }
    }

    func finish() { line.finish() }

    private func complaint(about event: PipelineEvent) -> String? {
        let path = event.file.text.escapingControls
        return switch event.ending {
        case .failed(let reason): terminal.styled("failed", .red) + "  \(path): \(reason)"
        case .postponed(let reason): terminal.styled("waits", .yellow) + "   \(path): \(reason)"
        case .stored, .alreadyStored, .skipped:
            event.events.flatMap { note in
                note.malformed > 0 ? terminal.styled("partly", .yellow) + "  \(path): \(note.text)" : nil
            }
        case .dropped: nil
        }
    }

    /// `[=====>    ]  12 of 40 photos  3.1 MiB/s  about 2 min left`. The rate is that of bytes read from the folders.
    static func text(_ summary: PassSummary, total: Int, elapsed: Duration) -> String {
        let done = summary.uploaded + summary.alreadyStored + summary.failed + summary.skipped
        let total = max(total, done)
        let left = done > 0 && done < total ? elapsed * (Double(total - done) / Double(done)) : nil
        return ProgressBar.text(done, of: total, "photo")
            + ProgressBar.pace(bytes: summary.bytesRead, elapsed: elapsed, left: left)
    }
}
