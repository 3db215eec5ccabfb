import FoundationEssentials
package import SyncCore
package import SyncLedger
import SyncSystem

/// Holds what the ledger has written of the catalogue against a listing that is made for other reasons: what the store has
/// lost of it, or has other than it was written, is noted, so that the next write makes it anew, though nothing else is new.
package struct CatalogAudit: Sendable {
    package struct Finding: Sendable {
        /// What is wrong, in plain words, as it is noted; `nil` where the store has all of it, as far as is known.
        package fileprivate(set) var problem: String?
        /// What was found so now: a segment, and what it is.
        package fileprivate(set) var broken: (key: ObjectKey, problem: ObjectFault)?
        /// What cannot be looked at: neither there nor gone.
        package fileprivate(set) var unclear: [ObjectProblem] = []
        /// What others stand for, of any machine: nobody reads it any more, and what is wrong with it is nobody's loss.
        package fileprivate(set) var leftovers: [CatalogSegment] = []
        /// Bytes that were read, and what that costs.
        package fileprivate(set) var bytes: Int64 = 0
        package fileprivate(set) var costUSD = 0.0
    }

    private let store: any ReadableStore
    private let ledger: LedgerQueue
    private let keys: KeyLayout
    private let hold: CatalogHold
    private let time: TimeSource
    private let prefix: String
    /// As it was before the listing began: what is written meanwhile may be missing from that.
    private let known: [(segment: CatalogSegment, noted: CatalogStatus.Segment)]
    /// Of all machines, as far as they were listed.
    private var found: [CatalogSegment: Listed] = [:]
    /// What a listing could not look at of them.
    private var problems: [ObjectProblem] = []

    /// What a listing tells of a segment.
    private enum Listed {
        case listed(ObjectInfo)
        case damaged
        /// What cannot be looked at is there.
        case unclear(ObjectProblem)
    }

    /// - Throws: ``LedgerError``.
    init(
        store: any ReadableStore, ledger: LedgerQueue, keys: KeyLayout, hold: @escaping CatalogHold, time: TimeSource
    ) async throws {
        self.store = store
        self.ledger = ledger
        self.keys = keys
        self.hold = hold
        self.time = time
        let status = try await ledger { try $0.catalogStatus() }
        prefix = keys.catalog + status.machine + "/"
        known = zip(status.ownSegments, status.segments).map { (segment: $0, noted: $1) }
    }

    /// Reads the catalogue of this machine back, and notes what is not as it was written.
    /// - Parameters:
    ///   - hold: takes the lock of the catalogue: others write it meanwhile.
    ///   - limit: US dollars that this may cost; `nil` for any. Where it costs more, nothing is read.
    ///   - month: as of ``Verifier/run(_:costingAtMost:ofMonth:provedBefore:onProgress:)``.
    /// - Throws: ``StoreError`` when the store as a whole cannot be used; ``LedgerError``, `CancellationError`.
    package static func readBack(
        store: any ReadableStore, ledger: LedgerQueue, keys: KeyLayout, hold: @escaping CatalogHold = { nil },
        cost: VerificationCost, costingAtMost limit: Double?, ofMonth month: Double? = nil, time: TimeSource
    ) async throws -> Finding {
        let source = CountingStore(base: store)
        var audit = try await CatalogAudit(store: source, ledger: ledger, keys: keys, hold: hold, time: time)
        let price = audit.known.reduce(0) { $0 + cost.usd(bytes: $1.noted.size, in: .standard) }
        if let limit, price > limit { return Finding() }
        let moment = time.now()
        guard try await ledger({ try $0.payForChecks([price], ofMonth: month, at: moment) }) > 0 else {
            return Finding()
        }
        func correct(_ paid: Double) async throws {
            if paid != price { try await ledger.finish { try $0.correctCost(byUSD: paid - price, at: moment) } }
        }
        // What has come is paid for, also where it was not all. What is to be written anew anyway was not read.
        func paid() -> Double { source.bytes > 0 ? cost.usd(bytes: source.bytes, in: .standard) : 0 }
        var finding: Finding
        do {
            for try await page in source.listing(prefix: audit.prefix) { _ = audit.see(page) }
            finding = try await audit.finish(reading: .always)
        } catch {
            try await correct(paid())
            throw error
        }
        finding.costUSD = finding.bytes > 0 || finding.broken != nil ? price : paid()
        try await correct(finding.costUSD)
        let (unclear, prefix) = (finding.unclear.map(\.key), audit.prefix)
        if finding.bytes > 0 || !unclear.isEmpty {
            try await ledger.finish { try $0.noteUnclear(unclear, below: prefix) }
        }
        return finding
    }

    /// Takes a page of a listing of all that is the user's.
    /// - Returns: what could not be looked at of other things: of the catalogue ``problems(besides:)`` tells.
    mutating func see(_ page: ObjectPage) -> [ObjectProblem] {
        for info in page.listed(below: keys.catalog) {
            if let segment = CatalogSegment(info.key, keys) { found[segment] = .listed(info) }
        }
        var rest: [ObjectProblem] = []
        for problem in page.problems {
            guard let segment = CatalogSegment(problem.key, keys) else {
                rest.append(problem)
                continue
            }
            found[segment] = problem.error.code == .badDigest ? .damaged : .unclear(problem)
            problems.append(problem)
        }
        return rest
    }

    /// What the listing could not look at of the catalogue.
    func problems(besides leftovers: [CatalogSegment]) -> [ObjectProblem] {
        problems.filter { problem in !leftovers.contains { $0 == CatalogSegment(problem.key, keys) } }
    }

    /// After the last page. Missing is what both the listing and a request say; of other bytes is what was asked for, too.
    /// - Throws: ``StoreError`` when the store as a whole cannot be used; ``LedgerError``, `CancellationError`.
    func finish(reading: ObjectExaminer.Reading = .inDoubt) async throws -> Finding {
        var finding = Finding()
        if known.isEmpty, found.isEmpty { return finding }
        do {
            // After the listing: what was interrupted and is in it is noted by now.
            try await InterruptedCatalogWrite(store: store, ledger: ledger, keys: keys, hold: hold)
                .finish(at: time.now())
        } catch is UnsettledCatalog {
            // Whoever writes it holds it against the store before.
            return finding
        } catch let error as StoreError where error.mayConcernOneObject {
            if let begun = try await ledger({ try $0.catalogStatus().begunSegment }) {
                finding.unclear.append(ObjectProblem(key: try begun.key(keys), error: error))
            }
            return finding
        }
        let status = try await ledger { try $0.catalogStatus() }
        if found.keys.contains(where: { status.isOlder(than: $0) }) {
            let problem = OlderLedger().description
            try await ledger { try $0.noteCatalogProblem(problem) }
            finding.problem = problem
            return finding
        }
        // It is written anew as a whole: what else is to be found changes nothing.
        finding.problem = status.segments.lazy.compactMap(\.problem).first
        if finding.problem != nil { return finding }
        for (segment, noted) in known {
            let key = try segment.key(keys)
            do {
                guard let fault = try await check(segment, key, noted, reading, &finding) else { continue }
                let problem = fault.lossOfCatalog
                // One that another stands for by now may be gone.
                if try await ledger({ try $0.noteCatalogLoss(problem, of: segment) }) {
                    finding.problem = problem
                    finding.broken = (key: key, problem: fault)
                    return finding
                }
            } catch let error as StoreError where error.mayConcernOneObject {
                finding.unclear.append(ObjectProblem(key: key, error: error))
            }
        }
        finding.leftovers = leftovers(beside: status)
        return finding
    }

    /// What is listed beside the segments that stand for it.
    private func leftovers(beside status: CatalogStatus) -> [CatalogSegment] {
        Dictionary(grouping: found.keys, by: \.machine).flatMap { machine, segments -> [CatalogSegment] in
            let chain = CatalogChain(segments)
            let others = machine == status.machine ? status.leftovers(among: segments) ?? [] : chain.superseded
            return others.filter { old in chain.segments.contains { $0.covers(old) && isListed($0) } }
        }.sorted()
    }

    private func isListed(_ segment: CatalogSegment) -> Bool {
        if case .listed? = found[segment] { true } else { false }
    }

    /// - Returns: `nil` for what is as it was written, and for what nobody can tell of.
    private func check(
        _ segment: CatalogSegment, _ key: ObjectKey, _ noted: CatalogStatus.Segment,
        _ reading: ObjectExaminer.Reading, _ finding: inout Finding
    ) async throws -> ObjectFault? {
        var record = noted.record(at: key, storedAt: time.now())
        var isUnread = reading == .always
        var isLocked = false
        let listed = found[segment]
        switch listed {
        case .unclear(let problem)?:
            // Who has listed for other reasons tells what they could not look at.
            if reading == .always { finding.unclear.append(problem) }
            return nil
        case .damaged?: break
        case nil:
            if found.keys.contains(where: { $0.covers(segment) }) { return nil }
        case .listed(let info)?:
            record.storageClass = info.storageClass
            // Nobody can read it, and a copy in another class may have another mark.
            isLocked = info.storageClass.isArchive
            if isLocked { record.etag = nil }
            isUnread = isUnread || (record.sha256 == nil && !isLocked)
            guard isUnread || record.isToBeAsked(beside: info, isTold: store.capabilities.digestsInLists) else {
                return nil
            }
        }
        let examiner = ObjectExaminer(store)
        let way: ObjectExaminer.Reading = isUnread ? .always : .inDoubt
        var verdict = try await examiner.examine(record, reading: way, isUnlisted: listed == nil)
        if case .broken(.damaged) = verdict, record.etag != nil, try await self.isLocked(key) {
            // A listing tells no archive tier: there, too, a copy may have another mark.
            isLocked = true
            record.etag = nil
            verdict = try await examiner.examine(record, reading: way, isUnlisted: listed == nil)
        }
        switch verdict {
        case .broken(let fault): return fault
        case .intact(let now, _):
            if isUnread, !isLocked { finding.bytes += now.size }
            // A mark of bytes that nobody has read would hide others when they can be read again.
            let (sha256, etag) = (now.sha256.map { "\($0)" }, isLocked ? noted.etag : now.etag)
            if sha256 != noted.sha256 || etag != noted.etag {
                try await ledger { try $0.noteCatalogProof(of: segment, sha256: sha256, etag: etag) }
            }
            return nil
        }
    }

    private func isLocked(_ key: ObjectKey) async throws -> Bool {
        do {
            return try await store.head(key)?.isLocked == true
        } catch let error as StoreError where error.code == .badDigest {
            return false
        }
    }
}

