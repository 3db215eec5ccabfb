import AsyncAlgorithms
import FoundationEssentials
package import Logging
import ServiceLifecycle
package import SyncCore
package import SyncLedger
package import SyncSystem

/// The way of a photo from the ledger's queue to the store: claim, prepare, upload, commit.
///
/// `batchSize` photos are in flight; the next begins when one ends. As many again are prepared ahead and wait, and no
/// more: a channel hands each over only when an uploader takes it, so memory is bounded by two batches. Each outcome is
/// committed by itself, so that a bad photo holds nobody up and a kill at any line repeats at most what was in flight.
/// Large files go one after the other, beside the others.
package final class PhotoPipeline: Sendable {
    package enum Mode: Sendable {
        /// Ends when nothing is due any more. Photos that come due again are waited for, with so much patience in all.
        case untilDone(patience: Duration)
        /// Ends when the agent shuts down.
        case untilStopped
    }

    let ledger: LedgerQueue
    let store: any ObjectStore
    let preparer: Preparer
    private let sender: PhotoSender
    private let events: EventFileUploader
    let pool: BlockingPool
    /// A thread of its own: what is read for minutes must not hold up its neighbours.
    let largePool: BlockingPool
    private let batchSize: Int
    private let work: Wakeup
    let gate: CircuitBreaker
    let time: TimeSource
    let logger: Logger
    private let observe: @Sendable (PipelineEvent) -> Void
    let inHand = Mutex<[Int64: Claim]>([:])
    let isStopping = Mutex(false)
    /// One failure at a time is judged, so that each verdict is written down before the next one.
    let judging = KeyedLock<Bool>()
    let suspects = KeyedLock<Bool>()
    private let deadline = Mutex(PassDeadline())
    let rounds = Mutex(PassRounds())
    /// Why the pass cannot go on, when the store took nothing for as long as it had patience.
    private let outage = Mutex<StoreError?>(nil)
    /// Whether something was stored since the queue was last empty.
    private let isBusy = Mutex(false)
    /// The vacation of which photos are taken; `nil`: all that is due.
    let scope = Mutex<VacationID?>(nil)
    /// How often people had asked for another try when it was looked at last.
    private let retriesSeen = Mutex<Int64?>(nil)

    /// How soon the agent sees what another process has put into the queue.
    private static let glance = Duration.seconds(5)

    /// - Parameters:
    ///   - versions: keeps earlier images of projects.
    ///   - pool: threads for reading, hashing and reducing; as many as there are cores.
    ///   - work: signalled when the queue has got something new.
    ///   - observe: called for each photo that is done with, from any thread.
    package init(
        ledger: LedgerQueue, store: any ObjectStore, preparer: Preparer, versions: ProjectVersions? = nil,
        pool: BlockingPool,
        batchSize: Int, work: Wakeup, time: TimeSource, logger: Logger,
        observe: @escaping @Sendable (PipelineEvent) -> Void
    ) {
        self.ledger = ledger
        self.store = store
        self.preparer = preparer
        let sender = PhotoSender(
            ledger: ledger, store: store, uploader: Uploader(store: store, versions: versions, now: time.now),
            now: time.now)
        self.sender = sender
        events = EventFileUploader(ledger: ledger, preparer: preparer, sender: sender, pool: pool, suspects: suspects)
        self.pool = pool
        largePool = pool.sibling(name: "large-file", threads: 1)
        self.batchSize = batchSize
        self.work = work
        self.gate = CircuitBreaker(time: time)
        self.time = time
        self.logger = logger
        self.observe = observe
    }

    /// It may be run again after it threw: what it had in hand then goes back to the queue first.
    /// - Parameter vacation: takes only its photos; the others stay in the queue.
    /// - Throws: ``LedgerError``, when what is known can no longer be written down; ``StoreError`` of a store that takes
    ///   nothing, when `mode` is `.untilDone`.
    package func run(_ mode: Mode, of vacation: VacationID? = nil) async throws {
        scope.withLock { $0 = vacation }
        isStopping.withLock { $0 = false }
        outage.withLock { $0 = nil }
        try await releaseAll()
        let claims = AsyncChannel<Claim>()
        let largeClaims = AsyncChannel<Claim>()
        let prepared = AsyncChannel<PreparedFile>()
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    defer {
                        claims.finish()
                        largeClaims.finish()
                    }
                    try await self.feed(claims, largeClaims, mode)
                }
                group.addTask {
                    defer { prepared.finish() }
                    try await self.inParallel { for await claim in claims { try await self.prepare(claim, prepared) } }
                }
                group.addTask {
                    try await self.withinGrace {
                        try await self.inParallel {
                            for await file in prepared { try await self.upload(file, mode) }
                        } beside: {
                            try await self.storeOneByOne(largeClaims, mode)
                        }
                    }
                    // Nobody takes what is handed over from here on.
                    prepared.finish()
                }
                try await group.waitForAllOrFirstFailure()
            }
        } catch {
            // What cannot be given back now, because the ledger fails, is given back by the next run or the next start.
            try? await releaseAll()
            throw error
        }
        try await releaseAll()
        if let error = outage.withLock({ $0 }) { throw error }
        if case .untilDone = mode, !isStopping.withLock({ $0 }), let error = gate.closedBy { throw error }
    }

    // MARK: Claiming

    private func feed(_ claims: AsyncChannel<Claim>, _ large: AsyncChannel<Claim>, _ mode: Mode) async throws {
        do {
            try await cancelWhenGracefulShutdown {
                _ = try await self.isRetryAsked()
                try await self.lookAtStore(mode)
                while try await self.waitForTurn(mode) {
                    let now = self.time.now()
                    for claim in try await self.claims(at: now) {
                        self.inHand.withLock { $0[claim.photoID] = claim }
                        self.gate.beginTrial(claim.photoID)
                        await (claim.isLarge ? large : claims).send(claim)
                    }
                    try Task.checkCancellation()
                }
            }
        } catch is CancellationError {
            isStopping.withLock { $0 = true }
        }
    }

    /// A store that is away is told at the start, and not only when there is something to send.
    private func lookAtStore(_ mode: Mode) async throws {
        do {
            try await store.check()
            try await noteStore(nil)
        } catch let error as StoreError {
            try await tell(gate.close(error), mode)
        }
    }

    /// Waits until the store is there and a photo is due.
    /// - Returns: `false` when there is nothing more to do.
    private func waitForTurn(_ mode: Mode) async throws -> Bool {
        while true {
            try Task.checkCancellation()
            guard try await passGate(mode) else { return false }
            if gate.isOnTrial {
                await work.wait(atMost: nil, time: time)
                continue
            }
            // Asked first: what is in hand may come back into the queue, and must not do so between the two questions.
            let isIdle = inHand.withLock { $0.isEmpty }
            let asked = time.now()
            let due = try await nextTry(at: asked)
            let wait = due.map { max($0 - time.now(), .zero) }
            if wait == .zero { return true }
            if isIdle {
                if case .untilDone(let patience) = mode {
                    let now = time.monotonic()
                    guard let wait, now + wait <= deadline.withLock({ $0.moment(after: now, patience) }) else {
                        if try await beginRound(patience) { continue }
                        return false
                    }
                }
                // A pass is whole when whoever asked for it says so.
                if case .untilStopped = mode { try await noteAllDone(isEmpty: due == nil) }
            }
            var pause = wait
            if case .untilStopped = mode { pause = min(wait ?? Self.glance, Self.glance) }
            await work.wait(atMost: pause, time: time)
        }
    }

    /// - Returns: `false` when the store took nothing for as long as a pass has patience.
    private func passGate(_ mode: Mode) async throws -> Bool {
        guard gate.closedBy != nil else { return true }
        let passage =
            switch mode {
            case .untilDone(let patience):
                try await gate.pass(within: gate.closedBy?.isCertain == true ? .zero : patience) {
                    try await self.store.check()
                }
            case .untilStopped:
                try await gate.pass(isUrgent: isRetryAsked) { try await self.store.check() }
            }
        switch passage {
        case .wasOpen, .oneMayGo: break
        case .opened:
            logger.notice("the store is back, uploads go on")
            try await noteStore(nil)
        case .stayedClosed:
            outage.withLock { $0 = gate.closedBy }
            return false
        }
        return true
    }

    /// Whether people have asked for another try since it was looked at last.
    private func isRetryAsked() async throws -> Bool {
        let asked = try await ledger { try $0.retriesAsked() }
        return retriesSeen.withLock { seen in
            defer { seen = asked }
            return seen.map { $0 != asked } ?? false
        }
    }

    /// Once the queue is empty but for what the store has refused, a pass tries that again, some times and for a while.
    /// - Returns: `false` when it has been tried enough.
    private func beginRound(_ patience: Duration) async throws -> Bool {
        guard patience > .zero, gate.closedBy == nil else { return false }
        let now = time.monotonic()
        guard let round = rounds.withLock({ $0.next(at: now, patience, random: 0.5 + time.random() / 2) }) else {
            return false
        }
        logger.info("tried once more: \(round.photos.count.counted("photo")) that could not be sent")
        try await time.sleep(round.pause)
        let due = time.now()
        try await ledger { try $0.hurry(round.photos, at: due) }
        return true
    }

    // MARK: Preparing and uploading

    private func prepare(_ claim: Claim, _ prepared: AsyncChannel<PreparedFile>) async throws {
        if isStopping.withLock({ $0 }) { return }
        switch try await prepareAlone(claim) {
        case .ready(let file): await prepared.send(file)
        case .done(let outcome): try await commit(claim, outcome, wasSent: false)
        }
    }

    func upload(_ file: PreparedFile, _ mode: Mode) async throws {
        let claim = file.claim
        // It was made ready before the gate was closed.
        guard gate.mayGo(claim.photoID) else { return try await commit(claim, .released, wasSent: false) }
        switch file.content {
        case .photo(let photo): try await upload(photo, claim, mode)
        case .known(let digest, let object): try await confirm(object, digest, claim, mode)
        case .events(let events): try await upload(events, claim, mode)
        }
    }

    private func upload(_ photo: PreparedPhoto, _ claim: Claim, _ mode: Mode) async throws {
        do {
            let receipt = try await sender.send(photo)
            try await noteAccepted(claim, wasSent: receipt.wasSent)
            try await commit(
                claim, .uploaded(photo.examined.digest, receipt.object), wasSent: receipt.wasSent,
                sentBytes: receipt.sentBytes)
        } catch let error as StoreError {
            try await fail(claim, error, mode)
        }
    }

    private func confirm(_ known: ObjectRecord, _ digest: ContentDigest, _ claim: Claim, _ mode: Mode) async throws {
        do {
            // What the store has lost is prepared anew: the ledger no longer says that it is known.
            let object = try await sender.confirm(known)
            try await commit(claim, object.map { .uploaded(digest, $0) } ?? .released, wasSent: false)
        } catch let error as StoreError {
            try await fail(claim, error, mode)
        }
    }

    private func upload(_ file: PreparedEvents, _ claim: Claim, _ mode: Mode) async throws {
        do {
            let result = try await events.upload(file, claim) { isStopping.withLock { $0 } }
            try await noteAccepted(claim, wasSent: result.wasSent)
            try await commit(
                claim, result.outcome, note: result.note, wasSent: result.wasSent, sentBytes: result.sentBytes)
        } catch let error as StoreError {
            try await fail(claim, error, mode)
        } catch let error as PhotoError {
            let outcome = try await pool.run { [preparer] in try preparer.outcome(of: error, for: claim) }
            try await commit(claim, outcome, wasSent: false)
        }
    }

    /// Once for each time that nothing is left in the queue, or only images whose projects are still processing.
    private func noteAllDone(isEmpty: Bool) async throws {
        guard isBusy.withLock({ $0 }), scope.withLock({ $0 }) == nil else { return }
        if !isEmpty {
            let isLeft = try await ledger { try $0.isAnythingUnsynced() }
            if isLeft { return }
        }
        guard
            isBusy.withLock({ isBusy in
                defer { isBusy = false }
                return isBusy
            })
        else { return }
        let now = time.now()
        try await ledger { try $0.noteSync(at: now) }
    }

    // MARK: Committing

    func commit(
        _ claim: Claim, _ outcome: Outcome, note: EventFileNote? = nil, wasSent: Bool, sentBytes: Int64 = 0
    ) async throws {
        let now = time.now()
        try await ledger { try $0.commit(claim, outcome: outcome, note: note, at: now) }
        inHand.withLock { $0[claim.photoID] = nil }
        gate.endTrial(claim.photoID)
        if case .uploaded = outcome { rounds.withLock { $0.noteStored(claim.photoID) } }
        isBusy.withLock { $0 = true }
        work.signal()
        let event = PipelineEvent(
            file: claim.file, result: result(of: outcome, claim, wasSent, sentBytes),
            events: outcome.isFinal ? note : nil)
        logger.debug("\(event.file): \(event.result)")
        observe(event)
    }

    private func result(of outcome: Outcome, _ claim: Claim, _ wasSent: Bool, _ sentBytes: Int64)
        -> PipelineEvent.Result
    {
        switch outcome {
        case .uploaded:
            wasSent
                ? .stored(localBytes: claim.stamp.size, sentBytes: sentBytes)
                : .alreadyStored(localBytes: claim.stamp.size, sentBytes: sentBytes)
        case .failed(let message, _): .failed(reason: message)
        case .skipped(let message, _): .skipped(reason: message)
        case .postponed(let message, _): .postponed(reason: message)
        case .waits, .released, .vanished: .dropped
        }
    }

    /// What was claimed and not got to goes back to the queue, its attempt not counted.
    private func releaseAll() async throws {
        for claim in inHand.withLock({ Array($0.values) }) {
            try await commit(claim, .released, wasSent: false)
        }
    }

    private func inParallel(
        _ worker: @escaping @Sendable () async throws -> Void,
        beside other: @escaping @Sendable () async throws -> Void = {}
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(operation: other)
            for _ in 0..<batchSize { group.addTask(operation: worker) }
            try await group.waitForAllOrFirstFailure()
        }
    }
}

/// When a pass stops waiting for photos that come due again: the patience runs from the first time that it had to wait.
private struct PassDeadline {
    private var fixed: Duration?

    mutating func moment(after now: Duration, _ patience: Duration) -> Duration {
        let deadline = fixed ?? now + patience
        fixed = deadline
        return deadline
    }
}
