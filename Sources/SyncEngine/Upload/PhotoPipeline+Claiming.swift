import FoundationEssentials
import ServiceLifecycle
import SyncCore
import SyncLedger
import SyncSystem

/// Who takes photos from the ledger's queue: those who prepare them, one at a time. Whoever has the turn waits for what
/// comes next, the others wait for the turn; so a photo that comes alone wakes the task that sees it to its end.
extension PhotoPipeline {
    /// What is known before the first claim: how the store was, and how it is.
    func takeUpStoreState(_ mode: Mode) async throws {
        _ = try await isRetryAsked()
        try await takeUpNote()
        try await checkStore(mode)
    }

    /// Waits for its turn, and for a photo that is due.
    /// - Returns: what one task prepares: a photo, or a part of a group; `nil` when there is nothing more to do.
    func nextClaims(_ mode: Mode) async throws -> [Claim]? {
        try await claiming.withSlot {
            if isStopping || state.withLock({ $0.isDrained }) { return nil }
            if let part = state.withLock({ $0.takePart() }) { return part }
            let found = try await untilStopped { try await self.nextGroup(mode) }
            guard let found, let group = found else {
                state.withLock { $0.isDrained = true }
                return nil
            }
            gate.beginTrial(group[0].photoID)
            // A part for each thread: one that a strange file holds up holds up no more than its part.
            let size = (group.count + batchSize - 1) / batchSize
            return state.withLock { state in
                state.addParts(group.grouped(atMost: size))
                return state.takePart()
            }
        }
    }

    /// Runs what begins nothing more once the agent stops.
    /// - Returns: `nil` when it was ended by that.
    @discardableResult
    func untilStopped<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value? {
        do {
            return try await cancelWhenGracefulShutdown(work)
        } catch is CancellationError {
            state.withLock { $0.isStopping = true }
            return nil
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
            let leftOut = watchdog.silent()
            // Of a disk that is back, the ledger need not tell.
            let isGlanceEnough = state.withLock { $0.inHand.isEmpty } && leftOut.isEmpty && !mode.isPass
            let glance = await isGlanceEnough ? LedgerGlance(ledger, time: time) : nil
            let group: ClaimGroup = gate.closedBy == nil ? .ofSmall : .ofOne
            let (next, isIdle) = try await claimNext(group, leavingOut: leftOut)
            let due: Date?
            switch next {
            case .photos(let claims): return claims
            case .nothing(let moment): due = moment
            }
            if try await makeAnsweredDue() { continue }
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
                        try await checkStore(mode)
                        continue
                    }
                    try await noteAllDone(isEmpty: due == nil && leftOut.isEmpty)
                }
            }
            await waitForWork(mode, until: due, glance)
        }
    }

    /// - Parameter bytes: of the largest file that is taken.
    /// - Returns: also whether nothing was in hand then: what is in hand may come back into the queue.
    func claimNext(
        _ group: ClaimGroup, upTo bytes: Int64 = .max, leavingOut folders: Set<FolderID>
    ) async throws -> (next: NextClaim, isIdle: Bool) {
        let now = time.now()
        return try await ledger { [state, endings] ledger in
            try endings.betweenGroups {
                // Asked here: whether a film may be taken, and whether nothing is in hand, is of one moment.
                let (scope, reach, isFlowing) = state.withLock { ($0.scope, min($0.reach, bytes), $0.isFlowing) }
                let next = try ledger.claimNext(
                    of: scope, upTo: reach, group, isExpected: isFlowing, leavingOut: folders, at: now)
                // Noted here, where no cancellation comes between: what is claimed is in hand.
                return state.withLock { state in
                    state.note(next)
                    return (next, state.inHand.isEmpty)
                }
            }
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
}