extension CatalogStatus.Segment {
    fileprivate func record(at key: ObjectKey, storedAt: Date) -> ObjectRecord {
        ObjectRecord(
            key: key, size: size, md5: nil, sha256: sha256.flatMap { SHA256Digest(hex: $0) },
            contentType: CatalogWriter.contentType, storedAt: storedAt, etag: etag)
    }
}

extension ObjectRecord {
    /// Whether a listing leaves open, or contradicts, that it is what was stored. A mark that is not known yet is learned
    /// with the bytes: it may be that of others.
    fileprivate func isToBeAsked(beside info: ObjectInfo, isTold: Bool) -> Bool {
        if isDoubted(by: info, isTold: isTold) { return true }
        return etag == nil && info.etag != nil && !info.storageClass.isArchive && judged(by: info) != .same
    }
}

extension ObjectFault {
    /// Of a part of the catalogue: what is noted, and told until it is written anew.
    var lossOfCatalog: String {
        let what =
            switch self {
            case .missing: "a part of it is gone from the store"
            case .damaged(let reason): "a part of it is damaged in the store (\(reason))"
            }
        return "\(what); sync-agent sync writes it anew at once, a running agent within a day"
    }
}

/// Deletes segments of the catalogue that others stand for: who wrote those was stopped before it came to that, or could not.
struct CatalogLeftovers: Sendable {
    let store: any ObjectStore
    let ledger: LedgerQueue
    let keys: KeyLayout
    let hold: CatalogHold

