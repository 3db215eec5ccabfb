import SyncCore
package import SyncLedger
package import SystemPackage

/// What the pipeline tells whoever looks on: a progress line, a log, a count.
package struct PipelineEvent: Sendable {
    package enum Ending: Sendable {
        /// - Parameters: bytes of the file on the disk, bytes that were sent.
        case stored(localBytes: Int64, sentBytes: Int64)
        /// The store had it; what was sent was not needed.
        case alreadyStored(localBytes: Int64, sentBytes: Int64)
        case failed(reason: String)
        case skipped(reason: String)
        case postponed(reason: String)
        /// It is gone, or the agent stops: nothing to tell.
        case dropped
    }

    package let file: FilePath
    package let ending: Ending
    /// What a file of gallery events holds, when the work on it has ended; `nil` for other files.
    package let events: EventFileNote?

    init(_ ended: ClaimEnding) {
        file = ended.claim.file
        let (size, sent) = (ended.claim.stamp.size, ended.sent)
        ending =
            switch ended.outcome {
            case .uploaded where sent.isStored: .stored(localBytes: size, sentBytes: sent.bytes)
            case .uploaded: .alreadyStored(localBytes: size, sentBytes: sent.bytes)
            case .failed(let message, _): .failed(reason: message)
            case .skipped(let message, _): .skipped(reason: message)
            case .postponed(let message, _): .postponed(reason: message)
            case .waits, .released, .vanished: .dropped
            }
        events = ended.outcome.isFinal ? ended.note : nil
    }
}

/// The counts of a pass.
package struct PassSummary: Hashable, Sendable, Codable {
    package var uploaded = 0
    package var alreadyStored = 0
    package var failed = 0
    package var skipped = 0
    package var postponed = 0
    /// In files of gallery events.
    package var events = 0
    /// Elements of those files that are no events.
    package var malformedEvents = 0
    package var bytesRead: Int64 = 0
    package var bytesSent: Int64 = 0

    package init() {}

    package mutating func count(_ event: PipelineEvent) {
        switch event.ending {
        case .stored(let local, let sent):
            uploaded += 1
            bytesRead += local
            bytesSent += sent
        case .alreadyStored(let local, let sent):
            alreadyStored += 1
            bytesRead += local
            bytesSent += sent
        case .failed: failed += 1
        case .skipped: skipped += 1
        case .postponed: postponed += 1
        case .dropped: break
        }
        events += event.events?.events ?? 0
        malformedEvents += event.events?.malformed ?? 0
    }
}
