import FoundationEssentials
package import SyncCore
package import SyncLedger
package import SyncSystem
import SystemPackage

/// Tells people what is wrong, and what ends soon: each once, and once more when it is over, also across a restart.
package struct TroubleAnnouncer: Sendable {
    /// Seconds. A store that is away for less is not worth a word.
    private static let outage: TimeInterval = 300
    /// Seconds before its end at which a share is told of; of short-lived ones the last quarter of their life.
    private static let shareNotice: TimeInterval = 86_400
    /// Bytes below which a disk is full, and beyond which it is no longer.
    package static let room: ClosedRange<Int64> = (256 << 20)...(512 << 20)

    /// A disk that the agent needs, by a folder on it.
    package struct Disk: Sendable {
        /// What people call the folder.
        package let place: String
        /// Whether the ledger is on it: whoever reads the ledger waits for that disk anyhow, and asks it on the same thread.
        let isOfLedger: Bool
        /// Blocks. `nil` where it cannot be told now.
        package let freeBytes: @Sendable () -> Int64?

        package init(_ place: String, isOfLedger: Bool, freeBytes: @escaping @Sendable () -> Int64?) {
            self.place = place
            self.isOfLedger = isOfLedger
            self.freeBytes = freeBytes
        }
    }

    private struct Trouble {
        let standing: StandingNotice
        let title: String
        let message: String
        var facts: [String: String] = [:]
    }

    private let ledger: LedgerQueue
    private let notifiers: Notifiers
    private let retention: RetentionOutlook
    private let disks: [Disk]
    private let pool: BlockingPool
    private let time: TimeSource
    /// The places of the disks that were full when the ledger was read last.
    private let full = Lock<Set<String>>([])

    /// - Parameter pool: for disks, which may hang, where the ledger is not read on the same one.
    package init(
        ledger: LedgerQueue, notifiers: Notifiers, retention: RetentionOutlook, disks: [Disk], pool: BlockingPool,
        time: TimeSource
    ) {
        self.ledger = ledger
        self.notifiers = notifiers
        self.retention = retention
        self.disks = disks
        self.pool = pool
        self.time = time
    }

    /// - Throws: ``LedgerError``, `CancellationError`.
    package func run() async throws {
        let now = time.now()
        let told = try await ledger { try $0.standingNotices() }
        var troubles = try await ledger { ledger in
            try inGeneral(ledger, at: now) + inRetention(ledger, told, at: now) + ofShares(ledger, told, at: now)
                + ofEndedShares(ledger, told)
        }
        troubles += try await ofDisks(told)
        // What is not to be told is not noted either: it is news when it is.
        for trouble in troubles where notifiers.delivers(trouble.standing.kind) && !told.contains(trouble.standing) {
            // Noted first: a notice that is lost with a crash is a smaller evil than one that comes with every restart.
            guard try await ledger({ try $0.noteTold(trouble.standing, at: now) }) else { continue }
            try await notifiers.deliver(
                Notice(
                    trouble.standing.kind, title: trouble.title, message: trouble.message,
                    facts: trouble.facts.merging(["over": "false"]) { $1 }, at: now))
        }
        for standing in told.subtracting(troubles.map(\.standing)) {
            guard try await ledger({ try !isLeft(standing, $0) && $0.noteOver(standing) }) else { continue }
            try await notifiers.deliver(try await end(of: standing, at: now))
        }
    }

    private func inGeneral(_ ledger: Ledger, at now: Date) throws(LedgerError) -> [Trouble] {
        let overview = try ledger.overview()
        var troubles: [Trouble] = []
        let failed = overview.totals[.failed].files
        if failed > 0 {
            let first = try ledger.failedPhotos(limit: 1).first.map { " \($0.path.text): \($0.why ?? "")." } ?? ""
            troubles.append(
                Trouble(
                    standing: StandingNotice(.photoFailed), title: "\(failed.counted("photo")) cannot be stored",
                    message: "\(failed.counted("file is", "files are")) on this disk alone.\(first) "
                        + "sync-agent status names them.",
                    facts: ["failed": "\(failed)"]))
        }
        if let error = overview.store?.error, let since = overview.store?.since,
            now.timeIntervalSince(since) >= Self.outage
        {
            troubles.append(
                Trouble(
                    standing: StandingNotice(.storeAway), title: "The store cannot be used",
                    message:
                        "Since \(since.formatted(.iso8601)): \(error). New photos wait, and are sent when it is back.",
                    facts: ["since": since.formatted(.iso8601)]))
        }
        let broken = overview.broken
        let elsewhere = try ledger.otherDamage(limit: SilentObjects.mostDamage).count
        if broken + elsewhere + overview.lost > 0 {
            troubles.append(
                Trouble(
                    standing: StandingNotice(.damageFound), title: "What is stored is damaged or gone",
                    message: "\((broken + elsewhere).counted("object is", "objects are")) not as stored, and "
                        + "\(overview.lost.counted("photo is", "photos are")) lost. What is on this disk is stored again; "
                        + "sync-agent status names the rest.",
                    facts: ["objects": "\(broken + elsewhere)", "lost": "\(overview.lost)"]))
        }
        return troubles
    }

    private func inRetention(
        _ ledger: Ledger, _ told: Set<StandingNotice>, at now: Date
    ) throws(LedgerError) -> [Trouble] {
        var troubles: [Trouble] = []
        let standing = StandingNotice(.retentionFailed)
        // A cleanup for older events alone, by hand, has not come to those that an earlier one has kept.
        let isLeft = try told.contains(standing) ? retention.isAnyKept(ledger, at: now) : false
        if let run = try ledger.lastTellingRetentionRun(), isLeft || run.skipped + run.failed > 0 {
            troubles.append(
                Trouble(
                    standing: standing,
                    title: "A cleanup could not delete all old gallery events",
                    message: "\((run.skipped + run.failed).counted("event keeps its text", "events keep their text")). "
                        + "sync-agent cleanup --report says why.",
                    facts: ["failed": "\(run.failed)", "skipped": "\(run.skipped)"]))
        }
        let overdue = try retention.overdue(ledger, at: now)
        if overdue > 0 {
            troubles.append(
                Trouble(
                    standing: StandingNotice(.eventsOverdue),
                    title: "\(overdue.counted("gallery event")) should have been deleted",
                    message:
                        "They were due at the last daily cleanup. sync-agent cleanup --report says why they are here.",
                    facts: ["overdue": "\(overdue)"]))
        }
        return troubles
    }

    private func ofShares(
        _ ledger: Ledger, _ told: Set<StandingNotice>, at now: Date
    ) throws(LedgerError) -> [Trouble] {
        func standing(_ share: ShareRecord) -> StandingNotice { StandingNotice(.shareEnds, about: "\(share.id)") }
        return try ledger.unendedShares().filter { share in
            // Until it is removed, others may see it: it has not ended.
            if share.state.isEnding { return told.contains(standing(share)) }
            let life = share.expiresAt.timeIntervalSince(share.createdAt)
            return share.state == .live
                && share.expiresAt.timeIntervalSince(now) <= min(Self.shareNotice, life / 4)
        }.map { share in
            Trouble(
                standing: standing(share),
                title: "The share of \(share.location) ends soon",
                message: "Its photos are removed at \(share.expiresAt.formatted(.iso8601)). sync-agent share with "
                    + "--expires makes it last longer.",
                facts: ["shareId": "\(share.id)", "expiresAt": share.expiresAt.formatted(.iso8601)])
        }
    }

    /// What follows the id of a share in the subject of a notice that it is over, and not removed.
    private static let notRemoved = "/removal"

    /// While the store is away, which is told itself, none is news.
    private func ofEndedShares(_ ledger: Ledger, _ told: Set<StandingNotice>) throws(LedgerError) -> [Trouble] {
        let left = try ledger.shareTroubles().filter { $0.kind == .end }
        if left.isEmpty { return [] }
        let isStoreWell = try ledger.overview().store?.error == nil
        return left.map { trouble in
            Trouble(
                standing: StandingNotice(.shareEnds, about: "\(trouble.share)\(Self.notRemoved)"),
                title: "The share of \(trouble.location) is over, and cannot be removed",
                message: "Others may see its photos: \(trouble.problem). It is tried again.",
                facts: ["shareId": "\(trouble.share)"])
        }.filter { isStoreWell || told.contains($0.standing) }
    }

    /// Whether it tells of a share that is not removed, and still is not: what its guests have sent may be all that is
    /// left of it, or another attempt have begun.
    private func isLeft(_ standing: StandingNotice, _ ledger: Ledger) throws(LedgerError) -> Bool {
        guard standing.kind == .shareEnds, standing.subject.hasSuffix(Self.notRemoved),
            let id = ShareID(String(standing.subject.dropLast(Self.notRemoved.count)))
        else { return false }
        if try ledger.share(id)?.state.isEnding == true { return true }
        guard let removal = try ledger.shareRemoval(id) else { return false }
        return removal.goneAt == nil
    }

    private func ofDisks(_ told: Set<StandingNotice>) async throws -> [Trouble] {
        var troubles: [Trouble] = []
        for disk in disks {
            let standing = StandingNotice(.diskFull, about: disk.place)
            let wasFull = told.contains(standing)
            let free =
                disk.isOfLedger
                ? try await ledger { _ in disk.freeBytes() } : try await pool.run { disk.freeBytes() }
            let isFull = Self.isFull(free, before: wasFull)
            full.withLock { $0 = isFull ? $0.union([disk.place]) : $0.subtracting([disk.place]) }
            guard isFull else { continue }
            troubles.append(
                Trouble(
                    standing: standing, title: "The disk of \(disk.place) is full",
                    message:
                        "Less than \(Self.room.lowerBound >> 20) MiB are free. Without room the agent waits; free some.",
                    facts: ["place": disk.place, "freeBytes": "\(free ?? 0)"]))
        }
        return troubles
    }

    /// Whether a disk was filled, or has room again, since the last ``run()``. The ledger, which does not tell it, is not
    /// read.
    /// - Throws: `CancellationError`.
    func haveDisksChanged() async throws -> Bool {
        for disk in disks {
            let wasFull = full.withLock { $0.contains(disk.place) }
            let free = try await pool.run { disk.freeBytes() }
            if Self.isFull(free, before: wasFull) != wasFull { return true }
        }
        return false
    }

    /// One that cannot be asked is as it was.
    private static func isFull(_ freeBytes: Int64?, before wasFull: Bool) -> Bool {
        freeBytes.map { $0 < (wasFull ? room.upperBound : room.lowerBound) } ?? wasFull
    }

    private func end(of standing: StandingNotice, at now: Date) async throws -> Notice {
        var facts = ["over": "true"]
        let (title, message): (String, String)
        switch standing.kind {
        case .photoFailed: (title, message) = ("No photo fails any more", "All photos are stored, or on their way.")
        case .storeAway: (title, message) = ("The store is back", "What has waited is sent now.")
        case .damageFound:
            (title, message) = ("Nothing stored is damaged any more", "What was damaged or gone is stored again.")
        case .retentionFailed: (title, message) = ("A cleanup has deleted all old gallery events", "None was kept.")
        case .eventsOverdue:
            (title, message) = ("No gallery event is overdue any more", "All that were due are deleted.")
        case .diskFull:
            (title, message) = ("The disk of \(standing.subject) has room again", "The agent goes on.")
            facts["place"] = standing.subject
        case .shareEnds:
            let isRemoval = standing.subject.hasSuffix(Self.notRemoved)
            let subject = String(standing.subject.dropLast(isRemoval ? Self.notRemoved.count : 0))
            facts["shareId"] = subject
            let id = ShareID(subject)
            let share = try await ledger { ledger in try id.flatMap { try ledger.share($0) } }
            let name = share.map { "The share of \($0.location)" } ?? "Share \(subject)"
            if isRemoval {
                (title, message) = ("\(name) is removed", "Nothing of it is in the store any more.")
            } else {
                (title, message) =
                    share?.state == .live
                    ? ("\(name) lasts longer", "It ends at \(share?.expiresAt.formatted(.iso8601) ?? "").")
                    : ("\(name) has ended", "Nobody can see its photos any more.")
            }
        case .restoreReady, .restoreFailed, .restoreExpiring, .shareLive, .guestPhotos:
            (title, message) = ("It is over", "")
        }
        return Notice(standing.kind, title: title, message: message, facts: facts, at: now)
    }
}
