import FoundationEssentials
package import Logging
import ServiceLifecycle
package import SyncCore
package import SyncLedger
import SyncSystem

/// The one loop of the services that look now and then: a round, a pause, the next round, until the agent is told to stop.
/// What one of them survives, all survive: a ledger that is away (``LedgerPatience``), a store that is away, and what no
/// round should have let out, with longer and longer pauses. Only a ledger that waiting does not mend ends them.
///
/// A round may be cancelled at any moment: what it has begun is in the ledger or is seen by the next one, also after a
/// start.
struct ServiceLoop: Sendable {
    /// What comes after a round.
    enum Next: Sendable {
        case round(after: Duration)
        /// When the ledger may have changed since a glance from before the round has read it (``glance()``), which is
        /// looked at every so often, or as soon as there is work; for rounds that left nothing to be done.
        case change(since: LedgerGlance, every: Duration, orFor: Wakeup? = nil)
        /// As soon as there is work, and after so long at the latest.
        case work(Wakeup, atMost: Duration)
        /// The round has to be made up: the longer, the more of them in a row.
        case retry(atLeast: Duration, atMost: Duration = .seconds(86_400))
    }

    /// For the log: `restores`.
    let name: String
    /// The least pause after a round that the store has failed.
    let interval: Duration
    let patience: LedgerPatience
    let time: TimeSource

    /// - Parameters:
    ///   - state: what the first round begins with, and each one leaves for the next.
    ///   - round: throws ``StoreError`` when the store is away.
    /// - Throws: ``LedgerError`` that does not pass.
    func run<State: Sendable>(
        _ state: State, _ round: @escaping @Sendable (inout State) async throws -> Next
    ) async throws {
        do {
            try await cancelWhenGracefulShutdown {
                var state = state
                var failures = 0
                var fault: String?
                while true {
                    let next = try await self.next(&fault) { try await round(&state) }
                    if case .retry = next { failures += 1 } else { failures = 0 }
                    try await self.pause(next, failures)
                }
            }
        } catch is CancellationError {
            // Told to stop.
        }
    }

    /// For rounds that leave nothing for the next one.
    func run(_ round: @escaping @Sendable () async throws -> Next) async throws {
        try await run(()) { _ in try await round() }
    }

    /// For a round to begin with that may wait for a change: what is written while it reads is new.
    func glance() async -> LedgerGlance { await LedgerGlance(patience.ledger, time: time) }

    /// - Parameter fault: what the last round has failed with, when that was no outage. It is told once in a row.
    private func next(_ fault: inout String?, _ round: () async throws -> Next) async throws -> Next {
        do {
            let next = try await patience.riding(name, round)
            fault = nil
            return next
        } catch let error as StoreError {
            patience.logger.debug("\(name) wait for the store: \(error)")
            return .retry(atLeast: interval)
        } catch let error where !error.isOfLedgerOrStop {
            let words = "\(error)"
            if words == fault {
                patience.logger.debug("\(name): \(words)")
            } else {
                patience.logger.warning("\(name): \(words); it is tried again, and the agent goes on with all else")
            }
            fault = words
            return .retry(atLeast: interval)
        }
    }

    private func pause(_ next: Next, _ failures: Int) async throws {
        switch next {
        case .round(let duration):
            try await time.sleep(duration)
        case .change(let glance, let interval, let wakeup):
            await glance.wait(lookingEvery: interval, orFor: wakeup ?? Wakeup())
            try Task.checkCancellation()
        case .work(let wakeup, let longest):
            await wakeup.wait(atMost: longest, time: time)
            try Task.checkCancellation()
        case .retry(let shortest, let longest):
            let delay = RetryPolicy.outage.delay(afterAttempt: failures, random: 0.5 + time.random() / 2)
            try await time.sleep(min(max(shortest, delay), longest))
        }
    }
}

extension Error {
    /// Of work for one of many, a share or a job: whether the next one need not fail by it, too. None can be done when the
    /// ledger or the store as a whole is away, and none is to be when the agent is told to stop.
    package var mayConcernOneItem: Bool {
        if isOfLedgerOrStop { return false }
        return (self as? StoreError)?.mayConcernOneObject ?? true
    }

    /// Whether nothing can be noted of it, or is to be: the ledger is away, or somebody said to stop.
    var isOfLedgerOrStop: Bool { self is CancellationError || self is LedgerError }
}

/// The watching half of the agent as a service: from the folders into the queue.
package struct IntakeService: Service {
    private let intake: Intake
    private let onWatching: @Sendable () async -> Void

    /// - Parameter onWatching: called once, when every change from now on will be seen; the moment of readiness.
    package init(_ intake: Intake, onWatching: @escaping @Sendable () async -> Void) {
        self.intake = intake
        self.onWatching = onWatching
    }

    package func run() async throws {
        do {
            try await cancelWhenGracefulShutdown { try await intake.run(onWatching: onWatching) }
        } catch is CancellationError {
            // Whatever was not settled yet is found by the scan of the next start.
        }
    }
}

/// The storing half of the agent as a service: from the queue into the store.
package struct UploadService: Service {
    private let pipeline: PhotoPipeline
    private let patience: LedgerPatience

    package init(_ pipeline: PhotoPipeline, patience: LedgerPatience) {
        self.pipeline = pipeline
        self.patience = patience
    }

    package func run() async throws {
        do {
            try await patience.riding("uploads") { try await pipeline.run(.untilStopped) }
        } catch is CancellationError {
            // What was in hand is given back by the next start.
        }
    }
}

