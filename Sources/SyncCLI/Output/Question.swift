import Glibc

/// A question that is answered with yes or no.
enum Question {
    /// Asks, and waits for the answer. Where nobody sits (standard input is no terminal) nothing is asked, and the answer
    /// is yes: a script says with its options what it does not want.
    static func confirm(_ question: String, on terminal: Terminal) -> Bool {
        guard isSomebodyThere else { return true }
        terminal.write("\(question) [y/N] ")
        return ["y", "yes"].contains(readLine()?.lowercased() ?? "")
    }

    /// Asks before something goes for good: silence is no yes.
    /// - Parameters:
    ///   - advice: for whoever calls it where nobody sits.
    ///   - no: what has become of it when somebody says no.
    /// - Throws: ``CommandFailure`` unless somebody says yes.
    static func confirmLoss(_ question: String, on terminal: Terminal, advice: String, no: String) throws {
        guard isSomebodyThere else { throw CommandFailure(.usage, "nobody is there to be asked; \(advice)") }
        guard confirm(question, on: terminal) else { throw CommandFailure(.failed, no) }
    }

    private static var isSomebodyThere: Bool { isatty(STDIN_FILENO) == 1 }
}
