import Glibc
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
    private let siblings = Mutex<[WorkQueue]>([])

    /// How long a thread waits for work before it ends.
    package static let patience = Duration.seconds(10)

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
    ///     back after all finds its flag set, and must not change anything. `nil`: it is waited for.
    package convenience init(
        name: String, threads: Int, watch: StepWatch = .ofProcess, abandoningAfter patience: Duration? = nil
    ) {
        self.init(
            name: name, threads: threads, watch: watch, abandoningAfter: patience, start: OwnedThread.start)
    }

    /// - Parameter threads: asked with the first work, and once, for what takes long to find out.
    package convenience init(name: String, threads: @escaping @Sendable () -> Int) {
        let queue = WorkQueue(name: name, limit: threads, patience: Self.patience, start: OwnedThread.start)
        self.init(queue, .ofProcess, abandoningAfter: nil)
    }

    /// - Parameters:
    ///   - patience: how long a thread waits for work. Tests shorten it.
    ///   - start: starts a thread. Tests script it.
    convenience init(
        name: String, threads: Int, watch: StepWatch = .ofProcess, abandoningAfter: Duration? = nil,
        patience: Duration = BlockingPool.patience, start: @escaping Start
    ) {
        precondition(threads > 0, "a pool needs a thread")
        let queue = WorkQueue(name: name, limit: { threads }, patience: patience, start: start)
        self.init(queue, watch, abandoningAfter: abandoningAfter)
    }

    private init(_ queue: WorkQueue, _ watch: StepWatch, abandoningAfter patience: Duration?) {
        self.queue = queue
        self.watch = watch
        patienceAfterCancelling = patience
    }

    /// Further threads, whose steps the same watch looks after. They are shut down with these.
    package func sibling(name: String, threads: Int) -> BlockingPool {
        let sibling = BlockingPool(name: name, threads: threads, watch: watch)
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

    /// As ``run(_:)``, for long work that asks now and then whether its task was cancelled.
    package func runChecking<Value: Sendable>(
        _ work: @escaping @Sendable (CancellationFlag) throws -> Value
    ) async throws -> Value {
        let (job, patience) = (PooledWork(watch), patienceAfterCancelling)
        let body: @Sendable () throws -> Value = { try work(job.flag) }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                queue.add { [queue] thread in
                    let result = job.run(body) { error in
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
            guard let patience, job.isUnderWay else { return }
            Deadline.poll(for: patience, until: { !job.isUnderWay }) { isOver in
                if !isOver { job.giveUp(CancellationError(), anywhere: true) }
            }
        }
    }
}

/// A queue that threads wait on. `Mutex` has no condition variable, hence the pthread calls.
///
/// `@unchecked Sendable`: `mutex` guards all that changes.
private final class WorkQueue: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let ready = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let name: String
    private let askLimit: @Sendable () -> Int
    private lazy var limit = max(askLimit(), 1)
    private let patience: Duration
    private let start: BlockingPool.Start
    private var pending: [Work] = []
    /// Where the oldest of `pending` stands; what is before it is done.
    private var first = 0
    /// Whether threads end when nothing is queued.
    private var isClosed = false
    /// Whether all of them were joined: no other is started.
    private var hasEnded = false
    private var started = 0
    /// That take work.
    private var threads = 0
    /// Of these, those that wait for it.
    private var idle = 0
    /// All that were not given up, by their number.
    private var owned: [Int: OwnedThread] = [:]
    private var waiters: [CheckedContinuation<Void, Never>] = []

    /// Takes the number of its thread.
    /// - Returns: whether its thread goes on to the next; `false` when another one has its place.
    typealias Work = @Sendable (Int) -> Bool

    init(
        name: String, limit: @escaping @Sendable () -> Int, patience: Duration, start: @escaping BlockingPool.Start
    ) {
        self.name = name
        askLimit = limit
        self.patience = patience
        self.start = start
        pthread_mutex_init(mutex, nil)
        // Patience is none of the wall clock's business, which people set.
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(ready, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    /// The last thread has let go: nobody waits any more.
    deinit {
        pthread_cond_destroy(ready)
        pthread_mutex_destroy(mutex)
        ready.deallocate()
        mutex.deallocate()
    }

    func add(_ work: @escaping Work) {
        let isTaken = locked {
            pending.append(work)
            pthread_cond_signal(ready)
            startThread()
            return threads > 0
        }
        if !isTaken { workHere() }
    }

    func close() {
        locked {
            isClosed = true
            pthread_cond_broadcast(ready)
        }
    }

    /// Closes, and waits for the threads.
    func end() async {
        close()
        await withCheckedContinuation { continuation in
            let isOver = locked {
                if isDrained { return true }
                waiters.append(continuation)
                return false
            }
            if isOver { continuation.resume() }
        }
        let threads = locked {
            hasEnded = true
            defer { owned = [:] }
            return owned.values
        }
        for thread in threads { await thread.join() }
    }

    /// For one that does not come back from its work. It is not waited for any more; what is queued gets another.
    func replaceThread(_ number: Int) {
        let isTaken = locked {
            if owned.removeValue(forKey: number) != nil {
                threads -= 1
                IdleMemory.endWork()
            }
            startThread()
            return threads > 0
        }
        if !isTaken { workHere() }
    }

    /// Starts a thread that works until the queue is closed and empty, if there is work that nobody is free for. The lock is
    /// held: the thread's first step waits until it is known.
    private func startThread() {
        guard !hasEnded, threads < limit, pending.count - first > idle else { return }
        let number = started + 1
        guard let thread = try? start("\(name)-\(number)", { self.takeWork(number, isWaiting: true) }) else { return }
        started = number
        threads += 1
        owned[number] = thread
        IdleMemory.beginWork()
    }

    /// Does what is queued on this thread, which is none of the queue's: there is none.
    private func workHere() {
        takeWork(0, isWaiting: false)
    }

    private func takeWork(_ number: Int, isWaiting: Bool) {
        while let work = next(number, isWaiting: isWaiting) {
            guard work(number) else { return }
        }
        let waiters = locked {
            guard isDrained else { return [CheckedContinuation<Void, Never>]() }
            defer { self.waiters = [] }
            return self.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    private var isDrained: Bool { isClosed && threads == 0 && first == pending.count }

    private enum Found {
        case work(Work)
        /// The thread takes no more.
        case end(isIdle: Bool)
    }

    /// Waits for work; `nil` when the queue is closed and empty or there was none for long, and the thread takes no more of it.
    private func next(_ number: Int, isWaiting: Bool) -> Work? {
        var deadline = Self.time(after: patience)
        switch locked({ look(number, isWaiting, &deadline) }) {
        case .work(let work): return work
        case .end(let isIdle):
            if isWaiting { IdleMemory.endThread(isIdle: isIdle) }
            return nil
        }
    }

    private func look(_ number: Int, _ isWaiting: Bool, _ deadline: inout timespec) -> Found {
        while first == pending.count {
            guard isWaiting else { return .end(isIdle: false) }
            if isClosed {
                threads -= 1
                return .end(isIdle: false)
            }
            idle += 1
            IdleMemory.endWork()
            let isLate = pthread_cond_timedwait(ready, mutex, &deadline) == ETIMEDOUT
            IdleMemory.beginWork()
            idle -= 1
            guard isLate, first == pending.count, !isClosed else { continue }
            threads -= 1
            // Without its last reference it takes itself off the process.
            owned.removeValue(forKey: number)
            return .end(isIdle: true)
        }
        let work = pending[first]
        first += 1
        // Compacting in batches keeps both ends of the queue at constant cost.
        if first == pending.count || first >= 1_024 {
            pending.removeFirst(first)
            first = 0
        }
        return .work(work)
    }

    private static func time(after duration: Duration) -> timespec {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let (seconds, attoseconds) = duration.components
        let nanoseconds = time.tv_nsec + Int(attoseconds / 1_000_000_000)
        return timespec(
            tv_sec: time.tv_sec + Int(seconds) + nanoseconds / 1_000_000_000, tv_nsec: nanoseconds % 1_000_000_000)
    }

    private func locked<Value>(_ body: () -> Value) -> Value {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }
}
