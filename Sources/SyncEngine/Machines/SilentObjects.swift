package import FoundationEssentials
package import SyncCore
package import SyncLedger
package import SyncSystem
package import SystemPackage

/// Sees to the objects of machines that give no sign: reads some of them back each day, moves old ones to the archive where
/// the agent does that, and tells what is gone or damaged until it is right again.
///
/// A listing, page by page, beside what their catalogues name. A page of it is in memory. What no catalogue names is seen to
/// as well, as long as there is no other machine that may have it in its ledger.
package struct SilentObjects: Sendable {
    package struct Summary: Sendable {
        /// Objects that were read back, or held against what the store says of them.
        package fileprivate(set) var checked = 0
        package fileprivate(set) var isOverBudget = false
        package fileprivate(set) var moved = 0
        /// What is gone or damaged, now.
        package fileprivate(set) var damage: [OtherDamage] = []
        /// What was, and is right again or needed by nobody.
        package fileprivate(set) var mended = 0
        /// What could not be done, in plain words; at most ``namedProblems``.
        package fileprivate(set) var problems: [String] = []

        package static let namedProblems = 10

        fileprivate mutating func add(_ problem: String) {
            if problems.count < Self.namedProblems { problems.append(problem) }
        }
    }

    /// So much damage is remembered; the rest is found when this is over.
    package static let mostDamage = 1_000
    private static let checksInFlight = 3
    private static let pageSize = 1_000
    /// Objects whose price is noted at once.
    private static let pricedAtOnce = 30

    private let store: any ObjectStore
    private let ledger: LedgerQueue
    /// What is read comes through it.
    private let source: CountingStore
    private let examiner: ObjectExaminer
    let catalogs: OtherCatalogs
    private let prefixes: [String]
    private let verification: VerificationRule
    private let copies: ArchiveCopies?
    private let rules: [TierRule]
    private let movedClasses: [StorageClass]
    private let time: TimeSource

    /// - Parameters:
    ///   - policy: whose rules are carried out here, as ``StoreUpkeep`` does for this machine's own.
    ///   - spool: a file of this process's.
    ///   - pool: for what waits for the disk.
    package init(
        store: any ObjectStore, ledger: LedgerQueue, keys: KeyLayout, policy: TierPolicy,
        verification: VerificationRule, spool: FilePath, pool: BlockingPool, time: TimeSource
    ) {
        self.store = store
        self.ledger = ledger
        self.verification = verification
        self.time = time
        source = CountingStore(base: store)
        examiner = ObjectExaminer(source)
        prefixes = keys.recordedPrefixes
        catalogs = OtherCatalogs(
            reader: CatalogReader(store: store, ledger: ledger, keys: keys, spool: spool, pool: pool, time: time),
            ledger: ledger, prefixes: prefixes)
        rules = policy.isCarriedOutHere(store) ? policy.archiveRules.compactMap(\.own) : []
        movedClasses = policy.movedClasses
        copies = rules.isEmpty ? nil : ArchiveCopies(store: store)
    }

    /// - Parameters:
    ///   - machines: the user's other ones, and whether each of them is silent.
    ///   - now: by the store's clock, as the ages of its objects are.
    /// - Throws: ``StoreError`` when the store as a whole cannot be used, or does not have the class; ``LedgerError``,
    ///   `CancellationError`.
    package func run(_ machines: [String: Bool], now: Date) async throws -> Summary {
        let (own, known) = try await ledger {
            (try $0.forgetOwnDamage(), try $0.otherDamage(limit: Self.mostDamage))
        }
        var summary = Summary()
        summary.mended = own
        if known.isEmpty, !machines.values.contains(true) { return summary }
        let result = await Result { try await check(machines, known, now: now, &summary) }
        try await ledger.finish { try $0.endOtherPlaces() }
        try result.get()
        return summary
    }

    /// What one run needs at each page.
    private struct Round {
        var names: [String: String]
        var choice: DayChoice
        /// By the store's clock.
        var now: Date
        /// US dollars that are left of this month.
        var budget: Double
        var known: Set<ObjectKey>
        /// What is known to be gone or damaged unless its machine has replaced it: its turn is today.
        var suspects: Set<ObjectKey>
        /// Whether what no catalogue names is this machine's to see to.
        var seesToUnnamed: Bool
        let earlier: EarlierDenials
        let denied: DeniedObjects
        /// What an earlier day was denied: it is moved when all else was seen to.
        var putOff: [ArchiveCopies.Move] = []
        var summary: Summary
    }

    private func check(
        _ machines: [String: Bool], _ known: [OtherDamage], now: Date, _ summary: inout Summary
    ) async throws {
        let found = try await catalogs.read(machines)
        let today = time.now()
        let (spent, suspects) = try await ledger {
            (try $0.verificationStatus(at: today).spentUSD, try $0.leftToOthers())
        }
        let earlier = try await EarlierDenials(of: .archive, in: ledger, time: time)
        var round = Round(
            names: found.names,
            choice: DayChoice(
                percent: verification.percentPerDay, day: Int((now.timeIntervalSince1970 / 86_400).rounded(.down))),
            now: now, budget: max(verification.maximumUSDPerMonth - spent, 0), known: Set(known.map(\.key)),
            suspects: suspects, seesToUnnamed: machines.values.allSatisfy(\.self), earlier: earlier,
            denied: DeniedObjects(earlier), summary: summary)
        for problem in found.problems { round.summary.add(problem) }
        try await recheck(known, found, &round)
        for prefix in prefixes {
            try await store.eachPage(below: prefix, time: time) { page, span, _ in
                if let span { try await compare(page, span, &round) }
            }
        }
        for moves in earlier.longestAgoFirst(round.putOff, by: \.key).grouped(atMost: Self.pageSize) {
            try await carryOut(moves, &round)
        }
        summary = round.summary
    }

    // MARK: What is known to be damaged

    private func recheck(
        _ known: [OtherDamage], _ found: OtherCatalogs.Findings, _ round: inout Round
    ) async throws {
        var over: [ObjectKey] = []
        for damage in known {
            let key = damage.key
            let isAllRead = found.isAllRead && !(damage.machine.map(found.untold.contains) ?? false)
            let words = try await ledger { try $0.otherWords(of: key) }
            do {
                if words.isEmpty, isAllRead, damage.machine != nil {
                    // Nobody needs it any more.
                    over.append(key)
                    continue
                }
                let (info, price) = try await glance(at: key)
                guard price <= round.budget,
                    let seen = try await paying(price, { try await examine(key, words, in: info, isUnlisted: false) })
                else {
                    // It stays known as it was.
                    round.summary.isOverBudget = true
                    round.summary.damage.append(damage)
                    continue
                }
                var problem: ObjectFault? = seen
                round.budget -= price
                if problem == nil, words.isEmpty, !isAllRead, !Self.isMended(damage, info) { problem = damage.problem }
                if problem == .missing, words.isEmpty, damage.machine.map(found.whole.contains) ?? false {
                    // Its machine has forgotten it, and may have deleted it.
                    problem = damage.problem
                }
                // Who needs what no catalogue names may be one whose catalogue is not there.
                guard let problem, !words.isEmpty || problem.isDamage || !isAllRead else {
                    over.append(key)
                    continue
                }
                try await note(key, problem, words.first, known: damage, &round)
            } catch let error as StoreError where error.mayConcernOneObject {
                round.summary.damage.append(damage)
                round.summary.add("not looked at again: \(key): \(error)")
            }
        }
        let gone = over
        try await ledger.finish { try $0.forgetOtherDamage(gone) }
        round.summary.mended += gone.count
    }

    /// Whether an object whose bytes are what its own metadata says is right again, where nobody tells what was stored.
    /// Where that says nothing, what was damaged counts as damaged still.
    private static func isMended(_ damage: OtherDamage, _ info: ObjectInfo?) -> Bool {
        guard damage.problem.isDamage else { return true }
        // Of one that cannot be read the store tells what it was told, whatever became of its bytes.
        return info.map { !$0.isLocked && $0.claimedSHA256 != nil } ?? false
    }

    /// What the store says of an object, and what it costs to read it, in US dollars.
    private func glance(at key: ObjectKey) async throws -> (info: ObjectInfo?, price: Double) {
        guard let info = try await store.readableHead(key) else { return (nil, 0) }
        return (info, verification.cost.usd(bytes: info.isLocked ? 0 : info.size, in: info.storageClass))
    }

    /// Pays for reading before it is done: the price, or, where it fails, that of what has come until then.
    /// - Returns: `nil`, with nothing read, where the month's money is over: other processes spend it, too.
    private func paying<Value>(_ price: Double, _ read: () async throws -> Value) async throws -> Value? {
        let (before, moment, month) = (source.bytes, time.now(), verification.maximumUSDPerMonth)
        guard try await ledger({ try $0.payForChecks([price], ofMonth: month, at: moment) }) > 0 else { return nil }
        do {
            return try await read()
        } catch {
            let bytes = source.bytes - before
            let difference = (bytes > 0 ? verification.cost.usd(bytes: bytes, in: .standard) : 0) - price
            if difference != 0 { try await ledger.finish { try $0.correctCost(byUSD: difference, at: moment) } }
            throw error
        }
    }

    /// - Parameters:
    ///   - words: what catalogues say of it; none for what no catalogue names.
    ///   - listed: as a listing has just told it.
    /// - Returns: what is wrong with it.
    private func examine(
        _ key: ObjectKey, _ words: [OtherObject], in listed: ObjectInfo?, isUnlisted: Bool
    ) async throws -> ObjectFault? {
        var (fault, records): (ObjectFault?, [ObjectRecord]) = (nil, words.map { ObjectRecord($0, listed) })
        if words.isEmpty {
            var info = listed
            if info == nil {
                do {
                    info = try await store.head(key)
                } catch let error as StoreError where error.code == .badDigest {
                    return ObjectExaminer.unreadable
                }
            }
            guard let info else { return .missing }
            records = [ObjectRecord(unnamed: info)]
        }
        for record in records {
            switch try await examiner.examine(record, reading: isUnlisted ? .inDoubt : .always, isUnlisted: isUnlisted)
            {
            case .intact: return nil
            case .broken(.missing): return .missing
            // Another machine may have stored another version of it.
            case .broken(let problem): fault = fault ?? problem
            }
        }
        return fault
    }

    /// - Parameter known: whose it was called before; that stays where no catalogue says it any more.
    private func note(
        _ key: ObjectKey, _ problem: ObjectFault, _ word: OtherObject?, known: OtherDamage? = nil, _ round: inout Round
    ) async throws {
        guard round.summary.damage.count < Self.mostDamage else { return }
        let now = time.now()
        let machine = word.map { round.names[$0.machine] ?? $0.machine }
        let damage = OtherDamage(
            key: key, machine: machine ?? known?.machine, path: word?.path ?? known?.path, problem: problem,
            foundAt: now, seenAt: now)
        try await ledger.finish { try $0.noteOtherDamage([damage]) }
        round.summary.damage.append(damage)
    }

    // MARK: Both ways

    private func compare(_ listing: ObjectPage, _ span: ListedSpan, _ round: inout Round) async throws {
        let (damaged, unclear) = (listing.damaged, listing.unclear)
        var listed = Dictionary(listing.objects.map { ($0.key, $0) }) { first, _ in first }
        let pages = LedgerPages(ledger: ledger, start: span.after, place: \OtherObject.key) {
            try $0.silentObjects(below: span.prefix, after: $1, through: span.through, limit: Self.pageSize)
        }
        for try await page in pages {
            var due: [Due] = []
            for object in page {
                let info = listed.removeValue(forKey: object.key)
                if unclear.contains(object.key) || round.known.contains(object.key) { continue }
                due.append(Due(key: object.key, info: info, isUnlisted: info == nil && !damaged.contains(object.key)))
            }
            try await see(to: due, &round)
            if page.count < Self.pageSize { break }
        }
        if !round.seesToUnnamed { return }
        let rest = listed.keys.filter { !round.known.contains($0) }.sorted()
        let unnamed = try await ledger { try $0.unnamed(among: rest) }
        try await see(
            to: rest.filter(unnamed.contains).map { Due(key: $0, info: listed[$0], isUnlisted: false) }, &round)
    }

    /// An object that is to be seen to.
    private struct Due: Sendable {
        var key: ObjectKey
        /// As it was listed.
        var info: ObjectInfo?
        var isUnlisted: Bool
    }

    private func see(to objects: [Due], _ round: inout Round) async throws {
        var broken: Set<ObjectKey> = []
        // What is not listed, or cannot be read by the store itself, needs no turn.
        let (doubtful, listed) = (objects.filter { $0.info == nil }, objects.filter { $0.info != nil })
        try await examine(doubtful, &broken, &round)
        let chosen = listed.filter { round.choice.contains($0.key) || round.suspects.contains($0.key) }
        for part in chosen.grouped(atMost: Self.pricedAtOnce) {
            var (price, affordable) = (0.0, [Due]())
            for object in part {
                guard let info = object.info else { continue }
                let next = verification.cost.usd(bytes: info.size, in: info.storageClass)
                if price + next > round.budget {
                    round.summary.isOverBudget = true
                    break
                }
                price += next
                affordable.append(object)
            }
            if affordable.isEmpty { break }
            guard try await paying(price, { try await examine(affordable, &broken, &round) }) != nil else {
                round.summary.isOverBudget = true
                break
            }
            round.budget -= price
            round.summary.checked += affordable.count
        }
        try await archive(listed.compactMap { broken.contains($0.key) ? nil : $0.info }, &round)
    }

    private func examine(_ objects: [Due], _ broken: inout Set<ObjectKey>, _ round: inout Round) async throws {
        let outcomes: [Result<(ObjectFault?, OtherObject?), StoreError>] = try await objects.concurrently(
            Self.checksInFlight
        ) { object in
            do {
                let words = try await ledger { try $0.otherWords(of: object.key) }
                let fault = try await examine(object.key, words, in: object.info, isUnlisted: object.isUnlisted)
                return .success((fault, words.first))
            } catch let error as StoreError where error.mayConcernOneObject {
                return .failure(error)
            }
        }
        for (object, outcome) in zip(objects, outcomes) {
            switch outcome {
            case .success((let fault?, let word)):
                broken.insert(object.key)
                try await note(object.key, fault, word, &round)
            case .success: break
            case .failure(let error): round.summary.add("not verified: \(error)")
            }
        }
    }

    // MARK: The archive

    private func archive(_ objects: [ObjectInfo], _ round: inout Round) async throws {
        for rule in rules {
            guard let transition = rule.transition else { continue }
            let before = round.now.addingTimeInterval(-Double(transition.afterDays) * 86_400)
            let due = objects.filter { object in
                movedClasses.contains(object.storageClass) && object.size > rule.largerThan ?? 0
                    && object.modified.map { $0 < before } ?? false
                    && object.key.rawValue.utf8.starts(with: rule.prefix.utf8)
            }
            let moves = due.map { ArchiveCopies.Move(key: $0.key, storageClass: transition.storageClass) }
            let (next, later) = round.earlier.split(moves, by: \.key)
            try await carryOut(next, &round)
            round.putOff += later
        }
    }

    private func carryOut(_ moves: [ArchiveCopies.Move], _ round: inout Round) async throws {
        guard let copies else { return }
        let denied = round.denied
        let failures = try await moves.concurrently(ArchiveCopies.inFlight) { try await copies.carryOut($0, denied) }
            .compactMap(\.self)
        round.summary.moved += moves.count - failures.count
        for failure in failures { round.summary.add("not moved to the archive: \(failure)") }
    }
}

extension ObjectRecord {
    /// What a catalogue says of an object, and its class as the store lists it.
    fileprivate init(_ object: OtherObject, _ listed: ObjectInfo?) {
        self.init(
            key: object.key, size: object.size, md5: object.md5, sha256: object.sha256,
            contentType: object.contentType, storageClass: listed?.storageClass ?? .standard,
            storedAt: listed?.modified ?? Date(timeIntervalSince1970: 0))
    }

    /// Of one that no catalogue names: what its own metadata says of its bytes has to be right.
    fileprivate init(unnamed info: ObjectInfo) {
        self.init(
            key: info.key, size: info.size, md5: nil, sha256: nil, contentType: MediaType.unknown.name,
            storageClass: info.storageClass, storedAt: info.modified ?? Date(timeIntervalSince1970: 0))
    }
}
