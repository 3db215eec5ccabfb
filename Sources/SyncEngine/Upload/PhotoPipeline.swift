import AsyncAlgorithms
import FoundationEssentials
package import Logging
import ServiceLifecycle
package import SyncCore
package import SyncLedger
package import SyncSystem

/// The way of a photo from the ledger's queue to the store: claim, prepare, upload, commit. It reads from top to bottom;
/// preparing is in `PhotoPipeline+Reading.swift`, slow and silent disks in `PhotoPipeline+Disks.swift`, what the store
/// refuses, and a store that is away, in `PhotoPipeline+Store.swift`.
///
/// `batchSize` photos are in flight, or more where that is faster (``Flights``); the next begins when one ends. A batch
/// is prepared ahead and waits, and no more: a channel hands each over only when an uploader takes it, so memory is
/// bounded. Each outcome is its own, so that a bad photo holds nobody up and a kill at any line repeats at most what
/// was in flight.
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
    private let batchSize: Int
    private let largestGrouped: Int64
    private let groupWidth: Int
    let work: Wakeup
    private let passes: Wakeup?
    let looks: DiskLooks
    let gate: CircuitBreaker
    let time: TimeSource
    let logger: Logger
    let state = Mutex(PipelineState())
    /// One failure at a time is judged, so that each verdict is written down before the next one.
    let judging = Slots(1)
    let suspects = Slots(1)
    /// One at a time notes how the store is.
    let noting = Slots(1)
    /// Photos in flight, those in files of events among them.
    private let flights: Flights
    let endings: EndingQueue

    /// - Parameters:
    ///   - versions: keeps earlier images of projects.
    ///   - pool: threads for reading, hashing and reducing; as many as there are cores.
    ///   - mostInFlight: so many may come to be in flight where that is faster; `nil` for no more than a batch.
    ///   - throttling: what the store's retries tell when it asks to slow down.
    ///   - work: signalled when the queue has got something new.
    ///   - passes: signalled when everything is stored, after work.
    ///   - looks: tell which folders do not answer: their files would hold up the threads for all others.
    ///   - observe: called for each photo that is done with, from any thread.
    package init(
        ledger: LedgerQueue, store: any ObjectStore, preparer: Preparer, versions: ProjectVersions? = nil,
        pool: BlockingPool, batchSize: Int, mostInFlight: Int? = nil, throttling: Throttling? = nil, work: Wakeup,
        passes: Wakeup? = nil, looks: DiskLooks? = nil, time: TimeSource, logger: Logger,
        observe: @escaping @Sendable (PipelineEvent) -> Void
    ) {
        self.ledger = ledger
        self.store = store
        self.preparer = preparer
        let looks = looks ?? DiskLooks(time: time)
        self.looks = looks
        uploader = Uploader(ledger: ledger, store: store, versions: versions, now: time.now)
        flights = Flights(
            from: batchSize, to: mostInFlight ?? batchSize, throttling: throttling, clock: time.monotonic)
        events = EventFileUploader(
            ledger: ledger, preparer: preparer, uploader: uploader, reads: looks.reads, pool: pool, work: work,
            suspects: suspects, slots: flights.slots)
        self.pool = pool
        largePool = pool.sibling(name: "large-file", threads: 1)
        otherPool = pool.sibling(name: "other-folder", threads: Self.othersAtOnce)
        self.batchSize = batchSize
        largestGrouped = store.capabilities.largestGrouped
        groupWidth = largestGrouped > 0 ? Self.mostGrouped : 0
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
        let claims = AsyncChannel<[Claim]>()
        let largeClaims = AsyncChannel<Claim>()
        let prepared = AsyncChannel<PreparedFile>()
        let small = AsyncChannel<PreparedFile>()
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
                    defer {
                        prepared.finish()
                        small.finish()
                    }
                    let handOn: HandOn = { file in await (self.isGrouped(file) ? small : prepared).send(file) }
                    try await self.besideSlowDisks(handOn) {
                        try await self.inParallel(self.batchSize) {
                            for await group in claims where !self.isStopping {
                                try await self.prepare(group, handOn: handOn)
                            }
                        }
                    }
                }
                group.addTask {
                    try await self.withinGrace {
                        try await self.inParallel(self.flights.most) {
                            var files = prepared.makeAsyncIterator()
                            // Who is no more than waiting for a hand takes nothing: it would be prepared too far ahead.
                            while try await self.flights.hands.withSlot({
                                guard let file = await files.next() else { return false }
                                try await inTaskOfItsOwn { try await self.upload(file, mode) }
                                return true
                            }) {}
                        } beside: {
                            // Large files, each from its reading to its commit before the next.
                            for await claim in largeClaims where !self.isStopping {
                                try await self.prepare([claim]) { try await self.upload($0, mode) }
                            }
                        } and: {
                            try await self.inParallel(self.groupWidth) {
                                for await file in small {
                                    try await inTaskOfItsOwn { try await self.upload(file, mode) }
                                }
                            }
                        }
                    }
                    // Nobody takes what is handed over from here on.
                    prepared.finish()
                    small.finish()
                }
                try await group.waitForAllOrFirstFailure()
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

    // MARK: Claiming

    var isStopping: Bool { state.withLock { $0.isStopping } }

    private func feed(_ claims: AsyncChannel<[Claim]>, _ large: AsyncChannel<Claim>, _ mode: Mode) async throws {
        do {
            try await cancelWhenGracefulShutdown {
                _ = try await self.isRetryAsked()
                try await self.takeUpNote()
                try await self.lookAtStore(mode)
                while let group = try await self.nextGroup(mode) {
                    self.gate.beginTrial(group[0].photoID)
                    if group[0].isLarge {
                        await large.send(group[0])
                        continue
                    }
                    // A part for each thread: one that a strange file holds up holds up no more than its part.
                    let size = (group.count + self.batchSize - 1) / self.batchSize
                    for part in group.grouped(atMost: size) { await claims.send(part) }
                }
            }
        } catch is CancellationError {
            state.withLock { $0.isStopping = true }
        }
    }

    /// Waits until the store is there and a photo is due, and takes it, with others where they are small. A large one, and
    /// one that is to show whether the store accepts it, comes by itself.
    /// - Returns: `nil` when there is nothing more to do.
    private func nextGroup(_ mode: Mode) async throws -> [Claim]? {
        while true {
            try Task.checkCancellation()
            // What was not written stays in hand for ever: nobody else may come to notice.
            try endings.check()
            // What is in hand when the store refuses is on its way back into the queue, or shows that something is
            // taken. Whoever chose before that would try what was refused, one by one, until patience is over.
            let (isRefusing, tried) = (gate.isRefusing, gate.trial)
            if let wait = state.withLock({ $0.handInWait(isRefusing, tried, at: time.monotonic()) }) {
                await work.wait(atMost: wait, time: time)
                continue
            }
            guard try await passGate(mode) else { return nil }
            if let trial = gate.trial, !state.withLock({ $0.isPassedOver(trial) }) {
                await work.wait(atMost: nil, time: time)
                continue
            }
            // Asked first: what is in hand may come back into the queue, and must not do so between the two questions.
            let isIdle = state.withLock { $0.inHand.isEmpty }
            let glance = await isIdle && !mode.isPass ? LedgerGlance(ledger, time: time) : nil
            let due: Date?
            let leftOut = looks.silent()
            let group: ClaimGroup = gate.closedBy == nil ? .ofSmall : .ofOne
            switch try await claimNext(group, leavingOut: leftOut) {
            case .photos(let claims): return claims
            case .nothing(let moment): due = moment
            }
            if try await hurryAnswered() { continue }
            let wait = due.map { max($0 - time.now(), .zero) }
            if wait == .zero { continue }
            if isIdle {
                if case .untilDone(let patience) = mode {
                    if let pause = waitForDisks(patience) {
                        // What comes due meanwhile does not wait for them.
                        await work.wait(atMost: min(pause, wait ?? pause), time: time)
                        continue
                    }
                    let now = time.monotonic()
                    guard let wait, now + wait <= state.withLock({ $0.deadline(at: now, patience) }) else {
                        if try await beginRound(patience) { continue }
                        return nil
                    }
                }
                // A pass is whole when whoever asked for it says so.
                if case .untilStopped = mode {
                    if state.withLock({ $0.takeRescan() }) {
                        try await lookAtStore(mode)
                        continue
                    }
                    try await noteAllDone(isEmpty: due == nil && leftOut.isEmpty)
                }
            }
            await waitForWork(mode, until: due, glance)
        }
    }

    /// - Parameter bytes: of the largest file that is taken.
    func claimNext(
        _ group: ClaimGroup, upTo bytes: Int64 = .max, leavingOut folders: Set<FolderID>
    ) async throws -> NextClaim {
        let (scope, reach, isFlowing) = state.withLock { ($0.scope, min($0.reach, bytes), $0.isFlowing) }
        let now = time.now()
        return try await ledger { [state] ledger in
            let next = try ledger.claimNext(
                of: scope, upTo: reach, group, isExpected: isFlowing, leavingOut: folders, at: now)
            // Noted here, where no cancellation comes between: what is claimed is in hand.
            state.withLock { $0.note(next) }
            return next
        }
    }

    /// Once for each time that nothing is left in the queue, or only images whose projects are still processing.
    private func noteAllDone(isEmpty: Bool) async throws {
        guard state.withLock({ $0.isWholeAfterWork }) else { return }
        try await endDoubt()
        if !isEmpty {
            let isLeft = try await ledger { try $0.isAnythingUnsynced() }
            if isLeft { return }
        }
        guard state.withLock({ $0.noteWhole() }) else { return }
        try await ledger { [time] in try $0.noteSync(at: time.now()) }
        passes?.signal()
    }

    // MARK: Uploading

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
        } catch let error as PhotoError {
            try await end(claim, outcome(of: error, for: claim))
        } catch let silence as DiskSilence {
            try await end(claim, putOff(claim, silence))
        }
    }

    /// Whether the store puts it together with others: they go past those that are sent one by one.
    private func isGrouped(_ file: PreparedFile) -> Bool {
        guard case .photo(let photo) = file.content, groupWidth > 0, !file.claim.isLarge else { return false }
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
