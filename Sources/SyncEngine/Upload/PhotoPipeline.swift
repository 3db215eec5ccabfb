import FoundationEssentials
package import Logging
package import SyncCore
package import SyncLedger
package import SyncSystem

/// The way of a photo from the ledger's queue to the store: claim, prepare, upload, commit. It reads from top to bottom:
/// one task takes a photo all the way (``drainQueue(_:)``). Claiming is in `PhotoPipeline+Claiming.swift`, preparing in
/// `PhotoPipeline+Reading.swift`, slow and silent disks in `PhotoPipeline+Disks.swift`, what the store refuses, and a
/// store that is away, in `PhotoPipeline+Store.swift`.
///
/// `batchSize` photos are in flight, or more where that is faster (``Flights``); the next begins when one ends. A batch
/// is prepared ahead and waits, and no more: whoever prepares has one of `batchSize` places, and gives it back when what
/// is ready has a hand to send it. So memory is bounded. Each outcome is its own, so that a bad photo holds nobody up and
/// a kill at any line repeats at most what was in flight.
///
/// Of a thumbnail, and of a file that is no photo, next to nothing has to be read: what is paid for is each step from one
/// thread to the next, and each transaction. So small files are claimed, prepared and committed in groups
/// (``ClaimGroup``, ``EndingQueue``), which take no more memory than one photo. A store that puts small objects
/// together gets many of them at once, beside the others.
///
/// A film is read and sent for minutes, where a photo takes a second. So one large file is in hand at a time, beside the
/// others, and what is small overtakes the rest.
package final class PhotoPipeline: Sendable {
    package enum Mode: Sendable {
        /// Ends when nothing is due any more. Photos that come due again are waited for, with so much patience in all.
        case untilDone(patience: Duration)
        /// Ends when the agent shuts down.
        case untilStopped

        var isPass: Bool { if case .untilDone = self { true } else { false } }
    }

    /// Bytes beyond which a file has to wait for others of its like. Photos are far below it.
    package static let largestSmall: Int64 = 256 << 20
    /// How long what is in hand is waited for while the store refuses. What lies on a server that is gone is read for ever.
    package static let handInLimit = Duration.seconds(60)
    /// Small photos in flight where the store puts such in groups. They take as much memory as one large photo.
    private static let mostGrouped = 64

    let ledger: LedgerQueue
    let store: any ObjectStore
    let preparer: Preparer
    private let uploader: Uploader
    private let events: EventFileUploader
    let pool: BlockingPool
    /// A thread of its own: what is read for minutes must not hold up its neighbours.
    let largePool: BlockingPool
    /// For photos that would wait for the slow disk of another folder.
    let otherPool: BlockingPool
    let batchSize: Int
    private let largestGrouped: Int64
    let work: Wakeup
    let passes: Wakeup?
    let watchdog: DiskWatchdog
    let gate: CircuitBreaker
    let time: TimeSource
    let logger: Logger
    let state = Lock(PipelineState())
    /// One failure at a time is judged, so that each verdict is written down before the next one.
    let judging = Slots(1)
    let suspects = Slots(1)
    /// One at a time notes how the store is.
    let noting = Slots(1)
    /// Of those who claim and prepare.
    private let places: Slots
    /// One at a time claims.
    let claiming = Slots(1)
    /// Photos in flight, those in files of events among them.
    private let flights: Flights
    /// Those who send small photos that go together.
    private let groupHands: Slots
    let endings: EndingQueue

    /// - Parameters:
    ///   - versions: keeps earlier images of projects.
    ///   - pool: threads for reading, hashing and reducing; as many as there are cores.
    ///   - mostInFlight: so many may come to be in flight where that is faster; `nil` for no more than a batch.
    ///   - throttling: what the store's retries tell when it asks to slow down.
    ///   - work: signalled when the queue has got something new.
    ///   - passes: signalled when everything is stored, after work.
    ///   - watchdog: tells which folders do not answer: their files would hold up the threads for all others.
    ///   - observe: called for each photo that is done with, from any thread.
    package init(
        ledger: LedgerQueue, store: any ObjectStore, preparer: Preparer, versions: ProjectVersions? = nil,
        pool: BlockingPool, batchSize: Int, mostInFlight: Int? = nil, throttling: Throttling? = nil, work: Wakeup,
        passes: Wakeup? = nil, watchdog: DiskWatchdog? = nil, time: TimeSource, logger: Logger,
        observe: @escaping @Sendable (PipelineEvent) -> Void
    ) {
        self.ledger = ledger
        self.store = store
        self.preparer = preparer
        let watchdog = watchdog ?? DiskWatchdog(time: time)
        self.watchdog = watchdog
        uploader = Uploader(ledger: ledger, store: store, versions: versions, now: time.now)
        flights = Flights(
            from: batchSize, to: mostInFlight ?? batchSize, throttling: throttling, clock: time.monotonic)
        events = EventFileUploader(
            ledger: ledger, preparer: preparer, uploader: uploader, reads: watchdog.reads, pool: pool, work: work,
            suspects: suspects, slots: flights.slots)
        self.pool = pool
        largePool = pool.sibling(name: "large-file", threads: 1)
        otherPool = pool.sibling(name: "other-folder", threads: Self.othersAtOnce)
        self.batchSize = batchSize
        places = Slots(batchSize)
        largestGrouped = store.capabilities.largestGrouped
        groupHands = Slots(largestGrouped > 0 ? Self.mostGrouped : 0)
        self.work = work
        self.passes = passes
        self.gate = CircuitBreaker(time: time)
        self.time = time
        self.logger = logger
        endings = EndingQueue(ledger: ledger, onFailure: work.signal) { [state, gate, work, logger] ending in
            state.withLock { $0.noteCommitted(ending.claim, ending.outcome) }
            gate.endTrial(ending.claim.photoID)
            work.signal()
            let event = PipelineEvent(ending)
            logger.debug("\(event.file): \(event.ending)")
            observe(event)
        }
    }

    /// It may be run again after it threw: what it had in hand then goes back to the queue first.
    /// - Parameter vacation: takes only its photos; the others stay in the queue.
    /// - Throws: ``LedgerError``, when what is known can no longer be written down; ``StoreError`` of a store that takes
    ///   nothing, when `mode` is `.untilDone`.
    package func run(_ mode: Mode, of vacation: VacationID? = nil) async throws {
        state.withLock { $0.begin(vacation) }
        gate.beginRun(isPass: mode.isPass)
        endings.reset()
        try await releaseAll()
        do {
            try await withinGrace {
                try await self.untilStopped { try await self.takeUpStoreState(mode) }
                // One for each place and each hand, and for a film: where a place is free, somebody is.
                let workers = self.batchSize + self.flights.most + self.groupHands.count + 1
                try await self.besideSlowDisks(mode) {
                    try await self.inParallel(workers) { try await self.drainQueue(mode) }
                }
            }
        } catch {
            // What cannot be given back now, because the ledger fails, is given back by the next run or the next start.
            try? await releaseAll()
            throw error
        }
        try await releaseAll()
        // A run that was stopped may not have looked at the store.
        if !isStopping { try await endDoubt() }
        if let error = state.withLock({ $0.outage }) { throw error }
        if case .untilDone = mode, !isStopping, let error = gate.closedBy { throw error }
    }

    /// All folders were read anew: what is in the queue is all there is, and a pass is whole when it is stored. Where there was
    /// nothing to do, the store is asked whether it is there.
    package func noteRescan() {
        state.withLock { $0.noteRescan() }
        work.signal()
    }

    /// Something new was dealt with that needed no place in the queue: with what is in the queue it makes a pass.
    package func noteSkipped() {
        state.withLock { $0.noteSkipped() }
        work.signal()
    }

    var isStopping: Bool { state.withLock { $0.isStopping } }

    // MARK: A photo's way

    /// Claims what is due, prepares it, sends it and commits it, until there is nothing more.
    private func drainQueue(_ mode: Mode) async throws {
        while true {
            let place = await places.take()
            defer { place.giveBack() }
            guard let claims = try await nextClaims(mode) else { return }
            // A film has a thread of its own, and is read for longer than the others shall wait.
            if claims[0].isLarge { place.giveBack() }
            try await carry(claims, mode, onceReady: place.giveBack)
        }
    }

    /// Prepares what was claimed, sends it and commits it. What is alone is seen to its end by this very task; of several
    /// photos, each has a task of its own as soon as it is ready.
    /// - Parameters:
    ///   - pool: `nil` for the threads of all, or of large files.
    ///   - isReady: called once, when all of it is in the hands of those who send, or done with; not where preparing it throws.
    func carry(
        _ claims: [Claim], on pool: BlockingPool? = nil, _ mode: Mode, onceReady isReady: @Sendable () -> Void
    ) async throws {
        guard claims.count > 1 else {
            var rest = claims[...]
            guard !isStopping, let file = try await prepare(&rest, on: pool).first else { return isReady() }
            let hand = await self.hand(for: file)
            isReady()
            return try await inTaskOfItsOwn { try await self.upload(file, by: hand, mode) }
        }
        try await withThrowingDiscardingTaskGroup { group in
            var rest = claims[...]
            while !rest.isEmpty, !isStopping, !group.isCancelled {
                for file in try await prepare(&rest, on: pool) {
                    let hand = await self.hand(for: file)
                    group.addTask { try await self.upload(file, by: hand, mode) }
                }
            }
            isReady()
        }
    }

    /// Waits until somebody may send it: until then it is one of those that are prepared ahead.
    /// - Returns: `nil` for a large file, which needs none.
    private func hand(for file: PreparedFile) async -> Slot? {
        if file.claim.isLarge { return nil }
        return await isGrouped(file) ? groupHands.take() : flights.hands.take()
    }

    private func upload(_ file: PreparedFile, by hand: Slot?, _ mode: Mode) async throws {
        defer { hand?.giveBack() }
        try await upload(file, mode)
    }

    private func upload(_ file: PreparedFile, _ mode: Mode) async throws {
        let claim = file.claim
        // It was made ready before the gate was closed.
        guard gate.mayGo(claim.photoID) else { return try await end(claim, .released) }
        do {
            switch file.content {
            case .photo(let photo):
                let receipt = try await inFlight(file, photo.body.size) { try await uploader.upload(photo) }
                try await noteAccepted(claim, receipt.sent)
                try await end(claim, .uploaded(photo.examined.digest, receipt.object), sent: receipt.sent)
            case .known(let digest, let known):
                // What the store has lost is prepared anew: the ledger no longer says that it is known.
                let object = try await inFlight(file, 0) { try await uploader.confirm(known) }
                try await end(claim, object.map { .uploaded(digest, $0) } ?? .released)
            case .events(let file):
                let ending = try await events.upload(file, claim) { self.isStopping }
                try await noteAccepted(claim, ending.sent)
                try await end(claim, ending.outcome, note: ending.note, sent: ending.sent)
            case .refused(let error): throw error
            }
        } catch let error as StoreError {
            try await fail(claim, error, mode)
        } catch {
            try await end(claim, outcome(of: error, for: claim))
        }
    }

    /// Whether the store puts it together with others: they go past those that are sent one by one.
    private func isGrouped(_ file: PreparedFile) -> Bool {
        guard case .photo(let photo) = file.content, largestGrouped > 0, !file.claim.isLarge else { return false }
        return photo.body.size <= largestGrouped
    }

    /// A large file takes no slot of the others, nor do small ones that go together.
    private func inFlight<Result>(
        _ file: PreparedFile, _ bytes: Int64, _ work: () async throws -> Result
    ) async throws -> Result {
        file.claim.isLarge || isGrouped(file) ? try await work() : try await flights.carry(bytes, work)
    }

    // MARK: Committing

    /// It is on its way into the ledger when this returns.
    private func end(
        _ claim: Claim, _ outcome: Outcome, note: EventFileNote? = nil, sent: SentCount = SentCount()
    ) async throws {
        try await endings.add(ClaimEnding(claim, outcome, note: note, sent: sent, at: time.now()))
    }

    /// It is in the ledger when this returns.
    func commit(
        _ claim: Claim, _ outcome: Outcome, sent: SentCount = SentCount(), refusal: StoreError.Code? = nil
    ) async throws {
        try await endings.write([ClaimEnding(claim, outcome, sent: sent, refusal: refusal, at: time.now())])
    }

    /// What was claimed and not got to goes back to the queue, its attempt not counted.
    private func releaseAll() async throws {
        try await endings.write([])
        let now = time.now()
        let left = state.withLock { Array($0.inHand.values) }
        try await endings.write(left.map { ClaimEnding($0, .released, at: now) })
    }
}

extension Claim {
    /// Whether it goes with the large files, one at a time.
    var isLarge: Bool { stamp.size > PhotoPipeline.largestSmall }
}