    /// Those of this machine, and of machines whose place it has taken. The others see to theirs. While somebody else writes
    /// the catalogue nothing is deleted, and what cannot be deleted is met again.
    /// - Parameter found: as ``CatalogAudit`` found them.
    /// - Returns: why some of them stay.
    /// - Throws: ``StoreError`` when the store as a whole cannot be used; ``LedgerError``, `CancellationError`.
    func delete(_ found: [CatalogSegment]) async throws -> [ObjectKey: StoreError] {
        if try await mayGo(found).isEmpty { return [:] }
        let lock: AgentLock?
        do {
            lock = try await UnsettledCatalog.takeLock(hold)
        } catch is UnsettledCatalog {
            return [:]
        }
        defer { withExtendedLifetime(lock) {} }
        // Whoever had it may have noted that what stands for them is gone.
        let names = try await mayGo(found).map { try $0.key(keys) }
        return names.isEmpty ? [:] : try await store.delete(names)
    }

    private func mayGo(_ found: [CatalogSegment]) async throws -> [CatalogSegment] {
        if found.isEmpty { return [] }
        let status = try await ledger { try $0.catalogStatus() }
        return found.filter { status.isDone(with: $0) }
    }
}

extension CatalogStatus {
    /// The segments that are in the store, as far as is known here, by their keys.
    var ownSegments: [CatalogSegment] {
        segments.map { CatalogSegment(machine: machine, from: $0.from, to: $0.to) }
    }

    /// What of this machine's segments others stand for.
    /// - Parameter found: what the store has of this machine.
    /// - Returns: `nil` where it does not have what is known of it, or that is not as it was written: then nothing is
    ///   proven to stand for anything.
    func leftovers(among found: [CatalogSegment]) -> [CatalogSegment]? {
        let chain = CatalogChain(found)
        guard segments.allSatisfy({ $0.problem == nil }), chain.segments == ownSegments else { return nil }
        return chain.superseded
    }

    /// Whether a segment that another one stands for may go: its number is never given again.
    fileprivate func isDone(with old: CatalogSegment) -> Bool {
        if old.machine != machine { return replaces[old.machine] != nil }
        return zip(ownSegments, segments).contains { $0 != old && $0.covers(old) && $1.problem == nil }
    }
}
