import FoundationEssentials
import Logging
package import SyncCore
import SyncDigest
package import SyncLedger
package import SyncSystem
import SystemPackage

/// How the copy of a photo is made of its original: as the pipeline makes it of the photo's file.
package struct CopyFromOriginal: Sendable {
    /// The same attempt comes to the same, as long as the original is this one.
    private struct Attempt: Hashable, Sendable {
        let storedAt: Date
        let isReadable: Bool
    }

    /// Seconds until one that came to nothing is tried, or told, again: at first, and at most.
    private static let rest: ClosedRange<TimeInterval> = 3_600...604_800

    private let reducer: any PhotoReducer
    private let recompressor: (any OriginalRecompressor)?
    private let policy: ReducePolicy
    private let pool: BlockingPool
    private let rests = Lock(Rests<ObjectKey, Attempt>())

    /// - Parameters:
    ///   - recompressor: makes the file of an original that is stored as JPEG XL.
    ///   - pool: for reading and reducing.
    package init(
        reducer: any PhotoReducer, recompressor: (any OriginalRecompressor)?, policy: ReducePolicy, pool: BlockingPool
    ) {
        self.reducer = reducer
        self.recompressor = recompressor
        self.policy = policy
        self.pool = pool
    }

    /// - Parameters:
    ///   - original: with its encoding.
    ///   - stored: its bytes.
    /// - Returns: `nil` where they do not give the photo's file.
    /// - Throws: ``PhotoError``, `Errno`, `CancellationError`.
    func photo(
        _ md5: MD5Digest, _ broken: BrokenCopy, of original: ObjectRecord, _ stored: [UInt8], at key: ObjectKey
    ) async throws -> PreparedPhoto? {
        try await pool.run { [reducer, recompressor, policy] () throws -> PreparedPhoto? in
            guard let bytes = try original.file(md5, of: stored, by: recompressor) else { return nil }
            let copy = try reducer.reduce(bytes, as: MediaType(.image, original.contentType), policy: policy)
            let examined = PhotoFacts(
                stamp: FileStamp(device: 0, inode: 0, size: Int64(bytes.count), modified: 0), type: copy.type,
                digest: ContentDigest(of: bytes))
            let plan = PlannedUpload(key: key, condition: .ifAbsent, type: copy.type)
            return PreparedPhoto(bytes, examined: examined, plan: plan, copy: copy, known: broken.copy)
        }
    }

    func isResting(_ broken: BrokenCopy, at now: Date) -> Bool {
        rests.withLock { $0.holds(broken.copy.key, Self.attempt(broken), at: now) }
    }

    func noteFailure(_ broken: BrokenCopy, at now: Date) {
        rests.withLock { _ = $0.add(broken.copy.key, Self.attempt(broken), at: now, for: Self.rest) }
    }

    func noteMade(_ key: ObjectKey) { rests.withLock { $0.end(key) } }

    private static func attempt(_ broken: BrokenCopy) -> Attempt {
        Attempt(storedAt: broken.original.storedAt, isReadable: broken.isReadable)
    }
}

/// Copies that are gone or damaged, that no file here brings back, and whose originals are whole.
extension StoredCopyRepair {
    package struct Copies: Sendable {
        package fileprivate(set) var made = 0
        /// Of which the original has to be restored first.
        package fileprivate(set) var archived: [BrokenCopy] = []
        /// Which could not be made, and why.
        package fileprivate(set) var failures: [(key: ObjectKey, reason: String)] = []
        /// Whether the month's money was over before the copies were.
        package fileprivate(set) var isOverBudget = false
        /// Of which reading the original costs more than a whole month's money, in US dollars.
        package fileprivate(set) var unaffordable: [(key: ObjectKey, usd: Double)] = []
    }

    /// Makes them anew. What cannot be made now stays as it is.
    /// - Throws: ``StoreError`` when the store as a whole cannot be used; ``LedgerError``, `CancellationError`.
    package func makeCopies() async throws -> Copies {
        var result = Copies()
        guard let copies else { return result }
        let due = try await ledger { try $0.copiesToMakeAnew() }
        let tried = try await readInVain(due)
        for key in due {
            let now = time.now()
            // It may have come back meanwhile.
            guard let broken = try await ledger({ try $0.brokenCopy(key, at: now) }) else { continue }
            if copies.isResting(broken, at: now) || broken.rests(since: tried[key], at: now) { continue }
            do {
                switch try await make(broken, copies, at: now) {
                case .made: result.made += 1
                case .archived:
                    var locked = broken
                    locked.isReadable = false
                    result.archived.append(locked)
                case .tooDear: result.isOverBudget = true
                case .unaffordable(let usd): result.unaffordable.append((key, usd))
                case .forgotten: break
                case .failed(let reason): result.failures.append((key, reason))
                }
                if try await ledger({ try $0.brokenCopy(key, at: now) }) == nil {
                    copies.noteMade(key)
                    try await ledger.finish { try $0.endDenials([key], of: .copies) }
                } else {
                    copies.noteFailure(broken, at: now)
                }
            } catch let error as StoreError where error.mayConcernOneObject {
                copies.noteFailure(broken, at: now)
                result.failures.append((key, "\(error)"))
            }
        }
        return result
    }

    /// Of which copies originals were read, and when, without that a copy came of it: by whichever process, since that
    /// may have been paid for. What needs no copy any more is forgotten.
    private func readInVain(_ due: [ObjectKey]) async throws -> [ObjectKey: Date] {
        let noted = try await ledger { try $0.denials(of: .copies) }
        let over = Array(Set(noted.keys).subtracting(due))
        if !over.isEmpty { try await ledger.finish { try $0.endDenials(over, of: .copies) } }
        return noted
    }

