import Glibc

/// A question that is answered with yes or no.
enum Question {
    /// Asks, and waits for the answer. Where nobody sits (standard input is no terminal) nothing is asked, and the answer
    /// is yes: a script says with its options what it does not want.
    static func confirm(_ question: String, on terminal: Terminal) -> Bool {
        guard isatty(STDIN_FILENO) == 1 else { return true }
        terminal.write("\(question) [y/N] ")
        return ["y", "yes"].contains(readLine()?.lowercased() ?? "")
    }
}
