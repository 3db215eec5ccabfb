package import Logging
import SyncSystem

/// Keeps what is logged, in order, whichever of its loggers it comes by.
package final class LogLines: Sendable {
    package struct Line: Hashable, Sendable {
        package let level: Logger.Level
        package let message: String
        /// What was given with the message.
        package let metadata: String

        /// As in `warning: the disk is full`.
        package var text: String { "\(level): \(message)" }
    }

    private let level: Logger.Level
    private let kept = Lock<[Line]>([])

    /// - Parameter level: what is below it is not logged.
    package init(from level: Logger.Level = .trace) {
        self.level = level
    }

    package var logger: Logger {
        Logger(label: "test") { [level, kept] _ in Handler(kept: kept, logLevel: level) }
    }

    package var lines: [Line] { kept.withLock { $0 } }
    /// The messages alone.
    package var all: [String] { lines.map(\.message) }

    package func containing(_ words: String) -> [String] { all.filter { $0.contains(words) } }

    private struct Handler: LogHandler {
        let kept: Lock<[Line]>
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let line = Line(level: event.level, message: "\(event.message)", metadata: "\(event.metadata ?? [:])")
            kept.withLock { $0.append(line) }
        }
    }
}
