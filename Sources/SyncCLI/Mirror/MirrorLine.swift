import SyncCore
import SyncEngine
import SyncSystem

/// Shows how far a mirror is: one line that is drawn over on a terminal, a plain line now and then elsewhere.
final class MirrorLine: Sendable {
    private struct State {
        var start: Duration?
        var lastDrawn: Duration?
        var isDrawn = false
    }

    private static let redrawEvery = Duration.milliseconds(100)
    private static let plainLineEvery = Duration.seconds(10)

    private let terminal: Terminal
    private let time: TimeSource
    private let state = Mutex(State())

    init(terminal: Terminal, time: TimeSource) {
        self.terminal = terminal
        self.time = time
    }

    func note(_ progress: MirrorProgress) {
        let now = time.monotonic()
        state.withLock { state in
            let start = state.start ?? now
            state.start = start
            let interval = terminal.isInteractive ? Self.redrawEvery : Self.plainLineEvery
            guard now - (state.lastDrawn ?? (terminal.isInteractive ? start - interval : start)) >= interval else {
                return
            }
            state.lastDrawn = now
            let text = Self.text(progress, elapsed: now - start)
            if terminal.isInteractive {
                terminal.write("\r\u{1B}[K" + TextLayout.shortened(text, to: terminal.width - 1))
                state.isDrawn = true
            } else {
                terminal.writeLine(text)
            }
        }
    }

    /// Removes the line; a later one begins anew.
    func finish() {
        state.withLock { state in
            if state.isDrawn { terminal.write("\r\u{1B}[K") }
            state = State()
        }
    }

    /// `[=====>    ]  12 of 45 photos  3.1 MiB/s  about 2 min left`, all by bytes.
    static func text(_ progress: MirrorProgress, elapsed: Duration) -> String {
        let percent = progress.size == 0 ? 0 : Int(100 * progress.sizeHere / progress.size)
        var text = "\(ProgressBar.text(percent, of: 100))  \(Quantities.count(progress.photosDone)) of "
        text += Quantities.counted(progress.photos, "photo")
        let seconds = elapsed / .seconds(1)
        guard seconds >= 1, progress.sizeHere > 0 else { return text }
        let speed = Double(progress.sizeHere) / seconds
        text += "  \(Quantities.bytes(Int64(speed)))/s"
        let left = Double(progress.size - progress.sizeHere) / speed
        if left >= 1, seconds >= 2 { text += "  about \(Quantities.span(.seconds(left))) left" }
        return text
    }
}
