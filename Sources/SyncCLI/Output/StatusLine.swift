/// One line that is drawn over on a terminal; elsewhere a plain line each time that it says something new.
struct StatusLine {
    private let terminal: Terminal
    private var shown: String?

    init(_ terminal: Terminal) {
        self.terminal = terminal
    }

    mutating func show(_ text: String) {
        guard text != shown else { return }
        shown = text
        if terminal.isInteractive {
            terminal.write("\r\u{1B}[K" + TextLayout.shortened(text, to: terminal.width - 1))
        } else {
            terminal.writeLine(text)
        }
    }

    /// Takes the line away; what was written elsewhere stays.
    mutating func finish() {
        if terminal.isInteractive, shown != nil { terminal.write("\r\u{1B}[K") }
        shown = nil
    }
}
