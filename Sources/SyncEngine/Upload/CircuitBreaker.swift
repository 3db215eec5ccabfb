package import SyncCore
package import SyncLedger
import SyncSystem

/// Holds the queue back while the store as a whole takes nothing, and lets it go on by itself.
///
/// Photos are not to blame for an outage, so none of them loses a try to it. Two things close the gate: a store that does
/// not answer well when it is asked (it is *away*), and one that answers well and has refused several keys in a row in
/// the same way, with none accepted in between (it is *refusing*: a full disk, a right that was taken back). From then on
/// one cheap check after each pause decides whether it is back; a store that was refusing has to accept a photo, too, and
/// photos are sent one at a time until it does. That it is away in between changes nothing about it.
///
/// A single key that is refused while the store answers well is its own fault, and closes nothing; nor does a file
/// system that denies some keys in a pass in which it has taken others.
package final class CircuitBreaker: Sendable {
    /// So many different keys that are refused in a row are no accident.
    package static let mostRefusals = 3
    /// A photo that was tried more often says nothing about the store any more, only about itself.
    fileprivate static let witnessAttempts = 3
    /// How soon somebody who asks for another try is heard.
    private static let ear = Duration.seconds(5)

    package enum Verdict: Hashable, Sendable {
        /// The photo waits, the others go on.
        case key
        /// The store is at fault: the photo goes back to the queue untried.
        case store
        /// As well, and the gate was closed by it: the one moment to tell somebody.
        case closed(Closing)
    }

    package struct Closing: Hashable, Sendable {
        package let error: StoreError
        /// Refused before, and postponed for it, while it seemed that their keys were at fault.
        package let innocent: [Claim]
        /// The keys that were refused; none when the store is away.
        package let keys: [String]
    }

    package enum Passage: Hashable, Sendable {
        case wasOpen
        /// The store is back: the one moment to tell somebody.
        case opened
        /// One photo may go, to see whether it is accepted.
        case oneMayGo
        /// Patience was over before.
        case stayedClosed
    }

    package enum Acceptance: Hashable, Sendable {
        /// Nobody had doubted it.
        case expected
        /// The store was in doubt (``doubt()``), and takes photos.
        case proof
        /// The gate was opened by it: the one moment to tell somebody.
        case opened
    }

    fileprivate enum Phase: Equatable {
        case open
        case closed
        /// The store answers well; whether it accepts anything is not known.
        case halfOpen
        /// The one photo that is to show it.
        case trial(Int64)
    }

    fileprivate struct State {
        var phase = Phase.open
        /// Pauses since something was accepted.
        var failures = 0
        var error: StoreError?
        /// Until something is accepted, whatever else the store answers meanwhile.
        var isRefusing = false
        /// As of ``CircuitBreaker/isInDoubt``.
        var isInDoubt = false
        var spell = FailingSpell()
        var closedAt: Duration?
        /// In a row, with nothing accepted in between.
        var refusals: [(claim: Claim, error: StoreError)] = []
        /// Photos that were refused while the store accepted others: it will not be suspected for them again.
        var guilty: Set<Int64> = []
        /// Whether a photo was accepted since the pass began. An agent has none that ends: what it stored days ago tells
        /// nothing of a right that was taken back since.
        var hasAccepted = false
        var isPass = false
    }

    private let state = Lock(State())
    private let time: TimeSource

    package init(time: TimeSource) {
        self.time = time
    }

    /// A run begins: what was accepted before it tells nothing about the store as it is now.
    /// - Parameter isPass: whether it ends when all is done.
    package func beginRun(isPass: Bool) { state.withLock { ($0.hasAccepted, $0.isPass) = (false, isPass) } }

    /// Whether it is closed for a store that has refused several keys, and has accepted none since.
    package var isRefusing: Bool { state.withLock { $0.isRefusing } }

    /// Whether an earlier run has met a store that refused its photos, one fails for long, or one has no room, and it has
    /// taken none since.
    package var isInDoubt: Bool { state.withLock { $0.isInDoubt } }

    /// An earlier run has met a store that refused its photos, or a photo has met one without room: that it answers does
    /// not prove that it takes photos.
    package func doubt() { state.withLock { $0.isInDoubt = true } }

    /// Nothing waits any more that the store has refused, or has failed at: the next photos tell how it is.
    package func trust() { state.withLock { ($0.isInDoubt, $0.spell) = (false, FailingSpell()) } }

    /// Why the gate is not open; `nil` while it is.
    package var closedBy: StoreError? { state.withLock { $0.error } }

    /// The photo that is on its way to show whether the store accepts; `nil` while none is.
    package var trial: Int64? {
        state.withLock { state -> Int64? in
            guard case .trial(let photo) = state.phase else { return nil }
            return photo
        }
    }

    /// Whether a photo that is ready may be sent now.
    package func mayGo(_ photo: Int64) -> Bool {
        state.withLock { $0.phase == .open || $0.phase == .trial(photo) }
    }

    // MARK: What photos meet

    /// The store has taken something: the next outage begins with a short pause again. A check that succeeds does not
    /// prove as much (a full disk answers well to everything but a put).
    @discardableResult
    package func noteAccepted(_ photo: Int64) -> Acceptance {
        state.withLock { state in
            state.failures = 0
            state.hasAccepted = true
            state.spell = FailingSpell()
            state.guilty.formUnion(state.refusals.map(\.claim.photoID))
            state.guilty.remove(photo)
            state.refusals = []
            let wasInDoubt = exchange(&state.isInDoubt, with: false)
            guard state.isRefusing else { return wasInDoubt ? .proof : .expected }
            state.open()
            return .opened
        }
    }

    /// A photo has met a failure that may pass. It closes nothing.
    /// - Returns: how long the store has taken none, once that is long (``FailingSpell``): then it is in doubt.
    func noteFailing(_ photo: Int64) -> Duration? {
        state.withLock { state -> Duration? in
            guard let span = state.spell.note(photo, at: time.monotonic()) else { return nil }
            state.isInDoubt = true
            return span
        }
    }

    /// Closes the gate, for a store that is away.
    /// - Returns: `nil` when it was closed before.
    @discardableResult
    package func close(_ error: StoreError) -> Closing? {
        state.withLock { state in
            let innocent = state.refusals.map(\.claim)
            state.refusals = []
            let isNews = state.error == nil
            state.close(error, isRefusing: false, at: time.monotonic())
            return isNews ? Closing(error: error, innocent: innocent, keys: []) : nil
        }
    }

    /// Decides about a request that was refused while the store answered well.
    package func judge(_ claim: Claim, _ error: StoreError) -> Verdict {
        state.withLock { state in
            switch state.phase {
            case .trial(claim.photoID):
                state.close(error, isRefusing: true, at: time.monotonic())
                return .key
            case .closed, .halfOpen, .trial:
                return .store
            case .open:
                return state.suspect(claim, error, at: time.monotonic())
            }
        }
    }

    /// The photo that is sent to see whether the store accepts it, in the place of one that does not get ready.
    package func beginTrial(_ photo: Int64) {
        state.withLock { state in
            switch state.phase {
            case .open, .closed: break
            case .halfOpen, .trial: state.phase = .trial(photo)
            }
        }
    }

    /// The photo is done with. When nothing was learned from it, another one may go.
    package func endTrial(_ photo: Int64) {
        state.withLock { state in
            if state.phase == .trial(photo) { state.phase = .halfOpen }
        }
    }

    // MARK: Waiting

    /// Returns when the gate is open or one photo may go: at once, or after `check` has succeeded.
    /// - Parameters:
    ///   - patience: since the gate was closed; `nil` to wait for ever.
    ///   - isUrgent: asked every few seconds; when it says so, the pause is over.
    /// - Throws: `CancellationError`, what `isUrgent` throws.
    package func pass(
        within patience: Duration? = nil, isUrgent: (() async throws -> Bool)? = nil, check: () async throws -> Void
    ) async throws -> Passage {
        while true {
            let (phase, failures, closedAt) = state.withLock { state in
                if state.phase == .closed { state.failures += 1 }
                return (state.phase, state.failures, state.closedAt)
            }
            switch phase {
            case .open: return .wasOpen
            case .halfOpen, .trial: return .oneMayGo
            case .closed: break
            }
            // Between half the backoff and the whole of it: never at once, never all agents together.
            let pause = RetryPolicy.outage.delay(afterAttempt: failures, random: 0.5 + time.random() / 2)
            if let patience, let closedAt, time.monotonic() + pause > closedAt + patience { return .stayedClosed }
            try await sleep(pause, unless: isUrgent)
            do {
                try await check()
                return state.withLock { $0.noteGoodAnswer() }
            } catch let error as StoreError {
                state.withLock { $0.close(error, isRefusing: false, at: time.monotonic()) }
            }
        }
    }

    private func sleep(_ pause: Duration, unless isUrgent: (() async throws -> Bool)?) async throws {
        guard let isUrgent else { return try await time.sleep(pause) }
        var left = pause
        while left > .zero {
            try await time.sleep(min(left, Self.ear))
            left -= Self.ear
            if try await isUrgent() { return }
        }
    }
}