    private enum Ending {
        case made
        case archived
        /// This month.
        case tooDear
        /// In any month, at this price in US dollars.
        case unaffordable(Double)
        /// While it was made.
        case forgotten
        case failed(String)
    }

    private func make(_ broken: BrokenCopy, _ copies: CopyFromOriginal, at now: Date) async throws -> Ending {
        var original = broken.original
        guard broken.isReadable else { return .archived }
        // A ledger that was rebuilt does not know how it is stored.
        if original.encoding == nil, let info = try await store.readableHead(original.key) {
            original.encoding = info.originalEncoding
            original.contentType = info.contentType ?? original.contentType
        }
        guard let md5 = broken.copy.md5 ?? original.md5, let key = try? keys.photo(PhotoID(md5)), key == broken.copy.key
        else { return .failed("its key does not tell which photo it is") }
        guard original.contentType.hasPrefix("image/") else {
            return .failed("its original is no picture; sync-agent restore --original gives the file")
        }
        guard original.size <= Self.mostBytes else {
            return .failed("its original is larger than what is read into memory")
        }
        guard broken.copy.problem == .missing || broken.copy.isReadable(at: now) else {
            return .failed(
                "what is stored under its key is damaged and archived, and archived objects are never rewritten; "
                    + "remove it from the store by hand")
        }
        let price = usd(toRead: broken)
        guard price <= verification.maximumUSDPerMonth else { return .unaffordable(price) }
        let audit = ObjectAudit(store: store, ledger: ledger, time: time)
        let stored: [UInt8]
        do {
            guard let bytes = try await read(broken, paying: price, at: now) else { return .tooDear }
            stored = bytes
        } catch let error as StoreError where error.code == .archived {
            return .archived
        } catch let error as StoreError where error.mayConcernOneObject {
            try await audit.recheck(original.key, after: error)
            throw error
        }
        // Before it is made: whoever is killed over it has read the original, too.
        try await ledger.finish { try $0.noteDenial(key, of: .copies, at: now) }
        do {
            guard let photo = try await copies.photo(md5, broken, of: original, stored, at: key) else {
                try await audit.recheck(original.key)
                return .failed("its original does not give the photo's file")
            }
            let receipt = try await Uploader(ledger: ledger, store: store, now: time.now).upload(photo)
            let end = time.now()
            let isKnown = try await ledger.finish { try $0.noteMadeAnew(receipt.object, at: end) }
            return isKnown ? .made : .forgotten
        } catch let error as PhotoError {
            if error.code == .stopped { throw CancellationError() }
            return .failed(error.message)
        } catch let error as Errno {
            return .failed("\(error)")
        }
    }

    /// With the look at what is damaged, before it is replaced.
    private func usd(toRead broken: BrokenCopy) -> Double {
        var price = verification.cost.usd(bytes: broken.original.size, in: Self.readClass(broken.original))
        if broken.copy.problem?.isDamage == true, !broken.copy.storageClass.isArchive {
            price += verification.cost.usd(bytes: broken.copy.size, in: broken.copy.storageClass)
        }
        return price
    }

    /// Pays for it before, as for what is verified.
    /// - Returns: `nil` where the month's money is over.
    private func read(_ broken: BrokenCopy, paying paid: Double, at now: Date) async throws -> [UInt8]? {
        let (cost, month, original) = (verification.cost, verification.maximumUSDPerMonth, broken.original)
        guard try await ledger({ try $0.payForChecks([paid], ofMonth: month, at: now) }) > 0 else { return nil }
        let source = CountingStore(base: store)
        do {
            return try await ObjectReader(store: source, limit: Self.mostBytes, time: time).read(original.key)
        } catch {
            let bytes = source.bytes
            let difference = (bytes > 0 ? cost.usd(bytes: bytes, in: Self.readClass(original)) : 0) - paid
            if difference != 0 { try await ledger.finish { try $0.correctCost(byUSD: difference, at: now) } }
            throw error
        }
    }

    /// What was restored is read as from STANDARD.
    private static func readClass(_ original: ObjectRecord) -> StorageClass {
        original.storageClass.isArchive ? .standard : original.storageClass
    }
}

extension BrokenCopy {
    /// Seconds until its original is read again, by whichever process, where no copy came of it.
    private static let rest: TimeInterval = 86_400

    fileprivate func rests(since reading: Date?, at now: Date) -> Bool {
        guard let reading, original.storedAt <= reading else { return false }
        // One that is still to come was noted by a clock that was ahead.
        return (0..<Self.rest).contains(now.timeIntervalSince(reading))
    }
}

extension StoredCopyRepair.Copies {
    private static let problemsTold = 10

    func log(to logger: Logger) {
        if made > 0 {
            logger.notice("made anew from the original: \(made.counted("stored copy", "stored copies"))")
        }
        for broken in archived.prefix(Self.problemsTold) { logger.warning("\(broken.copy.key) \(broken.words)") }
        for failure in failures.prefix(Self.problemsTold) {
            logger.warning("not made anew from its original: \(failure.key): \(failure.reason)")
        }
        if isOverBudget {
            logger.warning(
                """
                copies are made anew from their originals next month, or with a higher verify.max_usd_per_month: \
                this month's is used up
                """)
        }
        for copy in unaffordable.prefix(Self.problemsTold) {
            let dollars = (copy.usd * 100).rounded(.up) / 100
            logger.warning(
                """
                not made anew from its original: \(copy.key): to read that costs \(dollars) US dollars, more than \
                verify.max_usd_per_month gives in any month; raise it to that or more
                """)
        }
    }
}
