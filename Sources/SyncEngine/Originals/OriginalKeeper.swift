import FoundationEssentials
package import Logging
import ServiceLifecycle
package import SyncCore
import SyncDigest
package import SyncLedger
package import SyncSystem
package import SystemPackage

/// Keeps the bytes of photos beside their reduced copies: `photos.keep_originals`.
///
/// What is left to keep is read from the ledger, so that a library of before gets its originals by the same way, and a kill
/// costs what was in hand. Photos come first: as soon as one is due, no further original is begun.
package struct OriginalKeeper: Sendable {
    package struct Summary: Hashable, Sendable {
        /// Those that are done with, whatever came of them.
        package fileprivate(set) var done = 0
        package fileprivate(set) var kept = 0
        /// Bytes of the files that were kept, and of what is stored of them.
        package fileprivate(set) var fileBytes: Int64 = 0
        package fileprivate(set) var storedBytes: Int64 = 0
        package fileprivate(set) var failed = 0
        /// Which could not be kept, and why; at most ``failuresNamed`` of them.
        package fileprivate(set) var failures: [Failure] = []
        /// Those that were not tried, because they could not be kept a short time before.
        package fileprivate(set) var resting = 0
        /// Whether it ended because a photo is due.
        package fileprivate(set) var isInterrupted = false

        package static let failuresNamed = 100
    }

    package struct Failure: Hashable, Sendable {
        package var file: FilePath
        package var reason: String
    }

    fileprivate enum Ending: Sendable {
        /// Bytes of the file, and of what was stored.
        case kept(Int64, Int64)
        case failed(String)
        /// It was there, from the same photo under another name or from another machine.
        case there
        /// The file is another one by now, or gone: the next scan has it.
        case left
        case photoIsDue
        case rests
    }

    private static let pageSize = 100
    /// Seconds until one that could not be kept is tried again: at first, and at most.
    private static let rest: ClosedRange<TimeInterval> = 60...3_600

    private let ledger: LedgerQueue
    private let store: any ObjectStore
    private let reader: any PhotoReducer
    private let recompressor: (any OriginalRecompressor)?
    private let width: Int
    private let pool: BlockingPool
    private let silent: @Sendable () -> [FolderRecord]
    private let time: TimeSource
    private let underWay = KeyedLock<ObjectKey>()
    private let rests = Lock(Rests<FilePath, FileStamp>())

    /// - Parameters:
    ///   - recompressor: for JPEG files; `nil` to store all files as they are.
    ///   - width: uploads at once.
    ///   - pool: for reading and recompressing.
    ///   - silent: folders that do not answer: what is in them waits, and holds up nothing else.
    package init(
        ledger: LedgerQueue, store: any ObjectStore, reader: any PhotoReducer,
        recompressor: (any OriginalRecompressor)?, width: Int, pool: BlockingPool,
        silent: @escaping @Sendable () -> [FolderRecord] = { [] }, time: TimeSource
    ) {
        self.ledger = ledger
        self.store = store
        self.reader = reader
        self.recompressor = recompressor
        self.width = width
        self.pool = pool
        self.silent = silent
        self.time = time
    }

    /// Keeps what is not kept yet.
    /// - Parameter onProgress: told after each original, in turn, what it has come to by then: also where it throws later.
    /// - Throws: ``StoreError`` when the store as a whole cannot be used, or takes none, once those that were under way
    ///   have ended; ``LedgerError``, `CancellationError`. What was kept by then stays.
    package func run(onProgress: @escaping @Sendable (Summary) -> Void = { _ in }) async throws -> Summary {
        let result = Lock(Summary())
        let refusal = Lock<StoreError?>(nil)
        let earlier = try await EarlierDenials(of: .originals, in: ledger, time: time)
        let denied = DeniedObjects(earlier)
        func attempt(_ candidates: [OriginalCandidate]) async throws {
            _ = try await candidates.concurrently(width) { candidate in
                if refusal.withLock({ $0 != nil }) { return }
                do {
                    let ending = try await self.attempt(candidate, denied)
                    result.withLock { result in
                        result.note(ending, of: candidate.file)
                        onProgress(result)
                    }
                } catch let error as StoreError {
                    // Smaller ones beside it may still find room: what they have sent counts.
                    refusal.withLock { $0 = $0 ?? error }
                }
            }
            if let error = refusal.withLock({ $0 }) { throw error }
        }
        var putOff: [OriginalCandidate] = []
        var last: Int64? = 0
        while let after = last, !result.withLock({ $0.isInterrupted }) {
            let page = try await ledger { try $0.photosWithoutOriginal(after: after, limit: Self.pageSize) }
            last = page.last
            let (next, later) = earlier.split(page.candidates, by: Self.key)
            try await attempt(next)
            putOff += later
        }
        for candidates in earlier.longestAgoFirst(putOff, by: Self.key).grouped(atMost: Self.pageSize)
        where !result.withLock({ $0.isInterrupted }) {
            try await attempt(candidates)
        }
        return result.withLock { $0 }
    }

    /// By which the store is asked.
    private static func key(of candidate: OriginalCandidate) -> ObjectKey {
        candidate.copy.key.original ?? candidate.copy.key
    }

    private func attempt(_ candidate: OriginalCandidate, _ denied: DeniedObjects) async throws -> Ending {
        let (file, stamp, now) = (candidate.file, candidate.stamp, time.now())
        if rests.withLock({ $0.holds(file, stamp, at: now) }) { return .rests }
        let ending = try await keep(candidate, denied)
        rests.withLock { rests in
            switch ending {
            case .failed: rests.add(file, stamp, at: now, for: Self.rest)
            case .photoIsDue, .rests: break
            case .kept, .there, .left: rests.end(file)
            }
        }
        return ending
    }

    private func keep(_ candidate: OriginalCandidate, _ denied: DeniedObjects) async throws -> Ending {
        let (leftOut, now) = (silent(), time.now())
        if leftOut.contains(where: { candidate.file.starts(with: $0.path) }) { return .rests }
        let folders = Set(leftOut.map(\.id))
        let due = try await ledger { try $0.nextTry(leavingOut: folders, at: now) }
        if let due, due <= now { return .photoIsDue }
        do {
            let ending = try await store(candidate)
            if case .kept = ending { try await denied.noteGiven(Self.key(of: candidate)) }
            return ending
        } catch let error as PhotoError {
            switch error.code {
            case .missing, .notAFile, .changed: return .left
            case .stopped: throw CancellationError()
            default: return .failed(error.message)
            }
        } catch let error as StoreError where error.code == .sourceChanged {
            return .left
        } catch let error as StoreError where Self.mayConcernOne(error) {
            // One that a server refuses holds up no other.
            try await denied.note(error, of: Self.key(of: candidate), in: store)
            return .failed("\(error)")
        }
    }

    /// What this machine's file system denies the store as a whole, it denies to each.
    private static func mayConcernOne(_ error: StoreError) -> Bool {
        error.mayConcernOneObject && !(error.concernsWholeStore && error.isOfThisMachine)
    }

    private func store(_ candidate: OriginalCandidate) async throws -> Ending {
        let facts = try await pool.run { [reader] () throws -> PhotoFacts? in
            // Before it is read: it may be large, and no scan has met it yet.
            let stamp = try? FileStatus.find(candidate.file)?.stamp
            guard stamp?.isUntouched(since: candidate.stamp) == true else { return nil }
            return try reader.examine(candidate.file)
        }
        guard let examined = facts, examined.stamp.isUntouched(since: candidate.stamp) else { return .left }
        guard examined.digest.md5 == candidate.copy.md5 || examined.digest.sha256 == candidate.copy.sha256,
            let key = candidate.copy.key.original
        else {
            // It was taken for what is stored by its size and time alone.
            try await ledger { try $0.readAgain(candidate, at: time.now()) }
            return .left
        }
        // What is stored are the file's own bytes, which the ledger did not know.
        if examined.digest.sha256 == candidate.copy.sha256 {
            try await ledger { try $0.noteNoOriginal(candidate) }
            return .there
        }
        return try await underWay.withKey(key) {
            guard let upload = try await ledger({ try $0.beginOriginal(key, of: candidate) }) else { return .left }
            do {
                let isRuin = try await ledger.knowsAsRuin(key)
                let there = try await known(key, examined, isRuin: isRuin)
                let object =
                    if let there { there } else { try await put(candidate, examined, at: key, replacing: isRuin) }
                guard try await ledger.finish({ try $0.noteOriginal(object, of: candidate, upload) }) else {
                    return .left
                }
                return there == nil ? .kept(examined.stamp.size, object.size) : .there
            } catch {
                try await ledger.finish { try $0.endOriginal(key, of: candidate, upload, at: time.now()) }
                throw error
            }
        }
    }

    /// What another machine, or a process that was killed, has stored already.
    /// - Parameter isRuin: whether the ledger knows it as damaged: only bytes that are read say that it no longer is.
    private func known(
        _ key: ObjectKey, _ examined: PhotoFacts, isRuin: Bool = false
    ) async throws -> ObjectRecord? {
        guard let info = try await store.readableHead(key) else { return nil }
        // Whether it is replaced, the store says.
        if isRuin, info.isLocked { return nil }
        switch try await ObjectReadback(store).claim(of: info, isRuin: isRuin) {
        case .proven(let sha256) where info.originalSHA256 == examined.digest.sha256:
            var object = ObjectRecord(info)
            object.sha256 = sha256
            return object
        case .none where info.isLocked: throw StoreError.unproved(key, what: "an original")
        case .unprovable: throw StoreError.unproved(key, what: "an original")
        case .proven, .contradicted, .none: return nil
        }
    }

    /// - Parameter replacing: whether what is stored under the key is known to be damaged, whatever it says of itself.
    private func put(
        _ candidate: OriginalCandidate, _ examined: PhotoFacts, at key: ObjectKey, replacing: Bool
    ) async throws -> ObjectRecord {
        let content = try await pool.run { () throws -> Content in
            try recompressed(candidate.file, examined)
                ?? Content(
                    body: ObjectBody(file: candidate.file, stamp: examined.stamp, digest: examined.digest),
                    type: examined.type, encoding: .none)
        }
        let attributes = ObjectAttributes(
            contentType: content.type.name,
            metadata: [
                MetadataName.sha256: "\(content.body.digest.sha256)",
                MetadataName.storedMD5: "\(content.body.digest.md5)",
                MetadataName.md5: "\(examined.id)",
                MetadataName.originalEncoding: content.encoding.rawValue,
                MetadataName.originalSHA256: "\(examined.digest.sha256)",
                MetadataName.originalSize: "\(examined.stamp.size)",
            ])
        let sent: (etag: String?, storageClass: StorageClass)
        do {
            sent = try await send(content.body, at: key, attributes, replacing ? .overwrite : .ifAbsent)
        } catch let error as StoreError where replacing && error.code == .archived {
            throw error.ofRuin("the original that is stored under this key is damaged", what: "the original")
        } catch let error as StoreError where error.code == .alreadyExists {
            // Another machine's, that has come a moment before; or a ruin, whose own words contradict its bytes. What is
            // archived refuses to be replaced.
            if let there = try await known(key, examined) { return there }
            sent = try await send(content.body, at: key, attributes, .overwrite)
        }
        var object = ObjectRecord(
            key: key, size: content.body.size, md5: examined.digest.md5, sha256: content.body.digest.sha256,
            contentType: content.type.name, storageClass: sent.storageClass, takenAt: candidate.copy.takenAt,
            storedAt: time.now(), storedMD5: content.body.digest.md5, etag: sent.etag)
        object.encoding = content.encoding
        return object
    }

    private func send(
        _ body: ObjectBody, at key: ObjectKey, _ attributes: ObjectAttributes, _ condition: PutCondition
    ) async throws -> (etag: String?, storageClass: StorageClass) {
        try await ProvenPut(store)(
            body, at: key, attributes, condition,
            orSay: "the store does not have the original as it was sent; it is sent again with the next pass")
    }

    // MARK: Bytes

    private struct Content: Sendable {
        var body: ObjectBody
        var type: MediaType
        var encoding: OriginalEncoding
    }

    /// - Returns: `nil` where the file's own bytes are the better choice, whatever the recompressor has against it.
    private func recompressed(_ file: FilePath, _ examined: PhotoFacts) throws -> Content? {
        guard examined.type == .jpeg, let recompressor else { return nil }
        do {
            let descriptor = try FileDescriptor.open(file, .readOnly, options: [.noFollow, .nonBlocking, .closeOnExec])
            defer { try? descriptor.close() }
            let output = try MemoryFile(named: "original")
            guard
                case .smaller(let digest, let size) = try recompressor.recompressed(
                    descriptor, size: examined.stamp.size, sha256: examined.digest.sha256, into: output.descriptor)
            else { return nil }
            let bytes = try output.bytes(from: 0, Int(size))
            return Content(body: ObjectBody(bytes: bytes, digest: digest), type: .jpegXL, encoding: .jxl)
        } catch let error as PhotoError where error.code != .stopped {
            return nil
        } catch is Errno {
            return nil
        }
    }
}

