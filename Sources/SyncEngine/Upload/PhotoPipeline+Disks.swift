import SyncCore
import SyncLedger
import SyncSystem

/// Disks that are slow, or silent for a while: what the photos of other folders do then.
extension PhotoPipeline {
    /// So many slow disks hold up no photo of another folder, beside the one that has all the other threads.
    static let othersAtOnce = 3

    // MARK: Slow ones

    /// A disk that is slow, and answers, has all threads for minutes where enough of its files are due. So while one is
    /// slow, a photo of each folder that has no thread is read beside the others, on threads of their own.
    /// - Parameter inOrder: takes those that come in the order of the queue, until there are none.
    func besideSlowDisks(_ mode: Mode, _ inOrder: @escaping @Sendable () async throws -> Void) async throws {
        let isOver = Lock(false)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer {
                    isOver.withLock { $0 = true }
                    self.watchdog.reads.checked.signal()
                }
                try await inOrder()
            }
            group.addTask { try await self.drainOthers(mode) { isOver.withLock { $0 } } }
            try await group.waitForAllOrFirstFailure()
        }
    }

    private func drainOthers(_ mode: Mode, until isOver: @Sendable () -> Bool) async throws {
        let inHand = Lock<Set<FolderID>>([])
        let failure = Lock<(any Error)?>(nil)
        // The first one counts: it has the others cancelled, which tell no more than that.
        let noteFailure: @Sendable (any Error) -> Void = { error in failure.withLock { $0 = $0 ?? error } }
        let checked = watchdog.reads.checked
        await withDiscardingTaskGroup { group in
            while !isOver(), !Task.isCancelled, failure.withLock({ $0 == nil }) {
                do {
                    guard let claim = try await claimBesideSlow(leavingOut: inHand.withLock { $0 }) else {
                        await checked.wait(atMost: nil, time: time)
                        continue
                    }
                    inHand.withLock { _ = $0.insert(claim.folder.id) }
                    let noteRead: @Sendable () -> Void = {
                        inHand.withLock { _ = $0.remove(claim.folder.id) }
                        checked.signal()
                    }
                    group.addTask {
                        do {
                            try await self.carry([claim], on: self.otherPool, mode, onceReady: noteRead)
                        } catch {
                            noteFailure(error)
                            checked.signal()
                        }
                    }
                } catch {
                    noteFailure(error)
                }
            }
            if failure.withLock({ $0 != nil }) { group.cancelAll() }
        }
        if let error = failure.withLock({ $0 }) { throw error }
    }

    /// - Returns: `nil` while no disk is slow, or no photo of another folder is due.
    private func claimBesideSlow(leavingOut inHand: Set<FolderID>) async throws -> Claim? {
        // The photos of one vacation are taken whatever their folder.
        guard !isStopping, gate.closedBy == nil, !gate.isRefusing, state.withLock({ $0.scope == nil }),
            let reading = watchdog.reads.foldersBesideSlow
        else { return nil }
        let leftOut = reading.union(inHand).union(watchdog.silent())
        let next = try await claimNext(.ofOne, upTo: Self.largestSmall, leavingOut: leftOut).next
        guard case .photos(let claims) = next else { return nil }
        return claims.first
    }

    // MARK: Silent ones

    /// What waits for a disk is tried once more when that answers and nothing else is due, and not when its pause is
    /// over.
    func putOff(_ claim: Claim, _ silence: DiskSilence) -> Outcome {
        state.withLock { $0.silenced.note(claim) }
        return preparer.postponed(claim, silence.error)
    }

    /// Makes due what was put off for disks that answer again.
    /// - Returns: whether there is any.
    func makeAnsweredDue() async throws -> Bool {
        guard state.withLock({ !$0.silenced.isEmpty }) else { return false }
        let silent = watchdog.silent()
        let answered = state.withLock { $0.takeAnswered(silent) }
        if !answered.isEmpty { try await ledger { [time] in try $0.makeDue(answered, at: time.now()) } }
        return !answered.isEmpty
    }

    /// How long a pass that has nothing else to do still waits for disks that may just be waking up.
    /// - Parameter patience: its own, for what comes due again; without any, it does not wait.
    func waitForDisks(_ patience: Duration) -> Duration? {
        guard patience > .zero, gate.closedBy == nil, watchdog.isPausing else { return nil }
        let now = time.monotonic()
        return state.withLock { $0.silenced.wait(at: now) }
    }
}

/// Photos that were put off because the disk of their folder was silent, by their ids.
struct SilencedPhotos: Sendable {
    private var waiting: [Int64: FolderID] = [:]
    /// Those that were tried once more already: what holds its disk each time has its pauses.
    private var retried: Set<Int64> = []
    /// When a pass stops waiting for disks.
    private var deadline: Duration?

    var isEmpty: Bool { waiting.isEmpty }

    mutating func note(_ claim: Claim) {
        if !retried.contains(claim.photoID) { waiting[claim.photoID] = claim.folder.id }
    }

    /// The work on it has ended.
    mutating func forget(_ photo: Int64) {
        waiting[photo] = nil
        retried.remove(photo)
    }

    /// Those to be tried now.
    /// - Parameter inHand: what is on its way back into the queue comes later.
    mutating func takeAnswered(_ silent: Set<FolderID>, inHand: Set<Int64>) -> [Int64] {
        let answered = waiting.filter { !silent.contains($0.value) && !inHand.contains($0.key) }.keys.sorted()
        for photo in answered { waiting[photo] = nil }
        retried.formUnion(answered)
        return answered
    }

    mutating func wait(at now: Duration) -> Duration? {
        let deadline = self.deadline ?? now + DiskWatchdog.patience
        self.deadline = deadline
        return now < deadline ? deadline - now : nil
    }
}
