import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SystemPackage

/// Shows how far a pass is: one line that is drawn over on a terminal, a plain line now and then elsewhere. What went
/// wrong is told at once, above it.
final class ProgressLine: Sendable {
    private struct State {
        var summary = PassSummary()
        var total = 0
        var lastDrawn: Duration?
        var isDrawn = false
        var failed: Set<FilePath> = []
        var waiting: [FilePath: String] = [:]

        /// Whether it was not told yet that this photo waits for this reason.
        mutating func isNew(_ event: PipelineEvent) -> Bool {
            guard case .postponed(let reason) = event.result else { return true }
            return waiting.updateValue(reason, forKey: event.file) != reason
        }
    }

    private static let redrawEvery = Duration.milliseconds(100)
    private static let plainLineEvery = Duration.seconds(10)

    private let terminal: Terminal
    private let time: TimeSource
    private let start: Duration
    private let state = Mutex(State())

    init(terminal: Terminal, time: TimeSource) {
        self.terminal = terminal
        self.time = time
        self.start = time.monotonic()
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
            if case .failed = event.result { state.failed.insert(event.file) }
            if let line = complaint(about: event), state.isNew(event) {
                clear(&state)
                terminal.writeLine(line)
            }
            let now = time.monotonic()
            let interval = terminal.isInteractive ? Self.redrawEvery : Self.plainLineEvery
            guard now - (state.lastDrawn ?? (terminal.isInteractive ? .zero : start)) >= interval else { return }
            state.lastDrawn = now
            draw(&state, elapsed: now - start)
        }
    }

    /// Removes the line, so that results have the screen to themselves.
    func finish() {
        state.withLock { clear(&$0) }
    }

    private func complaint(about event: PipelineEvent) -> String? {
        let path = event.file.string.escapingControls
        return switch event.result {
        case .failed(let reason): terminal.styled("failed", .red) + "  \(path): \(reason)"
        case .postponed(let reason): terminal.styled("waits", .yellow) + "   \(path): \(reason)"
        case .stored, .alreadyStored, .skipped:
            event.events.flatMap { note in
                note.malformed > 0 ? terminal.styled("partly", .yellow) + "  \(path): \(note.text)" : nil
            }
        case .dropped: nil
        }
    }

    private func draw(_ state: inout State, elapsed: Duration) {
        let text = Self.text(state.summary, total: state.total, elapsed: elapsed)
        if terminal.isInteractive {
            terminal.write("\r\u{1B}[K" + TextLayout.shortened(text, to: terminal.width - 1))
            state.isDrawn = true
        } else {
            terminal.writeLine(text)
        }
    }

    private func clear(_ state: inout State) {
        guard state.isDrawn else { return }
        terminal.write("\r\u{1B}[K")
        state.isDrawn = false
    }

    /// `[=====>    ]  12 of 40 photos  3.1 MiB/s  about 2 min left`. The rate is that of bytes read from the folders.
    static func text(_ summary: PassSummary, total: Int, elapsed: Duration) -> String {
        let done = summary.uploaded + summary.alreadyStored + summary.failed + summary.skipped
        let total = max(total, done)
        var text =
            "\(ProgressBar.text(done, of: total))  \(Quantities.count(done)) of \(Quantities.counted(total, "photo"))"
        let seconds = elapsed / .seconds(1)
        if seconds >= 1 { text += "  \(Quantities.bytes(Int64(Double(summary.bytesRead) / seconds)))/s" }
        if done > 0, done < total, seconds >= 2 {
            text += "  about \(Quantities.span(elapsed * (Double(total - done) / Double(done)))) left"
        }
        return text
    }
}