extension OriginalKeeper.Summary {
    private static let failuresTold = 10

    fileprivate mutating func note(_ ending: OriginalKeeper.Ending, of file: FilePath) {
        done += 1
        switch ending {
        case .kept(let fileSize, let storedSize):
            kept += 1
            fileBytes += fileSize
            storedBytes += storedSize
        case .failed(let reason):
            failed += 1
            if failures.count < Self.failuresNamed {
                failures.append(OriginalKeeper.Failure(file: file, reason: reason))
            }
        case .there, .left: break
        case .rests: resting += 1
        case .photoIsDue: isInterrupted = true
        }
    }

    package func log(to logger: Logger) {
        if kept > 0 { logger.notice("kept: \(kept.counted("original"))") }
        for failure in failures.prefix(Self.failuresTold) {
            logger.warning("its original is not kept yet: \(failure.file.string.escapingControls): \(failure.reason)")
        }
        if failed > Self.failuresTold { logger.warning("not kept yet: \(failed.counted("original"))") }
    }
}

/// ``OriginalKeeper`` as a service: whenever nothing else waits.
package struct OriginalService: Service {
    private static let interval = Duration.seconds(5)
    /// While some could not be kept: each look meets all of them.
    private static let afterFailure = Duration.seconds(60)

    private let keeper: OriginalKeeper
    private let loop: ServiceLoop
    private let logger: Logger

    package init(_ keeper: OriginalKeeper, patience: LedgerPatience, time: TimeSource, logger: Logger) {
        self.keeper = keeper
        self.logger = logger
        loop = ServiceLoop(name: "originals", interval: Self.interval, patience: patience, time: time)
    }

    package func run() async throws {
        try await loop.run {
            let glance = await loop.glance()
            let result = try await keeper.run()
            result.log(to: logger)
            if result.isInterrupted { return .round(after: Self.interval) }
            let isAnyLeft = result.failed + result.resting > 0
            return isAnyLeft ? .round(after: Self.afterFailure) : .change(since: glance, every: Self.interval)
        }
    }
}
