import SyncCore
import SyncDigest
import SyncLedger
import SyncSystem
import SystemPackage

/// Deletes the texts of events from all of the files that hold them, one file after the other.
struct EventCleaner: Sendable {
    let ledger: LedgerQueue
    let rewriter: EventFileRewriter
    let pool: BlockingPool

    /// - Parameter events: with the digests of their photos, which are proven to be stored.
    /// - Returns: why text of an event may still be in a file, by the rows of the events.
    /// - Throws: ``LedgerError``, `CancellationError`.
    func clean(_ events: [(due: DueEvent, photo: MD5Digest?)]) async throws -> [Int64: RetentionSummary.Issue] {
        var places: [Int64: (place: EventPlace, targets: [EventFileRewriter.Target])] = [:]
        for (due, photo) in events {
            for place in due.places where place.isConfigured {
                let target = EventFileRewriter.Target(event: due.event, photo: photo)
                // One that is clean may be left empty by a run that was killed.
                places[place.photoID, default: (place, [])].targets += place.isClean ? [] : [target]
            }
        }
        var left: [Int64: RetentionSummary.Issue] = [:]
        for (place, targets) in places.values.sorted(by: { $0.place.photoID < $1.place.photoID }) {
            try Task.checkCancellation()
            for (event, reason) in try await clean(place, targets) {
                left[event.id] = RetentionSummary.Issue(event: event.eventID, file: place.file, reason: reason)
            }
        }
        return left
    }

    /// - Returns: the events of which text may still be in the file, and why.
    private func clean(
        _ place: EventPlace, _ targets: [EventFileRewriter.Target]
    ) async throws -> [(event: EventRecord, reason: String)] {
        do {
            let rewriter = rewriter
            // Not from when the batch began: an agent sees the batch before it rewrite the same file.
            let generation = try await ledger { try $0.generation(of: place) }
            let result = try await pool.run { try rewriter.clean(place, of: targets) }
            let clean = result.clean
            guard try await ledger({ try $0.noteClean(clean, in: place, generation: generation) }) else {
                return targets.map { ($0.event, "the file changed meanwhile; the next run looks at it again") }
            }
            if let stamp = result.emptied,
                try await pool.run({ try rewriter.removeEmptied(place.file, stamp) })
            {
                try await ledger { try $0.markRemoved(place.photoID) }
            }
            return result.left
        } catch let error as Errno {
            let fault = FileFault(error, or: "move the folder to another disk")
            return targets.map { ($0.event, "the file cannot be rewritten: \(fault.message)") }
        } catch let error as PhotoError {
            return targets.map { ($0.event, error.message) }
        } catch let error as ScanError {
            return targets.map { ($0.event, error.message) }
        }
    }
}
