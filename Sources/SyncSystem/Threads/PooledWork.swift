package import SyncCore

import struct Synchronization.Atomic

/// A piece of work that a ``BlockingPool`` has begun: whether it shall stop, and whether a library has it.
///
/// It is to a thread of a pool what `Task` is to async code, and found in the same way: a loop over a file of a terabyte
/// asks ``isCancelled`` however deep it lies, and needs no parameter for it. Code that runs on no pool is never cancelled.
package final class PooledWork: Sendable {
    @TaskLocal private static var current: PooledWork?

    private struct State {
        /// Steps may lie in one another; the outermost counts.
        var isInStep = false
        var isGivenUp = false
        /// Answers the caller while no thread is at the work yet.
        var withdrawal: (@Sendable (any Error) -> Void)?
        /// Answers the caller in place of the thread, and starts another thread for the pool.
        var answer: (@Sendable (any Error) -> Void)?
        var releases: [@Sendable () -> Void] = []
    }

    let flag = CancellationFlag()
    private let watch: StepWatch
    private let state = Lock(State())
    private let signsGiven = Atomic<Int>(0)
    private let waitsElsewhere = Atomic<Int>(0)

    init(_ watch: StepWatch) {
        self.watch = watch
    }

    /// Whether the work of this thread shall stop: its task was cancelled, or it was given up. Who asks gives a
    /// sign of life.
    package static var isCancelled: Bool {
        guard let current else { return false }
        current.signsGiven.wrappingAdd(1, ordering: .relaxed)
        return current.flag.isSet
    }

    /// The work of this thread comes on, or will by itself: no disk holds it.
    static func giveSign() {
        guard let current else { return }
        current.signsGiven.wrappingAdd(1, ordering: .relaxed)
    }

    /// Waits for something else than the disk at which this thread's work is, and which is not to blame for it.
    package static func elsewhere<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        guard let current else { return try body() }
        current.waitsElsewhere.wrappingAdd(1, ordering: .relaxed)
        defer {
            current.signsGiven.wrappingAdd(1, ordering: .relaxed)
            current.waitsElsewhere.wrappingSubtract(1, ordering: .relaxed)
        }
        return try body()
    }

    /// Whether the caller of this thread's work has gone on without it (``step(_:)``).
    package static var isGivenUp: Bool { current?.state.withLock { $0.isGivenUp } ?? false }

    /// Tells work on this thread that it shall stop.
    package static var currentFlag: CancellationFlag { current?.flag ?? CancellationFlag() }

    /// - Throws: `CancellationError` when the work of this thread shall stop.
    package static func checkCancellation() throws {
        if isCancelled { throw CancellationError() }
    }

    /// Runs a step that a strange file may make endless: a decoder, a parser of metadata. A thread cannot be ended from
    /// outside, but it can be given up: when the step takes too long (``StepWatch``), or the work is cancelled, the
    /// caller gets its error at once, the pool another thread, and what the step comes to interests nobody.
    ///
    /// What follows the step in the same work may run long after the caller has gone on: it must not change anything.
    package static func step<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        guard let work = current, work.enter() else { return try body() }
        let ticket = work.watch.begin(work)
        defer {
            work.watch.end(ticket)
            work.leave()
        }
        return try body()
    }

    /// The step begins now: what it waited for was no fault of its file.
    package static func restartStep() {
        if let current { current.watch.restart(current) }
    }

    /// What a step holds that others wait for, and is to be let go of when its thread is given up.
    package static func onGivingUp(_ release: @escaping @Sendable () -> Void) {
        current?.state.withLock { $0.releases.append(release) }
    }

    // MARK: The pool's side

    /// How many signs of life its thread has given. As long as it waits elsewhere, each look at it finds another one.
    var signs: Int {
        if waitsElsewhere.load(ordering: .relaxed) > 0 { signsGiven.wrappingAdd(1, ordering: .relaxed) }
        return signsGiven.load(ordering: .relaxed)
    }

    /// Runs the work on this thread.
    /// - Parameters:
    ///   - visit: of a disk, if it may be held by one.
    ///   - answer: called at most once, in place of the returned result, when the thread is given up.
    /// - Returns: the result, `nil` when the thread was given up meanwhile.
    func run<Value>(
        _ body: () throws -> Value, visit: StepWatch.Visit?, answer: @escaping @Sendable (any Error) -> Void
    ) -> Result<Value, any Error>? {
        state.withLock { $0.answer = answer }
        let ticket = visit.map { watch.begin(self, $0) }
        defer {
            if let ticket { watch.end(ticket) }
        }
        let result = Self.$current.withValue(self) {
            Result {
                try flag.check()
                return try body()
            }
        }
        let isGivenUp = state.withLock { state in
            state.answer = nil
            return state.isGivenUp
        }
        if isGivenUp { return nil }
        // What was cut short has its reason; each layer on the way had words of its own for it.
        if case .failure = result, flag.isSet { return .failure(CancellationError()) }
        return result
    }

    /// No thread is at the work yet.
    /// - Parameter withdrawal: called at most once, in place of any thread.
    func queue(_ withdrawal: @escaping @Sendable (any Error) -> Void) {
        state.withLock { $0.withdrawal = withdrawal }
    }

    /// - Returns: whether its caller still waits for the work.
    func begin() -> Bool {
        state.withLock { exchange(&$0.withdrawal, with: nil) } != nil
    }

    /// Lets the caller go on with an error, if no thread is at the work yet: then it never begins.
    func withdraw(_ error: any Error) {
        let withdrawal = state.withLock { exchange(&$0.withdrawal, with: nil) }
        withdrawal?(error)
    }

    /// Tells the work to stop, also when it has not begun; a step is given up.
    func cancel() {
        flag.set()
        giveUp(CancellationError())
    }

    /// Whether a thread is at the work, and its caller waits for it.
    var isUnderWay: Bool { state.withLock { $0.answer != nil } }

    /// Lets the caller go on with an error, if the work is in a step.
    /// - Parameter anywhere: also if it is in none.
    /// - Returns: whether it was.
    @discardableResult
    func giveUp(_ error: any Error, anywhere: Bool = false) -> Bool {
        let (answer, releases) = state.withLock { state in
            guard state.isInStep || anywhere, !state.isGivenUp, let answer = state.answer else {
                return (nil as (@Sendable (any Error) -> Void)?, [@Sendable () -> Void]())
            }
            state.isGivenUp = true
            state.answer = nil
            return (answer, state.releases)
        }
        guard let answer else { return false }
        // Its thread holds others up as long as it works for nobody: a film is not read to its end.
        flag.set()
        for release in releases { release() }
        answer(error)
        return true
    }

    /// - Returns: whether this is the outermost step.
    private func enter() -> Bool {
        let isOutermost = state.withLock { state in
            if state.isInStep { return false }
            state.isInStep = true
            return true
        }
        // One that begins after the cancellation is given up like one that was under way.
        if isOutermost, flag.isSet { giveUp(CancellationError()) }
        return isOutermost
    }

    private func leave() {
        state.withLock { state in
            state.isInStep = false
            state.releases = []
        }
    }
}

extension PhotoError {
    /// - Throws: `.stopped` when the work of this thread shall stop.
    package static func checkStopped() throws(PhotoError) {
        if PooledWork.isCancelled { throw PhotoError(.stopped, "it was not read to its end, for the agent stops") }
    }
}
