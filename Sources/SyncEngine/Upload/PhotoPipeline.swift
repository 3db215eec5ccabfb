import AsyncAlgorithms
import FoundationEssentials
package import Logging
import ServiceLifecycle
package import SyncCore
package import SyncLedger

/// The way of a photo from the ledger's queue to the store: claim, prepare, upload, commit.
///
/// `batchSize` photos are in flight; the next begins when one ends. As many again are prepared ahead and wait, and no
/// more: a channel hands each over only when an uploader takes it, so memory is bounded by two batches. Each outcome is
/// committed by itself, so that a bad photo holds nobody up and a kill at any line repeats at most what was in flight.
package final class PhotoPipeline: Sendable {
    package enum Mode: Sendable {
        /// Ends when nothing is due any more. Photos that come due again are waited for, with so much patience in all.
        case untilDone(patience: Duration)
        /// Ends when the agent shuts down.
        case untilStopped
    }

    private let ledger: Ledger
    private let store: any ObjectStore
    private let preparer: Preparer
    private let sender: PhotoSender
    private let events: EventFileUploader
    private let pool: BlockingPool
    private let batchSize: Int
    private let work: Wakeup
    private let gate: StoreGate
    private let time: TimeSource
    private let logger: Logger
    private let observe: @Sendable (PipelineEvent) -> Void
    private let inHand = Mutex<[Int64: Claim]>([:])
    private let isStopping = Mutex(false)
    private let deadline = Mutex(PassDeadline())
    /// Whether something was stored since the queue was last empty.
    private let isBusy = Mutex(false)

    /// - Parameters:
    ///   - versions: keeps earlier images of projects.
    ///   - pool: threads for reading, hashing and reducing; as many as there are cores.
    ///   - work: signalled when the queue has got something new.
    ///   - observe: called for each photo that is done with, from any thread.
    package init(
        ledger: Ledger, store: any ObjectStore, preparer: Preparer, versions: ProjectVersions? = nil,
        pool: BlockingPool,
        batchSize: Int, work: Wakeup, time: TimeSource, logger: Logger,
        observe: @escaping @Sendable (PipelineEvent) -> Void
    ) {
        self.ledger = ledger
        self.store = store
        self.preparer = preparer
        let sender = PhotoSender(
            ledger: ledger, uploader: Uploader(store: store, versions: versions, now: time.now), pool: pool)
        self.sender = sender
        events = EventFileUploader(ledger: ledger, preparer: preparer, sender: sender, pool: pool)
        self.pool = pool
        self.batchSize = batchSize
        self.work = work
        self.gate = StoreGate(time: time)
        self.time = time
        self.logger = logger
        self.observe = observe
    }

    /// - Throws: ``LedgerError``, when what is known can no longer be written down; ``StoreError`` of a store that is away
    ///   as a whole, when `mode` is `.untilDone`.
    package func run(_ mode: Mode) async throws {
        let claims = AsyncChannel<Claim>()
        let prepared = AsyncChannel<PreparedFile>()
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    defer { claims.finish() }
                    try await self.feed(claims, mode)
                }
                group.addTask {
                    defer { prepared.finish() }
                    try await self.inParallel { for await claim in claims { try await self.prepare(claim, prepared) } }
                }
                group.addTask {
                    try await self.inParallel { for await file in prepared { try await self.upload(file, mode) } }
                }
                try await group.waitForAll()
            }
        } catch {
            try await releaseAll()
            throw error
        }
        try await releaseAll()
    }

    // MARK: Claiming

    private func feed(_ claims: AsyncChannel<Claim>, _ mode: Mode) async throws {
        do {
            try await cancelWhenGracefulShutdown {
                try await self.lookAtStore(mode)
                while try await self.waitForTurn(mode) {
                    let now = self.time.now()
                    for claim in try await self.pool.run({ [ledger = self.ledger] in try ledger.claim(limit: 1, at: now)
                    }) {
                        self.inHand.withLock { $0[claim.photoID] = claim }
                        await claims.send(claim)
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
            try await close(error, mode)
        }
    }

    /// Waits until the store is there and a photo is due.
    /// - Returns: `false` when there is nothing more to do.
    private func waitForTurn(_ mode: Mode) async throws -> Bool {
        while true {
            try Task.checkCancellation()
            if let error = gate.closedBy, case .untilDone = mode { throw error }
            if try await gate.pass(check: { try await self.store.check() }) {
                logger.notice("the store is back, uploads go on")
                try await noteStore(nil)
            }
            // Asked first: what is in hand may come back into the queue, and must not do so between the two questions.
            let isIdle = inHand.withLock { $0.isEmpty }
            let due = try await pool.run { [ledger] in try ledger.nextTry() }
            let wait = due.map { max($0 - time.now(), .zero) }
            if wait == .zero { return true }
            if isIdle {
                if case .untilDone(let patience) = mode {
                    let now = time.monotonic()
                    guard let wait, now + wait <= deadline.withLock({ $0.moment(after: now, patience) }) else {
                        return false
                    }
                }
                try await noteAllDone(isEmpty: due == nil)
            }
            await work.wait(atMost: wait, time: time)
        }
    }

    // MARK: Preparing and uploading

    private func prepare(_ claim: Claim, _ prepared: AsyncChannel<PreparedFile>) async throws {
        if isStopping.withLock({ $0 }) { return }
        let preparer = preparer
        switch try await pool.run({ try preparer.prepare(claim) }) {
        case .ready(let file): await prepared.send(file)
        case .done(let outcome): try await commit(claim, outcome, sentBytes: nil)
        }
    }

    private func upload(_ file: PreparedFile, _ mode: Mode) async throws {
        let claim = file.claim
        switch file.content {
        case .photo(let photo): try await upload(photo, claim, mode)
        case .events(let events): try await upload(events, claim, mode)
        }
    }

    private func upload(_ photo: PreparedPhoto, _ claim: Claim, _ mode: Mode) async throws {
        do {
            let receipt = try await sender.send(photo)
            gate.noteSuccess()
            try await commit(
                claim, .uploaded(photo.examined.digest, receipt.object),
                sentBytes: receipt.wasSent ? photo.body.size : nil)
        } catch let error as StoreError {
            try await fail(claim, photo.examined.digest, error, mode)
        }
    }

    private func upload(_ file: PreparedEvents, _ claim: Claim, _ mode: Mode) async throws {
        do {
            let result = try await events.upload(file, claim) { isStopping.withLock { $0 } }
            if result.sentBytes != nil { gate.noteSuccess() }
            try await commit(claim, result.outcome, note: result.note, sentBytes: result.sentBytes)
        } catch let error as StoreError {
            try await fail(claim, file.examined.digest, error, mode)
        } catch let error as PhotoError {
            let outcome = try await pool.run { [preparer] in try preparer.outcome(of: error, for: claim) }
            try await commit(claim, outcome, sentBytes: nil)
        }
    }

    private func fail(_ claim: Claim, _ digest: ContentDigest, _ error: StoreError, _ mode: Mode) async throws {
        if error.concernsWholeStore {
            try await close(error, mode)
            return try await commit(claim, .released, sentBytes: nil)
        }
        let delay = RetryPolicy.queue.delay(afterAttempt: claim.attempts, random: 0.5 + time.random() / 2)
        let outcome: Outcome =
            error.isTransient || error.code == .sourceChanged
            ? .postponed("\(error)", until: time.now() + delay) : .failed("\(error)", digest)
        try await commit(claim, outcome, sentBytes: nil)
    }

    private func close(_ error: StoreError, _ mode: Mode) async throws {
        guard gate.close(error) else { return }
        // A pass throws it, and whoever asked for the pass tells it.
        if case .untilStopped = mode { logger.warning("the store cannot be used, uploads wait: \(error)") }
        try await noteStore(error)
    }

    private func noteStore(_ error: StoreError?) async throws {
        let now = time.now()
        try await pool.run { [ledger] in try ledger.noteStore(error: error?.description, at: now) }
    }

    /// Once for each time that nothing is left in the queue, or only images whose projects are still processing.
    private func noteAllDone(isEmpty: Bool) async throws {
        guard isBusy.withLock({ $0 }) else { return }
        if !isEmpty {
            let isLeft = try await pool.run { [ledger] in try ledger.isAnythingUnsynced() }
            if isLeft { return }
        }
        guard
            isBusy.withLock({ isBusy in
                defer { isBusy = false }
                return isBusy
            })
        else { return }
        let now = time.now()
        try await pool.run { [ledger] in try ledger.noteSync(at: now) }
    }

    // MARK: Committing

    private func commit(
        _ claim: Claim, _ outcome: Outcome, note: EventFileNote? = nil, sentBytes: Int64?
    ) async throws {
        let now = time.now()
        try await pool.run { [ledger] in try ledger.commit(claim, outcome: outcome, note: note, at: now) }
        inHand.withLock { $0[claim.photoID] = nil }
        isBusy.withLock { $0 = true }
        work.signal()
        let event = PipelineEvent(
            file: claim.file, result: result(of: outcome, claim, sentBytes), events: outcome.isFinal ? note : nil)
        logger.debug("\(event.file): \(event.result)")
        observe(event)
    }

    private func result(of outcome: Outcome, _ claim: Claim, _ sentBytes: Int64?) -> PipelineEvent.Result {
        switch outcome {
        case .uploaded:
            sentBytes.map { .stored(localBytes: claim.stamp.size, sentBytes: $0) }
                ?? .alreadyStored(localBytes: claim.stamp.size)
        case .failed(let message, _): .failed(reason: message)
        case .skipped(let message, _): .skipped(reason: message)
        case .postponed(let message, _): .postponed(reason: message)
        case .waits, .released, .vanished: .dropped
        }
    }

    /// What was claimed and not got to goes back to the queue, its attempt not counted.
    private func releaseAll() async throws {
        for claim in inHand.withLock({ Array($0.values) }) {
            try await commit(claim, .released, sentBytes: nil)
        }
    }

    private func inParallel(_ worker: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<batchSize { group.addTask(operation: worker) }
            try await group.waitForAll()
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
