package import SyncCore
import SyncDigest
package import SyncLedger
package import SyncSystem

/// Deletes events whose profile is a telephone number that nobody has: their elements in all files, and what the ledger
/// knows of them. Photos in the store stay.
///
/// As in ``RetentionPass``, an event goes only when its photo is proven to be stored, or it has none; and one pass runs at
/// a time: the caller holds the lock of cleanups.
package struct OrphanRemover: Sendable {
    package struct Summary: Hashable, Sendable {
        package internal(set) var deleted = 0
        /// Events that stay.
        package internal(set) var left: [RetentionSummary.Issue] = []
    }

    private static let batchSize = 500
    /// Each photo of a batch is read whole before the first text of it goes: what is read in vain when that is cut off.
    private static let mostRead = 2_000
    private static let requestsInFlight = 3
    /// Of a photo that no event has: an event without one is then taken out of its file as those with one are.
    private static let noPhoto = ContentDigest(of: [UInt8]()).md5

    private let ledger: LedgerQueue
    private let examiner: ObjectExaminer
    private let cleaner: EventCleaner
    private let isOrphan: @Sendable (String) async throws -> Bool

    /// - Parameters:
    ///   - store: with retries.
    ///   - settle: for so long a file is as it is before it counts as whole.
    ///   - isOrphan: whether nobody has the number of a profile, at that moment: a person may have given it one since.
    package init(
        ledger: LedgerQueue, store: any ReadableStore, scanner: any TreeScanner, reducer: any PhotoReducer,
        settle: Duration, pool: BlockingPool, calls: FileRewriteCalls = FileRewriteCalls(), time: TimeSource,
        isOrphan: @escaping @Sendable (String) async throws -> Bool
    ) {
        self.ledger = ledger
        self.isOrphan = isOrphan
        examiner = ObjectExaminer(store)
        let reader = EventFileReader(scanner: scanner, reducer: reducer, settle: settle, time: time)
        let beside = BesidePhotoCheck(ledger: ledger.ledger, reducer: reducer)
        let rewriter = EventFileRewriter(reader: reader, beside: beside, calls: calls)
        cleaner = EventCleaner(ledger: ledger, rewriter: rewriter, pool: pool)
    }

    /// - Parameter profiles: as the events give them.
    /// - Throws: ``StoreError`` when the store as a whole cannot be used, or gives none; ``LedgerError``,
    ///   `CancellationError`.
    package func run(_ profiles: [String]) async throws -> Summary {
        var result = Summary()
        let denied = DeniedObjects()
        for profile in profiles {
            let batches = DueEventBatches(ledger: ledger, least: Self.batchSize, most: Self.mostRead) {
                try $0.events(ofProfile: profile, after: $1, limit: $2)
            }
            for try await batch in batches { try await remove(batch, of: profile, denied, &result) }
        }
        if result.deleted > 0 { try await ledger { try $0.purgeDeleted() } }
        return result
    }

    private func remove(
        _ batch: [DueEvent], of profile: String, _ denied: DeniedObjects, _ result: inout Summary
    ) async throws {
        var problems = try await batch.concurrently(Self.requestsInFlight) { try await self.problem(with: $0, denied) }
        // Somebody was asked before, and may have looked for the number's profile first.
        if try await !isOrphan(profile) {
            let reason = "its number has a profile now; map it with: sync-agent profiles migrate"
            problems = batch.map { _ in reason }
        }
        var left: [Int64: RetentionSummary.Issue] = [:]
        var removable: [(due: DueEvent, photo: MD5Digest?)] = []
        for (due, problem) in zip(batch, problems) {
            if let problem {
                left[due.event.id] = RetentionSummary.Issue(
                    event: due.event.eventID, file: due.files.first, reason: problem)
            } else {
                removable.append((due, due.event.object?.md5 ?? Self.noPhoto))
            }
        }
        left.merge(try await cleaner.clean(removable)) { $1 }
        for due in batch {
            if let issue = left[due.event.id] {
                result.left.append(issue)
            } else if try await ledger.finish({ try $0.removeEvent(due.event) }) {
                result.deleted += 1
            } else {
                let reason = "another file was found to hold it; run it again"
                result.left.append(RetentionSummary.Issue(event: due.event.eventID, file: nil, reason: reason))
            }
        }
    }

    /// Why an event must stay; `nil` when nothing of it is lost. What the ledger knows of a stored photo is no proof,
    /// and neither is what the store has noted beside it: the photo in the file may be the last one that there is. So
    /// it is read, unless it is archived.
    private func problem(with due: DueEvent, _ denied: DeniedObjects) async throws -> String? {
        let event = due.event
        guard event.photoState == .none || event.photoState == .stored else { return "its photo is not stored yet" }
        guard due.places.allSatisfy({ $0.isConfigured || $0.isClean }) else {
            return "it is in a file of a folder that is no gallery of the configuration, which is left as it is"
        }
        guard let object = event.object else { return nil }
        switch try await denied.ask({ try await examiner.examine(object, reading: .always) }) {
        case .success(.intact): return nil
        case .success(.broken):
            return "the store does not hold its photo as it was stored (\(object.key)); store it again with: "
                + "sync-agent verify --all"
        case .failure(let error): return "\(error)"
        }
    }
}
