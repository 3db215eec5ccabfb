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

    /// Days of which the claims stay, today with them. One of a day after tomorrow is of a clock that was ahead, and would
    /// keep all machines from that day's jobs.
    private static let daysKept = 3
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
        let (last, own, hasDamage, lost) = try await ledger {
            let hasDamage = try !$0.otherDamage(limit: 1).isEmpty || !$0.leftToOthers().isEmpty
            return (try $0.userJobsDay(), try $0.catalogStatus().machine, hasDamage, try $0.overview().lostOfOthers)
        }
        var summary = Summary()
        if last == day { return summary }
        let signs = try await machines.lastSigns().filter { $0.key != own }
        let ends = try await machines.listing(keys.shareNotes)
        // Whichever machine has the day's jobs: another one knows nothing of what is left to others here.
        if hasDamage { try await ledger { [others = Set(signs.keys)] in try $0.lose(leftToAllBut: others) } }
        // By what a rebuild has found, each machine judges itself.
        if lost > 0, !signs.isEmpty {
            try await attempt("ask other machines for what was lost of them", &summary) { _ in
                try await LostOfOthers(ledger: ledger, catalogs: objects.catalogs).leaveUnnamed(of: Set(signs.keys))
            }
        }
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
                summary.problems += try await removeClaims(besides: day, now: now)
            }
            try await attempt("take back uploads of machines that are silent", &summary) { _ in
                if silent.isEmpty { return }
                for prefix in keys.ownPrefixes { try await store.takeBackUploads(below: prefix) }
            }
            try await attempt("see to objects of machines that are silent", &summary) { summary in
                Self.report(try await objects.run(silence, now: now), &summary)
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
        } catch let error where error.mayConcernOneItem {
            summary.problems.append("cannot \(what): \(error)")
        }
    }

    private static func report(_ result: SilentObjects.Summary, _ summary: inout Summary) {
        if result.checked > 0 {
            summary.done.append("verified for machines that are silent: \(result.checked.counted("object"))")
        }
        if result.moved > 0 {
            summary.done.append("moved to the archive for machines that are silent: \(result.moved.counted("object"))")
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

    /// - Parameters:
    ///   - day: of the claim that this machine has.
    ///   - now: by the store's clock: this machine's may be the one that is ahead.
    /// - Returns: what could not be removed, in plain words.
    private func removeClaims(besides day: CalendarDay, now: Date) async throws -> [String] {
        let today = CalendarDay(now).daysSince1970
        let old = try await machines.listing(keys.jobs).map(\.key).filter { key in
            guard let other = keys.day(ofJobClaim: key), other != day else { return false }
            return !(today - Self.daysKept + 1...today + 1).contains(other.daysSince1970)
        }
        return old.isEmpty ? [] : try await store.delete(old).problems(removing: "claims of old days")
    }
}

extension OtherDamage {
    /// The photo on its machine, else the object.
    package var place: String { path?.string ?? key.rawValue }

    /// The machine may live again by now, and need it no more, while the catalogue of another one is missing.
    package var words: String {
        guard let machine else { return "of no machine that is known: what is stored \(problem.words)" }
        return "found while the machine \(machine.escapingControls) was silent: what was stored of it \(problem.words)"
    }
}

/// Shares that have expired on a machine that is gone, and what tells of shares that are long over.
struct ExpiredShares: Sendable {
    /// Seconds after its end in which a share is left to its own machine.
    private static let grace: TimeInterval = 86_400
    /// Seconds after which the end of a share is forgotten: since it was told, and since the share would have ended.
    private static let memory: TimeInterval = 100 * 86_400

    let store: any ObjectStore
    let keys: KeyLayout
    let others: OtherShares
    /// For what guests have sent to them.
    let guests: GuestIntake?

    /// Removes what has ended of machines that are silent.
    /// - Returns: what was removed, and what could not be, in plain words.
    func removeExpired(_ silent: Set<String>, now: Date) async throws -> (done: [String], problems: [String]) {
        var (done, problems): ([String], [String]) = ([], [])
        if silent.isEmpty { return (done, problems) }
        for share in try await others.run().shares where silent.contains(share.machine) && !share.state.isOver {
            guard share.state == .revoking || now.timeIntervalSince(share.expiresAt) >= Self.grace else { continue }
            let name = "share \(share.id) of \(share.location.escapingControls)"
            let machine = share.machineName.escapingControls
            do {
                if share.state != .revoking, try await !isOver(share, now: now) { continue }
                let keys = ShareKeys(share.id)
                guard try await store.hasObjects(below: keys.folder) else { continue }
                try await ShareStorage(store: store).end(keys, guests)
                done.append("\(name) has ended, and was removed for the machine \(machine), which is silent")
            } catch ShareError.inOtherHands {
                // Another process removes it.
                continue
            } catch let error where error.mayConcernOneItem {
                problems.append("\(name) has ended on the machine \(machine), which is silent, and stays: \(error)")
            }
        }
        return (done, problems)
    }

    /// Its end may have been put off since the catalogue was written: the manifest has the last word.
    private func isOver(_ share: OtherShare, now: Date) async throws -> Bool {
        do {
            guard let manifest = try await store.manifestIfAny(of: share.id)?.manifest else { return true }
            return now.timeIntervalSince(manifest.expiresAt) >= Self.grace
        } catch let error as StoreError where error.mayConcernOneObject {
            return false
        } catch is ShareRefusal {
            return false
        }
    }

    // MARK: What is told of shares

    /// What tells of shares that nobody can publish any more goes.
    /// - Returns: what could not be read or removed, in plain words.
    func forget(_ notes: [OtherMachines.Listed], now: Date) async throws -> [String] {
        var gone: [ObjectKey] = []
        var problems: [String] = []
        let old = notes.filter { $0.modified.map { now.timeIntervalSince($0) >= Self.memory } ?? false }.map(\.key)
        for key in old {
            guard let id = keys.shareID(ofEnd: key) else { continue }
            if try await isForgettable(key, EndedShare.self, of: id, now: now, &problems) { gone.append(key) }
        }
        // All take-overs of a share, or none: the last one counts, and it is found by their numbers.
        let owners = notes.compactMap { note in keys.shareOwner(of: note.key).map { (id: $0.id, number: $0.number) } }
        for (id, owners) in Dictionary(grouping: owners, by: \.id) {
            let numbers = owners.map(\.number).sorted()
            guard let last = try numbers.last.map({ try keys.shareOwner(id, $0) }), old.contains(last),
                try await isForgettable(last, ShareOwner.self, of: id, now: now, &problems),
                // Its end may have been put off since.
                try await !store.hasObjects(below: ShareKeys(id).folder)
            else { continue }
            gone += try numbers.map { try keys.shareOwner(id, $0) }
        }
        if !gone.isEmpty {
            problems += try await store.delete(gone).problems(removing: "what tells of shares that are over")
        }
        return problems
    }

    private func isForgettable<Note: ShareNote>(
        _ key: ObjectKey, _ kind: Note.Type, of id: ShareID, now: Date, _ problems: inout [String]
    ) async throws -> Bool {
        do {
            let bytes = try await store.bytes(of: key, limit: ShareNoteLimits.maximumSize)
            guard let note = try? Note(parsing: bytes, of: id) else { return false }
            return now.timeIntervalSince(note.expiresAt) >= Self.memory
        } catch let error as StoreError where error.mayConcernOneObject {
            // Another machine may have been faster.
            if error.code != .notFound { problems.append("whether a share can be forgotten is not known: \(error)") }
            return false
        }
    }
}

/// What a rebuild has called lost of other machines, held against what their catalogues name by now. They are read only
/// where there is such a loss.
struct LostOfOthers: Sendable {
    let ledger: LedgerQueue
    let catalogs: OtherCatalogs

    /// What a machine names no more is no loss here: it has deleted it, or stored it under another key. Of one whose
    /// catalogue cannot be read to its end, all stays as it is.
    /// - Parameter machines: the user's other ones, by their ids.
    /// - Throws: ``StoreError`` when the store cannot be used; ``LedgerError``, `CancellationError`.
    func leaveUnnamed(of machines: Set<String>) async throws {
        let result = await Result {
            let read = Dictionary(uniqueKeysWithValues: machines.map { ($0, false) })
            let complete = try await catalogs.read(read, asksAll: true).complete
            try await ledger { try $0.leaveUnnamed(to: complete) }
        }
        try await ledger.finish { try $0.endOtherPlaces() }
        try result.get()
    }
}
