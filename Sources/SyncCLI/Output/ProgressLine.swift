import SyncCore
import SyncSystem

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
    private let state: Mutex<State>

    init(_ terminal: Terminal, time: TimeSource, elsewhere: Elsewhere = .nowAndThen) {
        self.terminal = terminal
        self.time = time
        self.elsewhere = elsewhere
        state = Mutex(State(lastTold: time.monotonic()))
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
