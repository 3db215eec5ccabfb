package import FoundationEssentials
package import SyncCore
package import SyncLedger
import SyncSystem
package import SystemPackage

/// Reads stored objects back, and holds their SHA-256 against what was stored. What is archived is held against what the
/// store says of it, and never restored. What is found is noted as it comes, so that a kill loses a few looks at most.
package struct Verifier: Sendable {
    package enum Choice: Sendable {
        /// So many of all objects, the longest unproven first; 100 for all.
        case percent(Double)
        case keys([ObjectKey])
    }

    package struct Broken: Hashable, Sendable {
        package let key: ObjectKey
        /// Of a photo of it; `nil` where none is known.
        package let path: FilePath?
        package let problem: ObjectFault
    }

    package struct Summary: Sendable {
        package fileprivate(set) var checked = 0
        /// Bytes that were read.
        package fileprivate(set) var bytes: Int64 = 0
        package fileprivate(set) var intact = 0
        /// Of the intact ones: those of which no bytes were read, since they are archived. The store's words count.
        package fileprivate(set) var unread = 0
        package fileprivate(set) var broken: [Broken] = []
        /// Damaged and missing objects that only other machines need: theirs tell of them.
        package fileprivate(set) var leftToOthers = 0
        package fileprivate(set) var costUSD = 0.0
        /// Whether the money was over before the objects were.
        package fileprivate(set) var isOverBudget = false
        /// Why the store could not tell of an object now, of each.
        package fileprivate(set) var failures = ProblemList<StoreError>()
        package var undecided: Int { failures.count }

        /// What was found of this machine's catalogue: what is whole of it is none of the objects that are counted.
        package mutating func add(_ catalog: CatalogAudit.Finding) {
            bytes += catalog.bytes
            costUSD += catalog.costUSD
            if let found = catalog.broken {
                checked += 1
                broken.append(Broken(key: found.key, path: nil, problem: found.problem))
            }
            failures.note(contentsOf: catalog.unclear.map(\.error))
        }

        /// This machine's catalogue could not be looked at: what was found of objects counts.
        package mutating func addUnreadCatalog(_ error: StoreError) { failures.note(error) }
    }

    private static let checksInFlight = 3
    private static let pageSize = 30

    private let store: any ReadableStore
    private let ledger: LedgerQueue
    private let cost: VerificationCost
    private let moves: MergedPhotos?
    private let pruned: PrunedVersions?
    private let time: TimeSource

    /// - Parameters:
    ///   - moves: finds archived photos that another machine has moved.
    ///   - pruned: tells which earlier images of projects another machine has removed.
    package init(
        store: any ReadableStore, ledger: LedgerQueue, cost: VerificationCost, moves: MergedPhotos? = nil,
        pruned: PrunedVersions? = nil, time: TimeSource
    ) {
        self.store = store
        self.ledger = ledger
        self.cost = cost
        self.moves = moves
        self.pruned = pruned
        self.time = time
    }

    /// - Parameters:
    ///   - limit: US dollars that this may cost; `nil` for any.
    ///   - month: US dollars of this month, with what was spent before and what other processes spend; `nil` for any.
    ///   - moment: of all objects, only those are looked at that were proved before it.
    ///   - onProgress: told how many objects were looked at, and how many there are at most.
    /// - Throws: ``StoreError`` when the store as a whole cannot be used, or gives none; ``LedgerError``,
    ///   `CancellationError`.
    package func run(
        _ choice: Choice, costingAtMost limit: Double?, ofMonth month: Double? = nil,
        provedBefore moment: Date? = nil, onProgress: (Int, Int) -> Void = { _, _ in }
    ) async throws -> Summary {
        var result = Summary()
        let limits = (run: limit, month: month)
        let earlier = try await EarlierDenials(of: .verification, in: ledger, time: time)
        let denied = DeniedObjects(earlier)
        switch choice {
        case .keys(let keys):
            for part in earlier.order(keys, by: \.self).grouped(atMost: Self.pageSize) where !result.isOverBudget {
                let page = try await ledger { ledger in try part.compactMap { try ledger.object($0) } }
                try await check(page, limits, denied, &result)
                onProgress(result.checked + result.undecided, keys.count)
            }
        case .percent(let percent):
            let known = try await ledger { try $0.overview().tiers.reduce(0) { $0 + $1.objects } }
            var left = percent >= 100 ? known : Int((Double(known) * percent / 100).rounded(.up))
            let total = left
            // What this run looks at is proved after it has begun, and not met again.
            let began = time.now()
            let before = min(moment ?? .distantFuture, began)
            var putOff: [ObjectRecord] = []
            // A proof that is still to come was made by a clock that was ahead, and proves nothing: those come first.
            for (start, end) in [(ProofCursor.after(began), Date.distantFuture), (.start, before)] {
                var cursor: ProofCursor? = start
                while let from = cursor, left > 0, !result.isOverBudget {
                    let count = min(left, Self.pageSize)
                    let page = try await ledger { try $0.longestUnproven(before: end, after: from, limit: count) }
                    let (next, later) = earlier.split(page.objects, by: \.key)
                    putOff += later
                    try await check(next, limits, denied, &result)
                    left -= next.count
                    cursor = page.next
                    onProgress(result.checked + result.undecided, total)
                }
            }
            let rest = Array(earlier.longestAgoFirst(putOff, by: \.key).prefix(left))
            for page in rest.grouped(atMost: Self.pageSize) where !result.isOverBudget {
                try await check(page, limits, denied, &result)
                onProgress(result.checked + result.undecided, total)
            }
            // Of an object that is asked for by name it is told.
            if result.broken.isEmpty { break }
            let others = try await ledger { try $0.leftToOthers() }
            result.leftToOthers = result.broken.count { others.contains($0.key) }
            result.broken.removeAll { others.contains($0.key) }
        }
        return result
    }

    private func check(
        _ page: [ObjectRecord], _ limits: (run: Double?, month: Double?), _ denied: DeniedObjects,
        _ result: inout Summary
    ) async throws {
        var prices: [Double] = []
        var price = 0.0
        for record in page {
            let next = cost.usd(bytes: record.size, in: record.storageClass)
            if let limit = limits.run, result.costUSD + price + next > limit {
                result.isOverBudget = true
                break
            }
            price += next
            prices.append(next)
        }
        let (offered, began) = (prices, time.now())
        let count = try await ledger { try $0.payForChecks(offered, ofMonth: limits.month, at: began) }
        if count < offered.count { result.isOverBudget = true }
        price = offered.prefix(count).reduce(0, +)
        let affordable = Array(page.prefix(count))
        if affordable.isEmpty { return }
        let (moved, pruned) = (moves?.lookup(), self.pruned?.lookup())
        let spent = Lock(0.0)
        let looks: [(found: Outcome, isRead: Bool)]
        do {
            looks = try await affordable.concurrently(Self.checksInFlight) { record in
                let source = CountingStore(base: store)
                defer {
                    let bytes = source.bytes
                    if bytes > 0 { spent.withLock { $0 += cost.usd(bytes: bytes, in: record.storageClass) } }
                }
                let found = try await check(record, in: source, moved, pruned)
                switch found {
                case .success: try await denied.noteGiven(record.key)
                case .failure(let error): try await denied.note(error, of: record.key)
                }
                return (found, source.bytes > 0 || record.size == 0)
            }
        } catch {
            // What has come until then is paid for.
            let difference = spent.withLock { $0 } - price
            if difference != 0 { try await ledger.finish { try $0.correctCost(byUSD: difference, at: began) } }
            throw error
        }
        result.costUSD += price
        try await note(looks, of: affordable, &result)
    }

    private func check(
        _ record: ObjectRecord, in source: CountingStore, _ moved: MergedPhotosLookup?, _ pruned: PrunedVersionsLookup?
    ) async throws -> Outcome {
        // What it reads is paid for, too.
        let setAside = SetAsideContent(store: source, ledger: ledger)
        do {
            switch try await ObjectExaminer(source).examine(record, reading: .always) {
            case .intact(let found, _): return .success(.intact(found))
            case .broken(.missing):
                do {
                    if let found = try await moved?.follow(record) { return .success(.intact(found)) }
                } catch let error as StoreError where error.mayConcernOneObject {
                    // Of another machine's catalogue, or of the place where it would be.
                    return .failure(error)
                }
                if try await setAside.find(record) != nil { return .success(nil) }
                if let pruned, try await pruned.forget(record) { return .success(nil) }
                return .success(.broken(BrokenObject(record, .missing)))
            case .broken(let problem):
                if try await setAside.find(record) != nil { return .success(nil) }
                return .success(.broken(BrokenObject(record, problem)))
            }
        } catch let error as StoreError where error.mayConcernOneObject {
            return .failure(error)
        }
    }

    /// What was found out of an object, or why nothing was; `nil` for one that is forgotten, or is another file's by now.
    private typealias Outcome = Result<ObjectCheck?, StoreError>

    private func note(
        _ looks: [(found: Outcome, isRead: Bool)], of records: [ObjectRecord], _ result: inout Summary
    ) async throws {
        var checks: [ObjectCheck] = []
        var open: [ObjectRecord] = []
        for (look, record) in zip(looks, records) {
            switch look.found {
            case .success(nil): continue
            case .success(let check?):
                checks.append(check)
                result.checked += 1
                if !record.storageClass.isArchive { result.bytes += record.size }
                if case .intact = check {
                    result.intact += 1
                    if !look.isRead { result.unread += 1 }
                }
            case .failure(let error):
                open.append(record)
                result.failures.note(error)
            }
        }
        let (found, undecided, now) = (checks, open, time.now())
        result.broken += try await ledger.finish { ledger in
            // Its photos are asked for before they change their state.
            let broken = try found.compactMap { check -> Broken? in
                guard case .broken(let object) = check else { return nil }
                let path = try ledger.anyPhotoPaths(of: object.record.key, limit: 1).first
                return Broken(key: object.record.key, path: path, problem: object.problem)
            }
            try ledger.noteChecks(found, undecided: undecided, at: now)
            return broken
        }
    }
}

