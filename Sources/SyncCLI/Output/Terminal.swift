import FoundationEssentials
import Glibc
import Logging
import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SystemPackage

/// What standard output or standard error is connected to, and how to write there.
struct Terminal: Sendable {
    private let descriptor: Int32
    private let fault: OutputFault?
    private let fixedColumns: Int?
    let isInteractive: Bool
    /// Whether colours and symbols are welcome: a terminal, and no `NO_COLOR` (no-color.org), and not `TERM=dumb`.
    let hasStyle: Bool

    static func standardOutput(_ environment: [String: String]) -> Terminal {
        Terminal(STDOUT_FILENO, isTerminal: isatty(STDOUT_FILENO) == 1, environment, noting: .ofStandardOutput)
    }

    static func standardError(_ environment: [String: String]) -> Terminal {
        Terminal(STDERR_FILENO, isTerminal: isatty(STDERR_FILENO) == 1, environment)
    }

    /// - Parameters:
    ///   - columns: in place of what the terminal says.
    ///   - fault: is told what could not be written.
    init(
        _ descriptor: Int32, isTerminal: Bool, _ environment: [String: String], columns: Int? = nil,
        noting fault: OutputFault? = nil
    ) {
        self.descriptor = descriptor
        self.fault = fault
        fixedColumns = columns
        isInteractive = isTerminal && environment["TERM"] != "dumb"
        hasStyle = isInteractive && (environment["NO_COLOR"] ?? "").isEmpty
    }

    /// Columns of the terminal now; 80 where there is none.
    var width: Int {
        if let fixedColumns { return fixedColumns }
        var size = winsize()
        guard isInteractive, ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Writes the text. A reader that has gone away (`| head`) is no error of ours. Names and words of others are escaped
    /// where they get into the text; what is never ours is escaped here, whoever forgot it.
    func write(_ text: String) {
        writeOwn(text.escapingForeign { "\\u{\(String($0.value, radix: 16))}" })
    }

    /// Writes a text that has no word of anybody else, as it is: help, and what shells read to complete commands.
    func writeOwn(_ text: String) {
        do {
            try FileDescriptor(rawValue: descriptor).writeAll(text.utf8)
        } catch {
            if let error = error as? Errno { fault?.note(error) }
        }
    }

    func writeLine(_ text: String) { write(text + "\n") }

    func styled(_ text: String, _ style: Style) -> String {
        hasStyle ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// Select Graphic Rendition parameters (ECMA-48, 8.3.117).
    enum Style: String {
        case bold = "1"
        case dim = "2"
        case red = "31"
        case green = "32"
        case yellow = "33"
    }
}

/// What could not be written: a command that is not heard has not done what it was called for.
final class OutputFault: Sendable {
    /// The one of this process.
    static let ofStandardOutput = OutputFault()

    private let first = Lock<Errno?>(nil)

    /// Remembers the first error. A reader that has gone away has what it wanted.
    func note(_ error: Errno) {
        if error == .brokenPipe { return }
        first.withLock { $0 = $0 ?? error }
    }

    /// What to say of it; `nil` when all was written.
    var message: String? {
        let error = first.withLock { $0 }
        return error.map { "the output could not be written: \($0.description.lowercased())" }
    }
}

/// A question that is answered with yes or no.
enum Question {
    /// Asks, and waits for the answer. Where nobody sits (standard input is no terminal) nothing is asked, and the answer
    /// is yes: a script says with its options what it does not want.
    static func confirm(_ question: String, on terminal: Terminal) -> Bool {
        guard isSomebodyThere else { return true }
        terminal.write("\(question) [y/N] ")
        return ["y", "yes"].contains(readLine()?.lowercased() ?? "")
    }

    /// - Parameters:
    ///   - isAgreed: nobody has to be asked.
    ///   - no: what has become of it when somebody says no.
    /// - Throws: ``CommandFailure`` unless somebody says yes.
    static func require(_ question: String, on terminal: Terminal, unless isAgreed: Bool, no: String) throws {
        guard isAgreed || confirm(question, on: terminal) else { throw CommandFailure.failed(no) }
    }

    /// Asks before something goes for good: silence is no yes.
    /// - Parameters:
    ///   - number: how much it is, where it cannot be had back: somebody has to type it.
    ///   - verb: what `--yes` is for.
    ///   - no: what has become of it when somebody says no.
    /// - Throws: ``CommandFailure`` unless somebody says yes.
    static func confirmLoss(
        typing number: Int? = nil, _ question: String, on terminal: Terminal, to verb: String, no: String
    ) throws {
        guard isSomebodyThere else {
            throw CommandFailure.usage("there is no terminal to ask on; use --yes to \(verb), or --dry-run to look")
        }
        guard let number else { return try require(question, on: terminal, unless: false, no: no) }
        terminal.write("\(question) Type \(number) to go on: ")
        let answer = readLine()?.filter { !$0.isWhitespace && $0 != "," } ?? ""
        guard answer == String(number) else { throw CommandFailure.failed(no) }
    }

    static var isSomebodyThere: Bool { isatty(STDIN_FILENO) == 1 }
}

/// Log lines for a person at a terminal or for the journal: to standard error, one line each.
///
/// Under systemd the level goes in front as sd-daemon(3) wants it, and the journal has the time; elsewhere the line
/// begins with the time, in UTC.
struct ConsoleLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level
    private let terminal: Terminal
    private let isJournal: Bool

    init(level: Logger.Level, environment: [String: String]) {
        logLevel = level
        terminal = .standardError(environment)
        isJournal = environment["JOURNAL_STREAM"] != nil && !terminal.isInteractive
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        // Most of them have names of files in them.
        let message = event.message.description.escapingControls
        if isJournal {
            terminal.writeLine("<\(priority(of: event.level))>\(message)")
        } else {
            terminal.writeLine("\(Date().formatted(.iso8601)) \(event.level): \(message)")
        }
    }

    /// Syslog severities (RFC 5424, 6.2.1).
    private func priority(of level: Logger.Level) -> Int {
        switch level {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}

extension PipelineEvent {
    /// What the agent's log says of it; `nil` when there is nothing to say.
    var logLine: (level: Logger.Level, text: String)? {
        let path = file.text.escapingControls
        // Of a file of events: what is malformed in it is named there, by place and reason.
        let note = events.map { ": \($0.text)" } ?? ""
        let isDoubtful = (events?.malformed ?? 0) > 0
        return switch ending {
        case .stored(let local, let sent):
            (
                isDoubtful ? .warning : .info,
                "stored \(path) (\(Quantities.bytes(local)), sent \(Quantities.bytes(sent)))\(note)"
            )
        case .alreadyStored: (isDoubtful ? .warning : .info, "already stored: \(path)\(note)")
        case .failed(let reason): (.warning, "cannot be stored: \(path): \(reason)")
        case .skipped(let reason): (isDoubtful ? .warning : .debug, "skipped \(path): \(reason)")
        case .postponed(let reason): (.info, "waits: \(path): \(reason)")
        case .dropped: nil
        }
    }
}
