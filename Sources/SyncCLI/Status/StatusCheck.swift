import ArgumentParser
import FoundationEssentials
import SyncCore
import SyncEngine

/// `status --check`: one line and an exit code for monitoring (Monitoring Plugins Development Guidelines).
struct StatusCheck {
    enum Level: Int32, Comparable {
        case ok = 0
        case warning = 1
        case critical = 2
        case unknown = 3

        static func < (one: Level, other: Level) -> Bool { one.rawValue < other.rawValue }

        fileprivate var word: String {
            switch self {
            case .ok: "OK"
            case .warning: "WARNING"
            case .critical: "CRITICAL"
            case .unknown: "UNKNOWN"
            }
        }
    }

    /// Seconds after which what waits, or a pass that does not come, is worth a look, and an alarm.
    static let patience: (warning: TimeInterval, critical: TimeInterval) = (86_400, 3 * 86_400)

    private let report: StatusReport
    private let waitingSince: Date?
    private let now: Date

    /// - Parameter waitingSince: since when the photo is there that waits longest; one that cannot be stored does not wait.
    init(_ report: StatusReport, waitingSince: Date?, now: Date) {
        self.report = report
        self.waitingSince = waitingSince
        self.now = now
    }

    struct Result {
        let level: Level
        let line: String

        var answer: Answer { Answer(line: line, code: ExitCode(level.rawValue)) }
    }

    /// Why the state could not be told.
    static func unknown(_ error: any Error) -> Result {
        Result(level: .unknown, line: line(.unknown, "\(error)"))
    }

    var result: Result {
        let findings = findings
        let level = findings.map(\.level).max() ?? .ok
        let totals = report.totals
        let calm = "\(totals.uploaded.counted("photo")) stored, \(totals.pending) waiting"
        // The gravest first.
        let words = [Level.critical, .warning].flatMap { level in findings.filter { $0.level == level }.map(\.words) }
        return Result(
            level: level,
            line: Self.line(level, words.isEmpty ? calm : words.joined(separator: "; ")) + " | " + performance)
    }

    private static func line(_ level: Level, _ words: String) -> String {
        // A bar begins the numbers, and a line is all that is read.
        "SYNC-AGENT \(level.word) - " + words.escapingControls.replacing("|", with: "/")
    }

    private var findings: [(level: Level, words: String)] {
        var findings: [(level: Level, words: String)] = []
        func add(_ level: Level?, _ words: @autoclosure () -> String) {
            if let level { findings.append((level, words())) }
        }
        let totals = report.totals
        add(totals.lost > 0 ? .critical : nil, "\(totals.lost) lost")
        add(report.broken > 0 ? .critical : nil, "\(report.broken.counted("stored object")) damaged or gone")
        add(totals.failed > 0 ? .warning : nil, "\(totals.failed) cannot be stored")
        if let waitingSince { add(level(since: waitingSince), "a photo waits for \(span(since: waitingSince))") }
        if !report.store.reachable {
            let grade = report.store.since.flatMap(level(since:)) ?? .warning
            add(grade, "the store is not reachable (\(report.store.error ?? ""))")
        }
        let unclear = report.store.unclearObjects
        add(unclear > 0 ? .warning : nil, "\(unclear.counted("object")) could not be looked at in the store")
        if !report.agent.running {
            if let last = report.lastSyncAt {
                add(level(since: last), "no agent runs, and the last whole pass was \(span(since: last)) ago")
            } else {
                add(.warning, "no agent runs, and there was no whole pass yet")
            }
        }
        let overdue = report.retention.overdue
        add(overdue > 0 ? .warning : nil, "\(overdue.counted("gallery event")) overdue")
        for folder in report.folders where folder.problem != nil {
            add(.warning, "\(folder.path): \(folder.problem ?? "")")
        }
        if let problem = report.guests.problem { add(.warning, "photos of guests cannot be taken in (\(problem))") }
        add(
            report.catalog.problem == nil ? nil : .warning,
            "the catalogue is not up to date (\(report.catalog.problem ?? ""))")
        return findings
    }

    private func level(since moment: Date) -> Level? {
        switch now.timeIntervalSince(moment) {
        case ...Self.patience.warning: nil
        case ...Self.patience.critical: .warning
        default: .critical
        }
    }

    private func span(since moment: Date) -> String { Quantities.span(.seconds(now.timeIntervalSince(moment))) }

    /// `label=value[unit];warning;critical;least;most`
    private var performance: String {
        let waits = waitingSince.map { max(Int(now.timeIntervalSince($0)), 0) } ?? 0
        return [
            "stored=\(report.totals.uploaded);;;0", "waiting=\(report.totals.pending);;;0",
            "failed=\(report.totals.failed);0;;0", "lost=\(report.totals.lost);;0;0", "damaged=\(report.broken);;0;0",
            "oldest=\(waits)s;\(Int(Self.patience.warning));\(Int(Self.patience.critical));0",
            "overdue=\(report.retention.overdue);0;;0", "bytes=\(report.totals.bytesStored)B;;;0",
        ].joined(separator: " ")
    }
}