/// What the agent does while its ledger cannot be used: a full disk, a drive that fails, another process that writes for
/// long. The one home of it, for all services: each goes on with its work when the ledger can be used again, and it is
/// told once, with the remedy, however many of them meet it.
///
/// Nothing is lost meanwhile. What was in hand is in hand still or begins anew; what was not written down is found again,
/// by the scan with which the intake goes on.
package final class LedgerPatience: Sendable {
    /// From a second to half a minute: a look at the ledger costs nothing.
    private static let pauses = RetryPolicy(maximumAttempts: .max, base: .seconds(1), ceiling: .seconds(30))
    /// What goes well for so long was no part of the trouble before.
    private static let calm = Duration.seconds(60)
    /// A ledger that comes and goes is not told of more often.
    private static let quiet = Duration.seconds(600)
    /// Another process may write for some seconds; that is nothing to tell.
    private static let busyAttempts = 3

    private struct State {
        var isAway = false
        var isTold = false
        var toldAt: Duration?
    }

    let ledger: LedgerQueue
    private let time: TimeSource
    let logger: Logger
    private let state = Lock(State())

    package init(ledger: LedgerQueue, time: TimeSource, logger: Logger) {
        self.ledger = ledger
        self.time = time
        self.logger = logger
    }

    /// Runs `work`; when the ledger fails it, waits until the ledger can be written, and runs it again.
    /// - Parameter what: what waits, for the log: `uploads`.
    /// - Throws: what `work` throws, but ``LedgerError`` that may pass; `CancellationError`, also when the agent is told
    ///   to stop while the ledger is away.
    package func riding<Value>(
        _ what: String, isolation: isolated (any Actor)? = #isolation, _ work: () async throws -> Value
    ) async throws -> Value {
        var failures = 0
        while true {
            let start = time.monotonic()
            do {
                return try await work()
            } catch let error as LedgerError where error.mayPass {
                try Task.checkCancellation()
                failures = time.monotonic() - start >= Self.calm ? 1 : failures + 1
                log(error, what, failures)
                failures = try await waitForLedger(what, failures)
            }
        }
    }

    /// - Returns: how often it was found to be away by now.
    private func waitForLedger(_ what: String, _ failures: Int) async throws -> Int {
        try await cancelWhenGracefulShutdown {
            var failures = failures
            while true {
                try await self.time.sleep(
                    Self.pauses.delay(afterAttempt: failures, random: 0.5 + self.time.random() / 2))
                do {
                    try await self.ledger { try $0.checkUsable() }
                    self.logRecovery()
                    return failures
                } catch let error as LedgerError where error.mayPass {
                    failures += 1
                    self.log(error, what, failures)
                }
            }
        }
    }

    private func log(_ error: LedgerError, _ what: String, _ failures: Int) {
        if error.code == .busy, failures < Self.busyAttempts {
            return logger.debug("\(what): the ledger is busy: \(error)")
        }
        let now = time.monotonic()
        let isNews = state.withLock { state in
            if state.isAway { return false }
            state.isAway = true
            if let last = state.toldAt, now - last < Self.quiet { return false }
            state.isTold = true
            state.toldAt = now
            return true
        }
        guard isNews else { return logger.debug("\(what): \(error)") }
        logger.warning(
            """
            the ledger cannot be used, \(what) and all else wait: \(error). What is in the folders is not lost; the agent \
            goes on by itself as soon as it can
            """)
    }

    private func logRecovery() {
        let isNews = state.withLock { state in
            defer { (state.isAway, state.isTold) = (false, false) }
            return state.isTold
        }
        if isNews { logger.notice("the ledger can be used again, the agent goes on") }
    }
}

/// What is left alone for a while because something of it did not work: each time in a row for twice as long. One odd answer
/// of a store costs little; what is refused for ever is asked for now and then.
struct Rests<Key: Hashable & Sendable, Attempt: Hashable & Sendable>: Sendable {
    private struct Rest {
        let attempt: Attempt
        let from: Date
        let length: TimeInterval
    }

    private var rests: [Key: Rest] = [:]

    /// Whether the same attempt rests. One of another kind, or with other means, is made at once.
    func holds(_ key: Key, _ attempt: Attempt, at now: Date) -> Bool {
        guard let rest = rests[key], rest.attempt == attempt else { return false }
        // One that began later than now is of a clock that was set back since.
        return (0..<rest.length).contains(now.timeIntervalSince(rest.from))
    }

    /// Notes that an attempt failed.
    /// - Parameter lengths: seconds that it rests at first, and at most.
    /// - Returns: the seconds that it rests.
    @discardableResult
    mutating func add(
        _ key: Key, _ attempt: Attempt, at now: Date, for lengths: ClosedRange<TimeInterval>
    ) -> TimeInterval {
        let last = rests[key].flatMap { $0.attempt == attempt ? $0.length : nil }
        let length = min(last.map { $0 * 2 } ?? lengths.lowerBound, lengths.upperBound)
        rests[key] = Rest(attempt: attempt, from: now, length: length)
        return length
    }

    mutating func end(_ key: Key) { rests[key] = nil }
}