extension CircuitBreaker.State {
    fileprivate mutating func open() {
        phase = .open
        error = nil
        isRefusing = false
        closedAt = nil
    }

    fileprivate mutating func close(_ error: StoreError, isRefusing: Bool, at now: Duration) {
        phase = .closed
        self.error = error
        self.isRefusing = isRefusing || self.isRefusing
        closedAt = closedAt ?? now
    }

    fileprivate mutating func noteGoodAnswer() -> CircuitBreaker.Passage {
        switch phase {
        case .open: return .wasOpen
        case .closed where isRefusing:
            phase = .halfOpen
            return .oneMayGo
        case .closed:
            open()
            return .opened
        case .halfOpen, .trial: return .oneMayGo
        }
    }

    fileprivate mutating func suspect(_ claim: Claim, _ error: StoreError, at now: Duration) -> CircuitBreaker.Verdict {
        // A file system that takes photos and answers well denies a key, and not the store: else a pass whose last
        // photos are such ones would end as one that could not use the store.
        if error.isDenialOfKey, hasAccepted, isPass { return .key }
        if guilty.contains(claim.photoID) || claim.attempts > CircuitBreaker.witnessAttempts { return .key }
        if let last = refusals.last, last.error.code != error.code { refusals = [] }
        refusals.removeAll { $0.claim.photoID == claim.photoID }
        refusals.append((claim, error))
        guard refusals.count >= CircuitBreaker.mostRefusals else { return .key }
        let closing = CircuitBreaker.Closing(
            error: error, innocent: refusals.dropLast().map(\.claim), keys: refusals.compactMap(\.error.key))
        refusals = []
        close(error, isRefusing: true, at: now)
        return .closed(closing)
    }
}