/// Looks at objects of which something was said that contradicts the ledger, and notes what comes of it.
package struct ObjectAudit: Sendable {
    /// What several looks have come to.
    package struct Findings: Hashable, Sendable {
        package var broken = BrokenCount()
        /// Objects that were known as broken, and are there again.
        package var mended = 0

        mutating func add(_ count: BrokenCount) {
            broken.objects += count.objects
            broken.pending += count.pending
            broken.lost += count.lost
        }
    }

    private static let checksInFlight = 8

    private let examiner: ObjectExaminer
    private let ledger: LedgerQueue
    private let moves: MergedPhotos?
    private let setAside: SetAsideContent
    private let pruned: PrunedVersions?
    private let time: TimeSource

    /// - Parameters:
    ///   - moves: finds archived photos that another machine has moved.
    ///   - pruned: tells which earlier images of projects another machine has removed.
    package init(
        store: any ReadableStore, ledger: LedgerQueue, moves: MergedPhotos? = nil, pruned: PrunedVersions? = nil,
        time: TimeSource
    ) {
        examiner = ObjectExaminer(store)
        self.ledger = ledger
        self.moves = moves
        setAside = SetAsideContent(store: store, ledger: ledger)
        self.pruned = pruned
        self.time = time
    }

    /// For objects that a listing has left out, or told otherwise.
    /// - Returns: of what the store cannot tell now: that is left for later.
    /// - Throws: ``StoreError`` when the store as a whole cannot be used; ``LedgerError``, `CancellationError`.
    func check(
        _ suspects: [(record: ObjectRecord, isUnlisted: Bool)], _ findings: inout Findings
    ) async throws -> [ObjectProblem] {
        if suspects.isEmpty { return [] }
        let (moved, pruned) = (moves?.lookup(), self.pruned?.lookup())
        let verdicts = try await suspects.concurrently(Self.checksInFlight) {
            suspect -> Result<ObjectExaminer.Verdict?, StoreError> in
            do {
                let verdict = try await examiner.examine(
                    suspect.record, reading: .inDoubt, isUnlisted: suspect.isUnlisted)
                guard case .broken(let problem) = verdict else { return .success(verdict) }
                if problem == .missing, let found = try await moved?.follow(suspect.record) {
                    return .success(.intact(found, isRead: true))
                }
                if try await setAside.find(suspect.record) != nil { return .success(nil) }
                if problem == .missing, let pruned, try await pruned.forget(suspect.record) { return .success(nil) }
                return .success(verdict)
            } catch let error as StoreError where error.mayConcernOneObject {
                return .failure(error)
            }
        }
        var unclear: [ObjectProblem] = []
        var broken: [BrokenObject] = []
        var proven: [(record: ObjectRecord, isRead: Bool)] = []
        for (suspect, verdict) in zip(suspects, verdicts) {
            switch verdict {
            // It is forgotten, or is another file's by now.
            case .success(nil): break
            case .success(.broken(let problem)?): broken.append(BrokenObject(suspect.record, problem))
            case .success(.intact(let record, let isRead)?):
                if record != suspect.record || record.problem != nil || isRead { proven.append((record, isRead)) }
                if record.problem != nil { findings.mended += 1 }
            case .failure(let error): unclear.append(ObjectProblem(key: suspect.record.key, error: error))
            }
        }
        let (marks, proofs, now) = (broken, proven, time.now())
        let count = try await ledger.finish { ledger in
            for proof in proofs { try ledger.noteProof(proof.record, isRead: proof.isRead, at: now) }
            return try ledger.markBroken(marks, at: now)
        }
        findings.add(count)
        return unclear
    }

    /// For an object that a read, a restore or a copy has not found, or found damaged.
    /// - Returns: what its content is stored as from now on, where another machine has put its own under the key.
    /// - Throws: ``LedgerError``, `CancellationError`.
    @discardableResult func recheck(_ key: ObjectKey) async throws -> ObjectRecord? {
        guard let known = try await ledger({ try $0.object(key) }), known.problem == nil else { return nil }
        let now = time.now()
        do {
            guard case .broken(let problem) = try await examiner.examine(known, reading: .always) else { return nil }
            if let version = try await setAside.find(known) { return version }
            _ = try await ledger.finish { try $0.markBroken([BrokenObject(known, problem)], at: now) }
        } catch is StoreError {
            // The next listing or verification tells.
        }
        return nil
    }

    /// As ``recheck(_:)``, when an error says so.
    @discardableResult func recheck(_ key: ObjectKey, after error: StoreError) async throws -> ObjectRecord? {
        if error.code == .notFound || error.code == .badDigest { try await recheck(key) } else { nil }
    }
}
