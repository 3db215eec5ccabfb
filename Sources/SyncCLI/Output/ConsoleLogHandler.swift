import FoundationEssentials
import Logging
import SyncCore
import SyncEngine
import SyncLedger
import SystemPackage

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