extension StoreError {
    /// Whether the file system of this machine denies one key.
    fileprivate var isDenialOfKey: Bool { code == .accessDenied && isOfThisMachine && key != nil }
}

/// Since when a store has failed at each photo in a way that may pass (`SlowDown`, 500, a connection that breaks),
/// though it answers well when it is asked. That closes no gate, as each photo is tried again by itself; where it
/// lasts, people have to know that nothing is stored.
struct FailingSpell: Hashable, Sendable {
    /// Servers that are busy, or are being updated, take minutes.
    static let patience = Duration.seconds(15 * 60)
    /// What fails is tried again within an hour: who has met nothing for longer had nothing to send.
    private static let longestGap = Duration.seconds(2 * 3_600)

    private var since: Duration?
    private var last: Duration?
    /// As many as are no accident.
    private var photos: Set<Int64> = []
    private var isTold = false

    /// - Parameter now: by a clock that only goes forward.
    /// - Returns: how long it lasts, once that is long: the one moment to tell somebody.
    mutating func note(_ photo: Int64, at now: Duration) -> Duration? {
        if let last, now - last > Self.longestGap { self = FailingSpell() }
        let begin = since ?? now
        (since, last) = (begin, now)
        if photos.count < CircuitBreaker.mostRefusals { photos.insert(photo) }
        guard !isTold, photos.count == CircuitBreaker.mostRefusals, now - begin >= Self.patience else { return nil }
        isTold = true
        return now - begin
    }
}

extension StoreError {
    /// Whether a server has failed at a photo, or the way to it, and may take the same photo a moment later.
    var isOfBusyServer: Bool { [.throttled, .serverFailed, .connectionLost].contains(code) }
}
