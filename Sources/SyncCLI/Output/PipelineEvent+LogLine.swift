import Logging
import SyncCore
import SyncEngine
import SystemPackage

extension PipelineEvent {
    /// What the agent's log says of it; `nil` when there is nothing to say.
    var logLine: (level: Logger.Level, text: String)? {
        let path = file.string.escapingControls
        return switch result {
        case .stored(let local, let sent):
            (.info, "stored \(path) (\(Quantities.bytes(local)), sent \(Quantities.bytes(sent)))")
        case .alreadyStored: (.info, "already stored: \(path)")
        case .failed(let reason): (.warning, "cannot be stored: \(path): \(reason)")
        case .skipped(let reason): (.debug, "skipped \(path): \(reason)")
        case .postponed(let reason): (.info, "waits: \(path): \(reason)")
        case .dropped: nil
        }
    }
}
