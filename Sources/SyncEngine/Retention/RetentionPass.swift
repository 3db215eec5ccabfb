package import FoundationEssentials
package import SyncCore
package import SyncLedger
package import SyncSystem
package import SystemPackage

/// Archives the photos of old gallery events and deletes their texts.
///
/// The order proves that nothing is lost: a photo is put and proven, then its text leaves every file, then the event is
/// signed off. A kill at any point leaves at most work to repeat: the next pass finds the photo in the archive, or the text
/// gone, and goes on from there. What freed blocks of the disk still hold is not overwritten.
///
/// One pass at a time: the caller holds a lock.
package struct RetentionPass: Sendable {
    /// What tells where a pass gets its photos from and to.
    package struct Rules: Sendable {
        package var keys: KeyLayout
        package var policy: ReducePolicy
        /// Events that are handled together; more where a file holds many.
        package var batchSize: Int
        /// For so long a file is as it is before it counts as whole.
        package var settle: Duration
        package var keepsTitles: Bool
        /// Whose telephone numbers may be written without a country code.
        package var phoneRegion: String?

        package init(
            keys: KeyLayout, policy: ReducePolicy, batchSize: Int, settle: Duration, keepsTitles: Bool,
            phoneRegion: String?
        ) {
            self.keys = keys
            self.policy = policy
            self.batchSize = batchSize
            self.settle = settle
            self.keepsTitles = keepsTitles
            self.phoneRegion = phoneRegion
        }
    }

    private static let photosInFlight = 3

    private let folders: [FilePath]
    private let ledger: LedgerQueue
    private let rules: Rules
    private let planner: EventPlanner
    private let reader: EventFileReader
    private let archiver: EventArchiver
    private let cleaner: EventCleaner
    private let pool: BlockingPool
    private let intake: EventIntake?
    private let moves: MergedPhotos?
    private let time: TimeSource

    /// - Parameters:
    ///   - folders: the watched folders of events.
    ///   - store: with retries.
    ///   - intake: what looks at the folders first; `nil` where that was done.
    ///   - moves: finds archived photos that another machine has moved.
    package init(
        folders: [FilePath], ledger: LedgerQueue, store: any ObjectStore, scanner: any TreeScanner,
        reducer: any PhotoReducer, phones: any PhoneNumbers, rules: Rules, pool: BlockingPool,
        intake: EventIntake? = nil, calls: FileRewriteCalls = FileRewriteCalls(), moves: MergedPhotos? = nil,
        time: TimeSource
    ) {
        self.folders = folders
        self.ledger = ledger
        self.rules = rules
        let words = ArchiveWords(phones: phones, region: rules.phoneRegion)
        planner = EventPlanner(keys: rules.keys, words: words)
        reader = EventFileReader(scanner: scanner, reducer: reducer, settle: rules.settle, time: time)
        let beside = BesidePhotoCheck(ledger: ledger.ledger, reducer: reducer)
        archiver = EventArchiver(
            store: store, uploader: Uploader(ledger: ledger, store: store, now: time.now), reducer: reducer,
            beside: beside, pool: pool, policy: rules.policy, user: rules.keys.user, keepsTitles: rules.keepsTitles,
            words: words, time: time)
        let rewriter = EventFileRewriter(reader: reader, beside: beside, calls: calls)
        cleaner = EventCleaner(ledger: ledger, rewriter: rewriter, pool: pool)
        self.pool = pool
        self.intake = intake
        self.moves = moves
        self.time = time
    }

    /// The moment before which an event is due at this one.
    package func cutoff(days: Int) -> Date { time.now().addingTimeInterval(-Double(days) * 86_400) }

    /// Handles all events that are due now, batch after batch.
    /// - Parameters:
    ///   - unclear: what ``takeIn()`` has answered; `nil` when the folders are to be looked at first.
    ///   - observe: told how many events have been looked after, from any thread.
    /// - Throws: ``LedgerError``, `CancellationError`. A store that is away, or takes none, ends it: the summary tells.
    package func run(
        olderThan days: Int, after unclear: [RetentionSummary.Issue]? = nil,
        observe: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws -> RetentionSummary {
        defer { reader.rewritten.withLock { $0 = [:] } }
        let folders = folders
        let kept = try await pool.run { [rewriter = cleaner.rewriter] in folders.flatMap { rewriter.settle(below: $0) }
        }
        let files: [RetentionSummary.Issue]
        if let unclear { files = unclear } else { files = try await takeIn() }
        let earlier = try await EarlierDenials(of: .cleanup, in: ledger, time: time)
        let (count, denied) = (Lock(0), DeniedObjects(earlier))
        var summary = RetentionSummary()
        // Events whose photo the store denied to an earlier run, by their rows: they are looked after behind all others. By
        // then they may have come to something else.
        var postponed: Set<Int64> = []
        try await eachBatch(olderThan: days, &summary) { batch, summary in
            let plans = try await plans(for: batch)
            let later = plans.filter { $0.key.map(earlier.comesLast) ?? false }.map(\.due.event.id)
            postponed.formUnion(later)
            let now = plans.filter { !postponed.contains($0.due.event.id) }
            try await carryOut(now, of: batch, denied, &summary) { observe(count.add()) }
        }
        if !postponed.isEmpty, summary.outage == nil {
            try await eachBatch(olderThan: days, &summary) { batch, summary in
                let batch = batch.filter { postponed.contains($0.event.id) }
                if batch.isEmpty { return }
                try await carryOut(plans(for: batch), of: batch, denied, &summary) { observe(count.add()) }
            }
        }
        for file in kept {
            summary.errors.add(
                RetentionSummary.Issue(
                    file: file, reason: "\(EventFileRewriter.advice); compare the two, and remove one"))
        }
        summary.add(files)
        if summary.outage != nil {
            let cutoff = cutoff(days: days)
            summary.waiting = try await ledger { try $0.dueEventCount(createdBefore: cutoff) }
        }
        if summary.deleted > 0 { try await ledger { try $0.purgeDeleted() } }
        return summary
    }

    /// What ``run(olderThan:observe:)`` would do, as far as it can be known without the store, and without decoding a
    /// photo. Nothing is written.
    package func preview(olderThan days: Int) async throws -> RetentionSummary {
        let unclear = try await takeIn()
        var summary = RetentionSummary()
        try await eachBatch(olderThan: days, &summary) { batch, summary in
            let planned = try await plans(for: batch)
            let faults = try await pool.run { [ledger] in try planned.map { try $0.knownFault(ledger.ledger) } }
            for (plan, fault) in zip(planned, faults) {
                switch plan.step {
                case .archive:
                    if let fault {
                        summary.errors.add(plan.issue(fault.reason, fault.file))
                        continue
                    }
                    summary.archived += 1
                    summary.deleted += 1
                case .deleteText: summary.deleted += 1
                case .skip(let reason, let file): summary.skipped.add(plan.issue(reason, file))
                case .fail(let reason, let file): summary.errors.add(plan.issue(reason, file))
                }
            }
        }
        summary.add(unclear)
        return summary
    }

    /// Looks at the folders, so that what was not read yet is due too.
    /// - Returns: files and galleries of which something cannot be told, which therefore keeps its text.
    package func takeIn() async throws -> [RetentionSummary.Issue] {
        guard let intake else { return [] }
        let unclear = try await intake.takeIn()
        // By this look, or by the last one of an agent that is at work.
        let unseen = try await ledger { [folders] in try $0.unseenGalleries(of: folders) }
        return unseen.map { gallery in
            RetentionSummary.Issue(
                file: gallery.path,
                reason: "what was not looked at as a whole keeps its text (\(gallery.reason))")
        } + unclear
    }

    /// What keeps a cleanup from due events at this moment, by their rows: a program is at work on a file of theirs.
    /// - Throws: `CancellationError`.
    package func obstacles(to due: [DueEvent]) async throws -> [Int64: String] {
        let files = Set(due.flatMap(\.places).filter(\.isConfigured).map(\.file))
        let unfinished = try await pool.run { [reader] in files.filter { reader.isUnfinished($0) } }
        return due.reduce(into: [:]) { reasons, due in
            if due.files.contains(where: { unfinished.contains($0) }) {
                reasons[due.event.id] = EventFileRewriter.unfinished
            }
        }
    }

    private func eachBatch(
        olderThan days: Int, _ summary: inout RetentionSummary,
        _ work: ([DueEvent], inout RetentionSummary) async throws -> Void
    ) async throws {
        let cutoff = cutoff(days: days)
        let batches = DueEventBatches(ledger: ledger, least: rules.batchSize, most: 16_384) {
            try $0.dueEvents(createdBefore: cutoff, after: $1, limit: $2)
        }
        for try await batch in batches {
            try await work(batch, &summary)
            try Task.checkCancellation()
            if summary.outage != nil { break }
        }
    }

    // MARK: A batch

    /// An event whose photo is proven, or that has none: its text may go.
    private struct Freed: Sendable {
        let due: DueEvent
        let profile: String
        let object: ObjectRecord?
    }

    /// An event that is left as it is.
    private typealias Leftover = (event: EventRecord, issue: RetentionSummary.Issue, isFailure: Bool)

    private enum Verdict: Sendable {
        case freed(Freed)
        case skip(RetentionSummary.Issue)
        case fail(RetentionSummary.Issue)
        /// The store as a whole is away, or takes none.
        case outage(StoreError)
    }

    private func carryOut(
        _ plans: [EventPlan], of batch: [DueEvent], _ denied: DeniedObjects, _ summary: inout RetentionSummary,
        _ didArchive: @escaping @Sendable () -> Void
    ) async throws {
        let (outage, moved) = (Lock<StoreError?>(nil), moves?.lookup())
        let verdicts = try await plans.concurrently(Self.photosInFlight) { plan in
            if let error = outage.withLock({ $0 }) { return Verdict.outage(error) }
            let verdict = try await archive(plan, moved, denied)
            if case .outage(let error) = verdict { outage.withLock { $0 = error } }
            didArchive()
            return verdict
        }
        var freed: [Freed] = []
        var leftovers: [Leftover] = []
        for (plan, verdict) in zip(plans, verdicts) {
            switch verdict {
            case .freed(let event): freed.append(event)
            case .skip(let issue): leftovers.append((plan.due.event, issue, false))
            case .fail(let issue): leftovers.append((plan.due.event, issue, true))
            case .outage(let error): summary.outage = error
            }
        }
        try await delete(freed, &leftovers, &summary)
        for left in leftovers {
            if left.isFailure { summary.errors.add(left.issue) } else { summary.skipped.add(left.issue) }
        }
        let (left, now) = (leftovers.map { ($0.event, $0.issue.reason) }, time.now())
        let unread = Self.unread(leftovers, of: batch)
        try await ledger.finish {
            try $0.noteRetention(left, at: now)
            try $0.readEventFilesAgain(unread, at: now)
        }
    }

    /// Files that do not hold their events as they were read. The next look at them is promised, and would pass by
    /// those that are as they were.
    private static func unread(_ leftovers: [Leftover], of batch: [DueEvent]) -> [Int64] {
        let places = Dictionary(batch.map { ($0.event.id, $0.places) }, uniquingKeysWith: { first, _ in first })
        return leftovers.compactMap { left in
            guard EventFileRewriter.readAgain.contains(left.issue.reason) else { return nil }
            return places[left.event.id]?.first(where: { $0.file == left.issue.file })?.photoID
        }
    }

    private func plans(for batch: [DueEvent]) async throws -> [EventPlan] {
        let (reader, planner) = (reader, planner)
        var contents: [Int64: EventFileReader.Content] = [:]
        // One file in memory at a time.
        for (place, events) in DueEvent.byPlace(batch.map { ($0, $0.event) }) {
            contents[place.photoID] = try await pool.run { reader.content(of: place, for: events) }
        }
        let known = contents
        return try await ledger { ledger in
            try batch.map { EventPlan(due: $0, step: try planner.step(for: $0, known, ledger)) }
        }
    }

    private func archive(
        _ plan: EventPlan, _ moves: MergedPhotosLookup?, _ denied: DeniedObjects
    ) async throws -> Verdict {
        switch plan.step {
        case .skip(let reason, let file): return .skip(plan.issue(reason, file))
        case .fail(let reason, let file): return .fail(plan.issue(reason, file))
        case .deleteText(let profile): return .freed(Freed(due: plan.due, profile: profile, object: nil))
        case .archive(let place, let occurrences):
            do {
                switch try await archiver.archive(plan.due.event, at: place, from: occurrences, moves: moves) {
                case .proven(let object, let profile):
                    if let key = plan.key { try await denied.noteGiven(key) } else { denied.noteGiven() }
                    return .freed(Freed(due: plan.due, profile: profile, object: object))
                // Also when its files are gone and its photo was never stored: nothing of it is left.
                case .noPhoto: return .freed(Freed(due: plan.due, profile: place.profile, object: nil))
                case .failed(let reason, let file): return .fail(plan.issue(reason, file))
                }
            } catch let error as StoreError {
                let outage = try await denied.outage(behind: error, of: plan.key, in: archiver.store)
                if let outage { return .outage(outage) }
                return .fail(plan.issue("\(error)", nil))
            }
        }
    }

    // MARK: Texts

    private func delete(
        _ freed: [Freed], _ leftovers: inout [Leftover], _ summary: inout RetentionSummary
    ) async throws {
        let left = try await cleaner.clean(freed.map { ($0.due, $0.object?.md5) })
        for event in freed {
            guard let issue = left[event.due.event.id] else { continue }
            leftovers.append((event.due.event, issue, !EventFileRewriter.passing.contains(issue.reason)))
        }
        // Others wait for the ledger while one transaction goes on.
        for events in freed.filter({ left[$0.due.event.id] == nil }).grouped(atMost: rules.batchSize) {
            try await signOff(events, &leftovers, &summary)
        }
    }

    private func signOff(
        _ freed: [Freed], _ leftovers: inout [Leftover], _ summary: inout RetentionSummary
    ) async throws {
        let (now, user) = (time.now(), rules.keys.user)
        let events = freed.map { ArchivedEvent(event: $0.due.event, profile: $0.profile, object: $0.object) }
        let areDone = try await ledger.finish { try $0.signOff(events, user: user, at: now) }
        // Copies in two folders may have been told as one photo by the store alone.
        var photos: [ObjectKey: Set<MD5Digest?>] = [:]
        for (event, isDone) in zip(events, areDone) {
            guard isDone else {
                let reason = "another file was found to hold it; the next cleanup looks at that too"
                let issue = RetentionSummary.Issue(event: event.event.eventID, file: nil, reason: reason)
                leftovers.append((event.event, issue, false))
                continue
            }
            if let object = event.object, photos[object.key, default: []].insert(object.md5).inserted {
                summary.archived += 1
            }
            summary.deleted += 1
        }
    }
}

extension EventPlan {
    fileprivate func issue(_ reason: String, _ file: FilePath?) -> RetentionSummary.Issue {
        RetentionSummary.Issue(event: due.event.eventID, file: file, reason: reason)
    }
}
