import FoundationEssentials
package import Logging
import ServiceLifecycle
package import SyncCore
package import SyncLedger
package import SyncSystem
import SystemPackage

/// The agent's part of shares: those that were interrupted or waited for the archive are published, signed links are made
/// anew before they end, and what has expired or was revoked is removed. One round is what `sync` runs.
package struct ShareService: Service {
    /// How soon a share that another process has made is seen.
    private static let interval = Duration.seconds(5)
    /// Seconds after which what did not work is tried again: the first time, and at the latest.
    private static let patience: ClosedRange<TimeInterval> = 60...3_600
    /// The same of a share that has to go.
    private static let patienceToEnd: ClosedRange<TimeInterval> = 60...300
    /// The same of one that waits for the archive: each attempt may read all of its photos.
    private static let patienceToWait: ClosedRange<TimeInterval> = 3_600...3_600
    /// While the clocks differ, the store is asked for its time again after so long: a share that only seems to be over would
    /// have it asked with each round.
    private static let clockLasts = Duration.seconds(600)
    /// Seconds after its end in which a share is listed once more, and how often such are looked for.
    private static let sweepAfter: ClosedRange<TimeInterval> = 300...7_200
    private static let sweepEvery: TimeInterval = 60
    /// Seconds between two looks for what guests have sent, where asking the store costs something.
    private static let guestsEvery: TimeInterval = 60

    private let publisher: SharePublisher
    private let remover: ShareRemover
    private let elsewhere: ShareReconciler
    private let guests: GuestIntake?
    private let ledger: LedgerQueue
    private let scanner: any TreeScanner
    private let pool: BlockingPool
    private let notifiers: Notifiers
    private let loop: ServiceLoop
    private let time: TimeSource
    private let logger: Logger

    /// - Parameters:
    ///   - notes: what was taken back, or taken over, on other machines.
    ///   - others: for those of other machines that were taken back on this one.
    ///   - guests: `nil` where no share takes any.
    ///   - pool: for looking at files, on a disk that may hang.
    package init(
        publisher: SharePublisher, remover: ShareRemover, notes: ShareNotes, others: OtherShareRemover,
        guests: GuestIntake? = nil, ledger: LedgerQueue, scanner: any TreeScanner, pool: BlockingPool,
        notifiers: Notifiers, patience: LedgerPatience, time: TimeSource, logger: Logger
    ) {
        self.publisher = publisher
        self.remover = remover
        elsewhere = ShareReconciler(notes: notes, others: others, ledger: ledger, time: time, logger: logger)
        self.guests = guests
        self.ledger = ledger
        self.scanner = scanner
        self.pool = pool
        self.notifiers = notifiers
        loop = ServiceLoop(name: "shares", interval: Self.interval, patience: patience, time: time)
        self.time = time
        self.logger = logger
    }

    /// Does all that is due now.
    /// - Throws: ``StoreError`` when the store as a whole is away; ``LedgerError``, `CancellationError`.
    package func round() async throws {
        var rounds = Rounds()
        try await work(&rounds)
    }

    package func run() async throws {
        try await loop.run(Rounds()) { rounds in
            let glance = await loop.glance()
            try await work(&rounds)
            return rounds.isAnyLeft
                ? .round(after: Self.interval) : .change(since: glance, every: Self.interval)
        }
    }

    /// What one round leaves for the next.
    private struct Rounds {
        /// What is left alone, because it did not work.
        var rests = Rests<ShareID, Attempt>()
        /// Whether a share has not ended.
        var isAnyOpen = true
        /// Whether one that is over is to be listed once more.
        var isAnyToSweep = true
        /// Whether something may be due at any moment, by the clock alone.
        var isAnyLeft: Bool { isAnyOpen || isAnyToSweep || elsewhere.isAnyLeft }
        var told: Set<String> = []
        /// Shares that are over and were listed once more, and when such were looked for.
        var swept: Set<ShareID> = []
        /// Shares whose times were held against the store's clock.
        var measured: Set<ShareID> = []
        var sweptAt: Date?
        /// What the store's clock was ahead of ours, and when it was asked.
        var clock: (offset: TimeInterval, askedAt: Duration)?
        var elsewhere = ShareReconciler.Rounds()
        /// When it was looked for what guests have sent.
        var askedForGuests: Date?
        /// Whether what is kept here of guests was held against the ledger.
        var hasTakenUp = false
    }

    /// What did not work is left alone until something else is due, or something else is to be had.
    private enum Attempt: Hashable, Sendable {
        case due(ShareSchedule.Action, Sources)
        /// Another look at the place of one that is over.
        case sweep
    }

    /// Of what the photos could be made that are still to be stored, as far as one of them is known to be in the archive.
    private struct Sources: Hashable, Sendable {
        var readable: Set<Int> = []
        var files: [Int: FileStamp] = [:]
        /// Those that can be had from nowhere.
        var missing: [ObjectKey] = []
    }

    /// A share that was made while the clock was years ahead would be seen for years. The store's clock tells: where it says
    /// that the share was written before now, the life that was asked for is counted from there.
    private func correctEnds(_ rounds: inout Rounds) async throws {
        let now = time.now()
        for share in try await ledger({ try $0.unendedShares() })
        where share.state == .live && share.createdAt.isAhead(of: now, by: ClockTolerance.toAct) {
            guard rounds.measured.insert(share.id).inserted else { continue }
            // A clock that is behind looks the same from here: then the store's is ahead of it, too.
            guard let written = try await publisher.writtenByStore(share),
                !written.isAhead(of: now, by: ClockTolerance.toAct)
            else { continue }
            let end = written.addingTimeInterval(share.expiresAt.timeIntervalSince(share.createdAt))
            guard try await ledger({ try $0.correctShare(share.id, createdAt: written, expiresAt: end) }) else {
                continue
            }
            logger.warning(
                "share \(share.id) was made while this machine's clock was ahead; it ends at \(end.formatted(.iso8601))"
            )
        }
    }

    /// What has to go comes first: nobody's full disk or lost right keeps it.
    private func work(_ rounds: inout Rounds) async throws {
        try await elsewhere.work(&rounds.elsewhere)
        try await correctEnds(&rounds)
        let due = try await dueActions(&rounds)
        for (share, action) in due where action.isEnd { try await attempt(action, share, &rounds) }
        for (share, action) in due where !action.isEnd { try await attempt(action, share, &rounds) }
        try await sweep(&rounds)
        try await receiveGuests(&rounds)
    }

    private func dueActions(_ rounds: inout Rounds) async throws -> [(share: ShareRecord, action: ShareSchedule.Action)]
    {
        let shares = try await ledger { try $0.unendedShares() }
        rounds.isAnyOpen = !shares.isEmpty
        func due(at now: Date) -> [(share: ShareRecord, action: ShareSchedule.Action)] {
            shares.compactMap { share in dueAction(for: share, at: now).map { (share, $0) } }
        }
        let now = time.now()
        let actions = due(at: now)
        // What has expired is deleted for good: by this machine's clock alone it is not.
        guard actions.contains(where: { $0.action == .end(.expired) && $0.share.state != .expiring }) else {
            return actions
        }
        let asked = time.monotonic()
        if let clock = rounds.clock, clock.offset != 0, asked - clock.askedAt < Self.clockLasts {
            return due(at: now.addingTimeInterval(clock.offset))
        }
        let offset = try await publisher.storeClockOffset()
        rounds.clock = (offset, asked)
        return offset == 0 ? actions : due(at: now.addingTimeInterval(offset))
    }

    private func attempt(_ action: ShareSchedule.Action, _ share: ShareRecord, _ rounds: inout Rounds) async throws {
        let now = time.now()
        let sources = action == .publish ? try await sources(of: share, at: now) : Sources()
        let attempt = Attempt.due(action, sources)
        if rounds.rests.holds(share.id, attempt, at: now) { return }
        do {
            // One whose photos are still in the archive is not tried: each attempt would ask the store for them.
            var isDone = true
            if sources.missing.isEmpty {
                isDone = try await carryOut(action, share)
            } else {
                try await publisher.noteWaiting(share, for: sources.missing)
            }
            if isDone {
                rounds.rests.end(share.id)
            } else {
                rounds.rests.add(share.id, attempt, at: now, for: Self.patienceToWait)
            }
        } catch ShareError.inOtherHands, ShareError.takenOver {
            return
        } catch let error where action.isEnd ? error.mayConcernOneEnd : error.mayConcernOneItem {
            let patience = action.isEnd ? Self.patienceToEnd : Self.patience
            let rest = rounds.rests.add(share.id, attempt, at: now, for: patience)
            if rounds.told.insert("\(share.id) \(error)").inserted {
                logger.warning("share \(share.id): \(error); it is tried again in \(Int(rest / 60).counted("minute"))")
            }
        }
    }

    /// A put that was under way when a share ended, of a process that was stopped, may have come to its end since.
    private func sweep(_ rounds: inout Rounds) async throws {
        let now = time.now()
        if let last = rounds.sweptAt, abs(now.timeIntervalSince(last)) < Self.sweepEvery { return }
        let oldest = now.addingTimeInterval(-Self.sweepAfter.upperBound)
        let ended = try await ledger { try $0.shares(endedAfter: oldest) }
        rounds.swept.formIntersection(ended.map(\.id))
        defer { rounds.isAnyToSweep = ended.contains { !rounds.swept.contains($0.id) } }
        for share in ended where !rounds.swept.contains(share.id) {
            guard let end = share.endedAt, now.timeIntervalSince(end) >= Self.sweepAfter.lowerBound else { continue }
            if rounds.rests.holds(share.id, .sweep, at: now) { continue }
            do {
                try await remover.sweep(share.id)
                rounds.swept.insert(share.id)
                rounds.rests.end(share.id)
            } catch ShareError.inOtherHands {
                continue
            } catch let error where error.mayConcernOneItem {
                rounds.rests.add(share.id, .sweep, at: now, for: Self.patienceToEnd)
                let text = "share \(share.id) is over, and its place cannot be looked at again: \(error)"
                if rounds.told.insert(text).inserted { logger.warning("\(text)") }
            }
        }
        rounds.sweptAt = now
    }

    private func receiveGuests(_ rounds: inout Rounds) async throws {
        guard let guests else { return }
        let now = time.now()
        if let last = rounds.askedForGuests, !guests.isFree,
            abs(now.timeIntervalSince(last)) < Self.guestsEvery
        {
            return
        }
        rounds.askedForGuests = now
        try await takeUpKept(guests, &rounds)
        // Pages that are open go on sending when it is not asked for any more.
        let shares = try await ledger { ledger in
            let troubled = Set(try ledger.guestProblems().map(\.share))
            return try ledger.unendedShares().filter { share in
                guard share.state == .live else { return false }
                if share.takesGuests || troubled.contains(share.id) { return true }
                return try !ledger.guestPhotos(of: share.id).isEmpty
            }
        }
        for share in shares {
            do {
                let (count, problem) = try await guests.receive(share.id)
                if count > 0 { try await notifiers.deliver(Self.notice(of: count, sentTo: share, at: now)) }
                if let problem { throw problem }
            } catch ShareError.inOtherHands {
                continue
            } catch let error where error.mayConcernOneItem {
                if rounds.told.insert("guests \(share.id) \(error)").inserted {
                    logger.warning("what guests have sent to share \(share.id) cannot be kept now: \(error)")
                }
            }
        }
    }

    /// A ledger that was built anew knows nothing of what waits here, and a share that is over is asked for no more.
    private func takeUpKept(_ guests: GuestIntake, _ rounds: inout Rounds) async throws {
        if rounds.hasTakenUp { return }
        rounds.hasTakenUp = true
        do {
            for (share, failure) in try await guests.takeUpAll() {
                if case ShareError.inOtherHands = failure { continue }
                logger.warning("what guests have sent to share \(share) waits here, and is not noted: \(failure)")
            }
        } catch let error where error.mayConcernOneItem {
            logger.warning("what guests have sent, and is kept here, cannot be looked at: \(error)")
        }
    }

    private static func notice(of count: Int, sentTo share: ShareRecord, at now: Date) -> Notice {
        Notice(
            .guestPhotos, title: "\(count.counted("photo")) from guests of \(share.location)",
            message: "Nobody sees \(count == 1 ? "it" : "them") before you say so: sync-agent guests shows what waits.",
            facts: ["shareId": "\(share.id)", "photos": "\(count)"], at: now)
    }

    private func dueAction(for share: ShareRecord, at now: Date) -> ShareSchedule.Action? {
        guard let schedule = ShareSchedule(for: share, now: now) else { return nil }
        if schedule.dueAt <= now { return schedule.action }
        return publisher.wantsNewLinks(share) ? .renew : nil
    }

    /// - Returns: whether nothing is left to be done.
    private func carryOut(_ action: ShareSchedule.Action, _ share: ShareRecord) async throws -> Bool {
        switch action {
        case .end(let end):
            try await remover.run(share.id, end)
            logger.notice(
                "share \(share.id) of \(share.location.escapingControls) \(end == .revoked ? "was revoked" : "has expired")"
            )
        case .renew:
            try await publisher.renew(share.id)
            logger.info("share \(share.id) of \(share.location.escapingControls) has new links")
        case .publish:
            do {
                guard case .live(let live) = try await publisher.run(share.id) else { return false }
                if share.state != .live {
                    try await notifiers.deliver(Self.notice(of: live, at: time.now()))
                    logger.notice("share \(share.id) of \(share.location.escapingControls) can be seen now")
                }
            } catch let error as ShareError {
                // Nothing of it can be shared: it would never be.
                if case .nothing = error { try await remover.run(share.id, .revoked) }
                throw error
            }
        }
        return true
    }

    /// Whoever asked for it is not there any more. The link is a secret, and stays out of it.
    private static func notice(of share: ShareRecord, at now: Date) -> Notice {
        Notice(
            .shareLive, title: "The share of \(share.location) can be seen now",
            message:
                "\(share.photoCount.counted("photo is", "photos are")) shared until \(share.expiresAt.formatted(.iso8601)). "
                + "sync-agent shares shows the link\(share.recipient == nil ? "" : " and the message to send").",
            facts: [
                "shareId": "\(share.id)", "photos": "\(share.photoCount)",
                "expiresAt": share.expiresAt.formatted(.iso8601),
            ], at: now)
    }

    private func sources(of share: ShareRecord, at now: Date) async throws -> Sources {
        guard share.step == .publish else { return Sources() }
        let (readable, archived) = try await ledger { ledger in
            var readable: Set<Int> = []
            var archived: [(photo: SharePhoto, key: ObjectKey)] = []
            for photo in try ledger.sharePhotos(share.id) {
                guard photo.position != nil, photo.copy == nil, photo.failure == nil, let key = photo.sourceKey else {
                    continue
                }
                if let object = try ledger.object(key), !object.isReadable(at: now) {
                    archived.append((photo, key))
                } else {
                    readable.insert(photo.slot)
                }
            }
            return (readable, archived)
        }
        var sources = Sources(readable: readable)
        guard !archived.isEmpty else { return sources }
        let stamps = try await pool.run { [scanner] in archived.map { try? scanner.stamp(of: $0.photo.path) } }
        for (item, stamp) in zip(archived, stamps) {
            if let stamp { sources.files[item.photo.slot] = stamp } else { sources.missing.append(item.key) }
        }
        return sources
    }
}
