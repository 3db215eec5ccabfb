import SystemPackage

/// A fixed number of threads of our own for calls that block or burn CPU, so that they never stall the cooperative pool.
///
/// Work begins in the order in which it was handed in. The queue has no bound: callers bound what they hand in. A thread
/// is started when there is work that none is free for, and ends after some seconds without: a pool that nobody needs costs
/// nothing. When one ends and none of any pool works, memory that nobody uses goes back to the system (``IdleMemory``).
package final class BlockingPool: Sendable {
    private let queue: WorkQueue
    private let watch: StepWatch
    private let patienceAfterCancelling: Duration?
    private let lending: Duration?
    private let siblings = Lock<[WorkQueue]>([])

    /// How long a thread waits for work before it ends: longer than a file has to be quiet before it is taken, as long as
    /// nothing else is configured.
    package static let patience = Duration.seconds(5)

    typealias Start =
        @Sendable (_ name: String, _ body: @escaping @Sendable () -> Void) throws(Errno) -> OwnedThread

    /// When the system gives fewer threads than are needed (pthread_create(3): limit on processes or memory), those it gave
    /// do the work. When it gives none, each piece of work asks once more, and is done where it was handed in when there is
    /// still none: slow, and better than not at all.
    /// - Parameters:
    ///   - threads: at most.
    ///   - name: shown by `ps -L` and debuggers, with a number; the kernel keeps its first 15 bytes.
    ///   - watch: gives up steps of the work that do not end.
    ///   - patience: how long cancelled work that is under way may still take. Then its caller gets
    ///     `CancellationError`, and its thread is given up: for calls that a disk may hold for ever. Work that comes
    ///     back after all finds its flag set, and must not change anything. What is queued never begins, and its caller
    ///     gets that at once. `nil`: it is waited for.
    ///   - lending: how long a thread may give no sign of life. Then another one works in its place until it comes
    ///     back: a disk that hangs holds up its own callers, who go on waiting, and not those of other disks. There are
    ///     twice as many threads at most. `nil`: what is queued waits.
    package convenience init(
        name: String, threads: Int, watch: StepWatch = .ofProcess, abandoningAfter patience: Duration? = nil,
        lendingAfter lending: Duration? = nil
    ) {
        self.init(
            name: name, threads: threads, watch: watch, abandoningAfter: patience, lendingAfter: lending,
            start: OwnedThread.start)
    }

    /// - Parameter threads: asked with the first work, and once, for what takes long to find out.
    package convenience init(
        name: String, lendingAfter lending: Duration? = nil, threads: @escaping @Sendable () -> Int
    ) {
        let queue = WorkQueue(name: name, limit: threads, patience: Self.patience, start: OwnedThread.start)
        self.init(queue, .ofProcess, abandoningAfter: nil, lendingAfter: lending)
    }

    /// One thread for looks that come again and again, and leave an idle process idle.
    /// - Parameter patience: how long the thread waits for the next one.
    package convenience init(ofGlances name: String, patience: Duration = BlockingPool.patience) {
        let queue = WorkQueue(name: name, limit: { 1 }, patience: patience, isWork: false, start: OwnedThread.start)
        self.init(queue, .ofProcess, abandoningAfter: nil, lendingAfter: nil)
    }

    /// - Parameters:
    ///   - patience: how long a thread waits for work. Tests shorten it.
    ///   - start: starts a thread. Tests script it.
    convenience init(
        name: String, threads: Int, watch: StepWatch = .ofProcess, abandoningAfter: Duration? = nil,
        lendingAfter: Duration? = nil, patience: Duration = BlockingPool.patience, start: @escaping Start
    ) {
        precondition(threads > 0, "a pool needs a thread")
        let queue = WorkQueue(name: name, limit: { threads }, patience: patience, start: start)
        self.init(queue, watch, abandoningAfter: abandoningAfter, lendingAfter: lendingAfter)
    }

    private init(
        _ queue: WorkQueue, _ watch: StepWatch, abandoningAfter patience: Duration?, lendingAfter lending: Duration?
    ) {
        self.queue = queue
        self.watch = watch
        patienceAfterCancelling = patience
        self.lending = lending
    }

    /// Further threads, whose steps the same watch looks after. They are shut down with these.
    package func sibling(name: String, threads: Int) -> BlockingPool {
        let sibling = BlockingPool(name: name, threads: threads, watch: watch, lendingAfter: lending)
        siblings.withLock { $0.append(sibling.queue) }
        return sibling
    }

    /// Does what is queued, and waits until the threads are gone. One that was given up may never come back, and is not
    /// waited for. What is handed in afterwards is done where it is handed in. Once is enough, and more is no error.
    package func shutDown() async {
        for queue in siblings.withLock({ $0 }) + [queue] { await queue.end() }
    }

    /// The threads finish what is queued, then end by themselves.
    deinit {
        queue.close()
    }

    /// Runs `work` on a thread of the pool and returns what it returns.
    /// - Throws: what `work` throws; `CancellationError` when the task was cancelled before `work` began, or `work` gave up
    ///   because of that (``PooledWork``). Work that asks nobody runs to its end.
    package func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await runChecking { _ in try work() }
    }

    /// As ``run(_:)``, for work that has to be done whether its task was cancelled or not.
    package func finish<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in add { continuation.resume(returning: work()) } }
    }

    /// As ``finish(_:)``, for work that nobody waits for here. ``shutDown()`` waits for it all the same.
    package func add(_ work: @escaping @Sendable () -> Void) {
        queue.add { _ in
            work()
            return true
        }
    }

    /// As ``run(_:)``, for work at a disk that may hang, and whose caller is to go on then. Its thread gives a sign of
    /// life when it asks whether it shall stop (``PooledWork/isCancelled``), uses the processor, or waits elsewhere
    /// (``PooledWork/elsewhere(_:)``). What it does when it comes back interests nobody, and must not change anything.
    /// - Parameters:
    ///   - silence: how long it may give none.
    ///   - onSilence: called when that is over, before another thread takes its place. It must not wait.
    /// - Throws: what `work` throws; ``NoSignOfLife``.
    package func run<Value: Sendable>(
        givingUpAfter silence: Duration, onSilence: @escaping @Sendable () -> Void,
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        let visit = StepWatch.Visit(patience: silence, isGivenUp: true, onSilence: onSilence)
        return try await perform(visit) { _ in try work() }
    }

    /// As ``run(givingUpAfter:onSilence:_:)``, for work that nobody waits for here, and that has to be done.
    package func add(
        givingUpAfter silence: Duration, onSilence: @escaping @Sendable () -> Void,
        _ work: @escaping @Sendable () -> Void
    ) {
        let job = PooledWork(watch)
        let visit = StepWatch.Visit(patience: silence, isGivenUp: true, onSilence: onSilence)
        queue.add { [queue] thread in
            // As below: the thread may never come back.
            job.run(work, visit: visit) { _ in queue.replaceThread(thread) } != nil
        }
    }

    /// As ``run(_:)``, for long work that asks now and then whether its task was cancelled.
    package func runChecking<Value: Sendable>(
        _ work: @escaping @Sendable (CancellationFlag) throws -> Value
    ) async throws -> Value {
        try await perform(nil, work)
    }

    /// - Parameter visit: `nil` for what lends its thread's place, in a pool that does so.
    private func perform<Value: Sendable>(
        _ visit: StepWatch.Visit?, _ work: @escaping @Sendable (CancellationFlag) throws -> Value
    ) async throws -> Value {
        let (job, patience, lending) = (PooledWork(watch), patienceAfterCancelling, self.lending)
        let body: @Sendable () throws -> Value = { try work(job.flag) }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                job.queue { continuation.resume(throwing: $0) }
                if patience != nil, job.flag.isSet { job.withdraw(CancellationError()) }
                queue.add { [queue] thread in
                    // Its caller may have gone on.
                    guard job.begin() else { return true }
                    let lent = lending.map { patience in
                        StepWatch.Visit(patience: patience, isGivenUp: false) { queue.lendPlace(of: thread) }
                    }
                    let result = job.run(body, visit: visit ?? lent) { error in
                        continuation.resume(throwing: error)
                        // The thread may never come back: another one takes its place.
                        queue.replaceThread(thread)
                    }
                    if let result { continuation.resume(with: result) }
                    return result != nil
                }
            }
        } onCancel: {
            job.cancel()
            guard let patience else { return }
            job.withdraw(CancellationError())
            guard job.isUnderWay else { return }
            Deadline.poll(for: patience, until: { !job.isUnderWay }) { isOver in
                if !isOver { job.giveUp(CancellationError(), anywhere: true) }
            }
        }
    }
}
