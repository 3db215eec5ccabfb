import FoundationEssentials
package import SyncCore
package import SyncLedger
import SystemPackage

/// What one machine a day does for all machines of a user: it sees to what was left by those that are gone. Their shares end,
/// their objects are verified and archived (``SilentObjects``), their interrupted uploads are taken back; and what tells of
/// shares that nobody can publish any more goes. Who stores the day's claim first does it; a machine that dies over it holds it
/// up until the next day.
///
/// A machine that gives signs sees to what is its own. Times are those of the store: a machine whose clock is wrong takes
/// nobody for gone.
package struct UserJobs: Sendable {
    package struct Summary: Sendable {
        /// In plain words.
        package fileprivate(set) var done: [String] = []
        package fileprivate(set) var problems: [String] = []
    }

    /// So many claims stay.
    private static let claimsKept = 3
    private static let damageTold = 10

    private let store: any ObjectStore
    private let ledger: LedgerQueue
    private let keys: KeyLayout
    private let machines: OtherMachines
    private let shares: ExpiredShares
    private let objects: SilentObjects
    private let time: TimeSource

    package init(
        store: any ObjectStore, ledger: LedgerQueue, keys: KeyLayout, others: OtherShares, guests: GuestIntake? = nil,
        objects: SilentObjects, time: TimeSource
    ) {
        self.store = store
        self.ledger = ledger
        self.keys = keys
        self.objects = objects
        self.time = time
        machines = OtherMachines(store: store, keys: keys)
        shares = ExpiredShares(store: store, keys: keys, others: others, guests: guests)
    }

    /// Asks for today's jobs, once a day, and does them when they are this machine's. Nothing is stored where there is neither
    /// another machine nor anything that one has left.
    /// - Throws: ``StoreError`` when the store as a whole cannot be used; ``LedgerError``, `CancellationError`.
    package func run() async throws -> Summary {
        let day = CalendarDay(time.now())
        let (last, own, hasDamage) = try await ledger {
            (try $0.userJobsDay(), try $0.catalogStanding().machine, try !$0.otherDamage(limit: 1).isEmpty)
        }
        var summary = Summary()
        if last == day { return summary }
        let signs = try await machines.lastSigns().filter { $0.key != own }
        let ends = try await machines.listing(keys.shareNotes)
        if !signs.isEmpty || !ends.isEmpty || hasDamage, let now = try await claim(day, own) {
            try await ledger { try $0.noteUserJobs(on: day) }
            let silence = signs.mapValues { OtherMachines.isSilent(since: $0, now: now) }
            let silent = Set(silence.filter(\.value).keys)
            try await attempt("end shares of machines that are silent", &summary) { summary in
                let result = try await shares.removeExpired(silent, now: now)
                summary.done += result.done
                summary.problems += result.problems
            }
            try await attempt("remove what tells of old shares", &summary) { summary in
                summary.problems += try await shares.forget(ends, now: now)
                try await removeClaims()
            }
            try await attempt("take back uploads of machines that are silent", &summary) { _ in
                if silent.isEmpty { return }
                for prefix in keys.ownPrefixes { try await store.takeBackUploads(below: prefix) }
            }
            try await attempt("see to objects of machines that are silent", &summary) { summary in
                Self.tell(try await objects.run(silence, now: now), &summary)
            }
        }
        try await ledger { try $0.noteUserJobs(on: day) }
        return summary
    }

    /// One job that fails keeps no other one from being done.
    private func attempt(
        _ what: String, _ summary: inout Summary, _ work: (inout Summary) async throws -> Void
    ) async throws {
        do {
            try await work(&summary)
        } catch let error as StoreError where error.mayConcernOneObject {
            summary.problems.append("cannot \(what): \(error)")
        }
    }

    private static func tell(_ result: SilentObjects.Summary, _ summary: inout Summary) {
        if result.checked > 0 {
            summary.done.append("verified for machines that are silent: \(result.checked.counted("object"))")
        }
        if result.moved > 0 {
            summary.done.append(
                "moved to the archive for machines that are silent: \(result.moved.counted("object"))")
        }
        if result.mended > 0 {
            summary.done.append(
                "no longer damaged, or needed by nobody, of machines that are silent: \(result.mended.counted("object"))"
            )
        }
        if result.isOverBudget { summary.done.append("verification has used up its budget of this month") }
        for damage in result.damage.prefix(damageTold) {
            summary.problems.append("\(damage.place.escapingControls): \(damage.words)")
        }
        if result.damage.count > damageTold {
            summary.problems.append(
                "\(result.damage.count.counted("object")) of machines that are silent are gone or damaged")
        }
        summary.problems += result.problems
    }

    /// - Returns: what time it is for the store; `nil` when another machine has the day.
    private func claim(_ day: CalendarDay, _ machine: String) async throws -> Date? {
        let claim = JobClaim(machine: machine, startedAt: time.now())
        let key = try keys.jobClaim(day)
        do {
            try await ShareStorage(store: store).put(text: claim.encoded(), at: key, .ifAbsent)
        } catch let error as StoreError where error.code == .alreadyExists {
            return nil
        }
        return try await store.head(key)?.modified
    }

    private func removeClaims() async throws {
        let claims = try await machines.listing(keys.jobs).map(\.key)
            .filter { keys.day(ofJobClaim: $0) != nil }.sorted()
        if claims.count > Self.claimsKept { _ = try await store.delete(Array(claims.dropLast(Self.claimsKept))) }
    }
}

extension OtherDamage {
    /// The photo on its machine, else the object.
    package var place: String { path?.string ?? key.rawValue }

    package var words: String {
        machine.map { "of the machine \($0.escapingControls), which is silent: what was stored of it \(problem.words)" }
            ?? "of no machine that is known: what is stored \(problem.words)"
    }
}
