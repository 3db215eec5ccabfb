import Logging
import SyncCore
import SyncEngine
import SyncLedger
import SystemPackage

extension PipelineEvent {
    /// What the agent's log says of it; `nil` when there is nothing to say.
    var logLine: (level: Logger.Level, text: String)? {
        let path = file.string.escapingControls
        // Of a file of events: what is malformed in it is named there, by place and reason.
        let note = events.map { ": \($0.text)" } ?? ""
        let isDoubtful = (events?.malformed ?? 0) > 0
        return switch result {
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
