import FoundationEssentials
import Logging
import SyncCore
import SyncLedger
import SyncSystem

/// A store that takes nothing, and whose fault it is when a photo cannot be sent: the store's or the key's. What is wrong
/// with the photo itself is found out before it is sent.
extension PhotoPipeline {
    // MARK: The store

    /// That an earlier run was refused its photos holds until the store takes one, or none waits: a new gate is open,
    /// and knows nothing of it. A mere outage is over with the first good answer.
    func takeUpNote() async throws {
        if try await ledger({ try $0.isStoreRefusing() }) { gate.doubt() }
    }

    /// A store that is away is told at the start, and not only when there is something to send.
    func checkStore(_ mode: Mode) async throws {
        do {
            try await store.check()
            try await noteAnswer()
        } catch let error as StoreError {
            try await report(gate.close(error), mode)
        }
    }

    /// - Returns: `false` when the store took nothing for as long as a pass has patience.
    func passGate(_ mode: Mode) async throws -> Bool {
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
            try await noteAnswer()
        case .stayedClosed:
            let error = gate.closedBy
            state.withLock { $0.outage = error }
            return false
        }
        return true
    }

    /// Whether people have asked for another try since it was looked at last.
    func isRetryAsked() async throws -> Bool {
        let asked = try await ledger { try $0.retriesAsked() }
        return state.withLock { $0.noteRetries(asked) }
    }

    // MARK: A photo

    /// Once the queue is empty but for what the store has refused, a pass tries that again, some times and for a while.
    /// - Returns: `false` when it has been tried enough.
    func beginRound(_ patience: Duration) async throws -> Bool {
        guard patience > .zero, gate.closedBy == nil else { return false }
        let now = time.monotonic()
        let random = 0.5 + time.random() / 2
        guard let round = state.withLock({ $0.rounds.next(at: now, patience, random: random) }) else { return false }
        logger.info("tried once more: \(round.photos.count.counted("photo")) that could not be sent")
        try await time.sleep(round.pause)
        try await ledger { [time] in try $0.makeDue(round.photos, at: time.now()) }
        return true
    }

    /// Whatever a server has against a photo, it waits and is tried again, less and less often: servers change their minds,
    /// and what stands between us and them says strange things for a moment. Only what is wrong with the photo is final.
    func fail(_ claim: Claim, _ error: StoreError, _ mode: Mode) async throws {
        try await judging.withSlot { try await settle(claim, error, mode) }
    }

    private func settle(_ claim: Claim, _ error: StoreError, _ mode: Mode) async throws {
        if error.mayConcernWholeStore, try await isStoreAtFault(claim, error, mode) {
            return try await commit(claim, .released)
        }
        if error.isOfBusyServer, let span = gate.noteFailing(claim.photoID) { try await report(error, lasting: span) }
        if error.code == .noSpace { try await reportFull(error, mode) }
        if case .untilDone = mode, error.code != .sourceChanged { state.withLock { $0.rounds.notePostponed(claim) } }
        let pause = RetryPolicy.pause(afterRefusal: claim.attempts, random: 0.5 + time.random() / 2)
        try await commit(
            claim, .postponed("\(error)", until: time.now() + pause), sent: SentCount(bytes: error.sentBytes),
            refusal: error.code)
    }

    /// The store has taken a photo, or shown that it has it.
    func noteAccepted(_ claim: Claim, _ sent: SentCount) async throws {
        guard sent.isStored else { return }
        switch gate.noteAccepted(claim.photoID) {
        case .expected: return
        case .proof: break
        case .opened: logger.notice("the store takes photos again, uploads go on")
        }
        try await noteStore()
    }

    /// One odd answer says nothing about the store: it is asked itself. A store that answers well, and refuses one key
    /// after the other, is at fault all the same.
    private func isStoreAtFault(_ claim: Claim, _ error: StoreError, _ mode: Mode) async throws -> Bool {
        if error.code == .credentialsMissing {
            try await report(gate.close(error.ofAll), mode)
            return true
        }
        // It was closed meanwhile; or nobody waits for the answer any more.
        if !gate.mayGo(claim.photoID) || isStopping { return true }
        do {
            try await store.check()
        } catch let answer as StoreError {
            // What was said to the photo may be said with more words than what is said to a check.
            let isAnswerClear = answer.isTransient || answer.isOfThisMachine
            try await report(gate.close(isAnswerClear ? answer : error.ofAll), mode)
            return true
        }
        switch gate.judge(claim, error) {
        case .key: return false
        case .store: return true
        case .closed(let closing):
            try await ledger { [time] in try $0.pardon(closing.innocent, at: time.now()) }
            try await report(closing, mode)
            return true
        }
    }

    /// - Parameter closing: `nil` when the gate was closed before.
    func report(_ closing: CircuitBreaker.Closing?, _ mode: Mode) async throws {
        guard let closing else { return }
        try await noteStore(closing.error)
        guard case .untilStopped = mode else {
            // A pass throws it when its patience is over, and whoever asked for the pass tells it.
            return logger.debug("the store cannot be used: \(closing.error)")
        }
        if closing.keys.isEmpty {
            logger.warning("the store cannot be used, uploads wait: \(closing.error)")
        } else {
            let keys = closing.keys.map(\.escapingControls).joined(separator: ", ")
            logger.warning(
                """
                the store answers well, and takes no photos: \(closing.error). It has refused \(keys); photos are tried one \
                at a time until one is taken
                """)
        }
    }

    /// The store answers well when it is asked, and fails at one photo after the other.
    private func report(_ error: StoreError, lasting span: Duration) async throws {
        try await noteDoubt(error, since: time.now() + (Duration.zero - span))
        let minutes = Int(span / .seconds(60)).counted("minute")
        logger.warning("the store has taken no photo for \(minutes), and each is tried again: \(error)")
    }

    /// A store without room says it of itself, whichever photo meets it: that is told with the first one. The gate stays
    /// open, since there may be room for what is smaller.
    private func reportFull(_ error: StoreError, _ mode: Mode) async throws {
        let isNews = !gate.isInDoubt && gate.closedBy == nil
        gate.doubt()
        try await noteDoubt(error)
        guard isNews, case .untilStopped = mode else { return }
        logger.warning("the store has no room for a photo, which is tried again: \(error)")
    }

    /// Notes what the store has against photos, though it answers well and nothing is held back.
    /// - Parameter since: when that began; `nil` for now.
    private func noteDoubt(_ error: StoreError, since: Date? = nil) async throws {
        try await noting.withSlot {
            // A photo that was taken meanwhile has told more, and so has a gate that is closed.
            guard gate.isInDoubt, gate.closedBy == nil else { return }
            try await ledger { [time] in
                try $0.noteStore(error: error.ofAll.description, isRefusal: true, at: time.now(), since: since)
            }
        }
    }

    /// A look at the store has found it well.
    func noteAnswer() async throws {
        guard gate.isInDoubt, gate.closedBy == nil else { return try await noteStore() }
        try await noting.withSlot {
            // A photo that was taken meanwhile has told more.
            guard gate.isInDoubt else { return }
            if try await ledger({ [time] in try $0.noteStoreAnswer(at: time.now()) }) { gate.trust() }
        }
    }

    /// What was left of the queue may have needed no put: then nothing has proved that the store takes photos, and none
    /// waits.
    func endDoubt() async throws {
        if gate.isInDoubt, gate.closedBy == nil { try await noteAnswer() }
    }

    /// Writes down what the gate says now. Whoever has closed it may come to this when a photo that was under way has opened
    /// it again, and has noted that: the last one to write tells how it is.
    /// - Parameter failure: counts as an error, whatever has come since.
    private func noteStore(_ failure: StoreError? = nil) async throws {
        try await noting.withSlot {
            let error = gate.closedBy
            // That it is away in between is no end of its refusal.
            let isRefusal = gate.isRefusing || gate.isInDoubt
            try await ledger { [time] in
                try $0.noteStore(
                    error: error?.description, reason: failure?.code, isRefusal: isRefusal, at: time.now())
            }
        }
    }
}

extension StoreError {
    /// Whether waiting for some seconds cannot help: it was found out on this machine, of the store as a whole. One key may be
    /// denied where others are not, and a disk that is away may just be mounted.
    var isCertain: Bool { code == .credentialsMissing || code == .accessDenied && isOfThisMachine && key == nil }

    /// As it holds for all photos: without the key of the one that met it.
    fileprivate var ofAll: StoreError {
        var error = self
        error.key = nil
        return error
    }
}
