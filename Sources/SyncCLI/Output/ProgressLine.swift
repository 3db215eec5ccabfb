import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SystemPackage

/// One line that says how far something is: drawn over on a terminal, a plain line now and then elsewhere.
///
/// Calls may come from several threads.
final class ProgressLine: Sendable {
    /// What is told of the progress where no terminal is.
    enum Elsewhere { case nowAndThen, nothing }

    private struct State {
        /// Of the first update; `nil` when the next one begins anew.
        var start: Duration?
        var lastTold: Duration
        var isDrawn = false
        var shown: String?
        var done = -1
    }

    private static let redrawEvery = Duration.milliseconds(100)
    private static let plainLineEvery = Duration.seconds(10)

    private let terminal: Terminal
    private let time: TimeSource
    private let elsewhere: Elsewhere
    private let state: Lock<State>

    init(_ terminal: Terminal, time: TimeSource, elsewhere: Elsewhere = .nowAndThen) {
        self.terminal = terminal
        self.time = time
        self.elsewhere = elsewhere
        state = Lock(State(lastTold: time.monotonic()))
    }

    /// How far it is now. Not every step is told.
    /// - Parameter text: gets the time since the first step.
    func update(_ text: (Duration) -> String) {
        state.withLock { update(&$0, text) }
    }

    /// As ``update(_:)``; a number that comes late, after a higher one, is left out.
    func count(_ done: Int, of total: Int, _ noun: String) {
        state.withLock { state in
            guard done > state.done else { return }
            state.done = done
            update(&state) { _ in ProgressBar.text(done, of: total, noun) }
        }
    }

    /// What it waits for, or has come to: told at once, everywhere, unless it is what was told last.
    func show(_ text: String) {
        state.withLock { state in
            guard text != state.shown else { return }
            draw(text, &state)
        }
    }

    /// A line that stays, above the progress.
    func writeLine(_ text: String) {
        state.withLock { state in
            clear(&state)
            terminal.writeLine(text)
        }
    }

    /// Removes the line, so that results have the screen to themselves. A later one begins anew.
    func finish() {
        let now = time.monotonic()
        state.withLock { state in
            clear(&state)
            state = State(lastTold: now)
        }
    }

    private func update(_ state: inout State, _ text: (Duration) -> String) {
        let now = time.monotonic()
        let isFirst = state.start == nil
        let start = state.start ?? now
        state.start = start
        if terminal.isInteractive {
            guard isFirst || now - state.lastTold >= Self.redrawEvery else { return }
        } else {
            guard elsewhere == .nowAndThen, now - state.lastTold >= Self.plainLineEvery else { return }
        }
        state.lastTold = now
        draw(text(now - start), &state)
    }

    private func draw(_ text: String, _ state: inout State) {
        state.shown = text
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
        state.shown = nil
    }
}

/// How much of something is done, in words and signs.
enum ProgressBar {
    private static let cells = 20

    /// `[=====>    ]`
    static func text(_ done: Int, of total: Int) -> String {
        let filled = total == 0 ? 0 : min(cells * done / total, cells)
        return "[" + String(repeating: "=", count: filled) + String(repeating: " ", count: cells - filled) + "]"
    }

    /// `[=====>    ]  12 of 40 photos`
    static func text(_ done: Int, of total: Int, _ noun: String) -> String {
        "\(text(done, of: total))  \(Quantities.count(done)) of \(Quantities.counted(total, noun))"
    }

    /// `  3.1 MiB/s  about 2 min left`, as soon as there is enough to tell it from.
    static func pace(bytes: Int64, elapsed: Duration, left: Duration?) -> String {
        let seconds = elapsed / .seconds(1)
        guard seconds >= 1 else { return "" }
        let rate = "  \(Quantities.bytes(Int64(Double(bytes) / seconds)))/s"
        guard let left, seconds >= 2 else { return rate }
        return rate + "  about \(Quantities.span(left)) left"
    }
}

/// Shows how far a pass is. What went wrong is told at once, above the line.
final class PassProgress: Sendable {
    private struct State {
        var summary = PassSummary()
        /// When the photos were counted.
        var start: Duration
        var total = 0
        var originals = 0
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
    private let state: Lock<State>

    init(terminal: Terminal, time: TimeSource) {
        self.terminal = terminal
        self.time = time
        state = Lock(State(start: time.monotonic()))
        line = ProgressLine(terminal, time: time)
    }

    var summary: PassSummary { state.withLock { $0.summary } }
    /// The photos of which it has told that they failed or wait.
    var told: Set<FilePath> { state.withLock { $0.failed.union($0.waiting.keys) } }

    /// How many files were found in the folders so far.
    func noteSeen(_ files: Int) {
        line.update { _ in "looking through the folders: \(Quantities.counted(files, "file"))" }
    }

    /// How many photos there are to do, as far as is known, beside those that are done with.
    func expect(_ waiting: Int) {
        let now = time.monotonic()
        state.withLock { state in
            let done = Self.done(state.summary)
            if done == 0 { state.start = now }
            state.total = done + waiting
        }
    }

    func note(_ event: PipelineEvent) {
        state.withLock { state in
            state.summary.count(event)
            if case .failed = event.ending { state.failed.insert(event.file) }
            if let text = complaint(about: event), state.isNew(event) { line.writeLine(text) }
            line.update { _ in Self.text(state.summary, total: state.total, elapsed: time.monotonic() - state.start) }
        }
    }

    /// How many originals there are to keep.
    func expectOriginals(_ total: Int) {
        state.withLock { $0.originals = total }
    }

    /// - Parameter done: originals that are done with.
    func noteOriginals(_ done: Int) {
        let total = max(state.withLock { $0.originals }, done)
        line.update { _ in ProgressBar.text(done, of: total, "original") }
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

    private static func done(_ summary: PassSummary) -> Int {
        summary.uploaded + summary.alreadyStored + summary.failed + summary.skipped
    }

    /// `[=====>    ]  12 of 40 photos  3.1 MiB/s  about 2 min left`. The rate is that of bytes read from the folders.
    static func text(_ summary: PassSummary, total: Int, elapsed: Duration) -> String {
        let done = Self.done(summary)
        let total = max(total, done)
        let left = done > 0 && done < total ? elapsed * (Double(total - done) / Double(done)) : nil
        return ProgressBar.text(done, of: total, "photo")
            + ProgressBar.pace(bytes: summary.bytesRead, elapsed: elapsed, left: left)
    }
}
