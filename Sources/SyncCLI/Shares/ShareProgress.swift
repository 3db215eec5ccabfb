import SyncCore
import SyncSystem

/// How many photos of a share are stored: one line that is drawn over on a terminal, a plain one now and then
/// elsewhere.
final class ShareProgress: Sendable {
    private struct State {
        var line: StatusLine
        var done = -1
        var lastShown: Duration
    }

    private static let plainLineEvery = Duration.seconds(10)

    private let isInteractive: Bool
    private let time: TimeSource
    private let state: Mutex<State>

    init(terminal: Terminal, time: TimeSource) {
        isInteractive = terminal.isInteractive
        self.time = time
        state = Mutex(State(line: StatusLine(terminal), lastShown: time.monotonic()))
    }

    /// Calls may come late, out of order and from several threads.
    func note(_ done: Int, of total: Int) {
        state.withLock { state in
            guard done > state.done else { return }
            state.done = done
            let now = time.monotonic()
            guard isInteractive || now - state.lastShown >= Self.plainLineEvery else { return }
            state.lastShown = now
            state.line.show("\(ProgressBar.text(done, of: total))  \(done) of \(Quantities.counted(total, "photo"))")
        }
    }

    /// Says what it waits for.
    func show(_ text: String) {
        state.withLock { $0.line.show(text) }
    }

    func finish() {
        state.withLock { $0.line.finish() }
    }
}
