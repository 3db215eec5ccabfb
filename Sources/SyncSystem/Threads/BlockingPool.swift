import Glibc
import SystemPackage

/// A fixed number of threads of our own for calls that block or burn CPU, so that they never stall the cooperative pool.
///
/// Work begins in the order in which it was handed in. The queue has no bound: callers bound what they hand in.
package final class BlockingPool: Sendable {
    private let queue: WorkQueue
    private let watch: StepWatch

    typealias Start =
        @Sendable (_ name: String, _ body: @escaping @Sendable () -> Void) throws(Errno) -> OwnedThread

    /// Starts the threads. When the system gives fewer than asked for (pthread_create(3): limit on processes or memory),
    /// those it gave do the work. When it gives none, each piece of work asks once more, and is done where it was handed in
    /// when there is still none: slow, and better than not at all.
    /// - Parameters:
    ///   - name: shown by `ps -L` and debuggers, with a number; the kernel keeps its first 15 bytes.
    ///   - watch: gives up steps of the work that do not end.
    package convenience init(name: String, threads: Int, watch: StepWatch = .ofProcess) {
        self.init(name: name, threads: threads, watch: watch) { (name, body) throws(Errno) in
            try OwnedThread.start(name: name, body)
        }
    }

    /// - Parameter start: starts a thread. Tests script it.
    init(name: String, threads: Int, watch: StepWatch = .ofProcess, start: @escaping Start) {
        precondition(threads > 0, "a pool needs a thread")
        queue = WorkQueue(name: name, start: start)
        for _ in 1...threads { queue.startThread() }
        self.watch = watch
    }

    /// Further threads, whose steps the same watch looks after.
    package func sibling(name: String, threads: Int) -> BlockingPool {
        BlockingPool(name: name, threads: threads, watch: watch)
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
        await withCheckedContinuation { continuation in
            queue.add {
                continuation.resume(returning: work())
                return true
            }
        }
    }

    /// As ``run(_:)``, for long work that asks now and then whether its task was cancelled.
    package func runChecking<Value: Sendable>(
        _ work: @escaping @Sendable (CancellationFlag) throws -> Value
    ) async throws -> Value {
        let job = PooledWork(watch)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                queue.add { [queue] in
                    let result = job.run {
                        try work(job.flag)
                    } answer: { error in
                        // The thread may never come back: another one takes its place.
                        queue.replaceThread()
                        continuation.resume(throwing: error)
                    }
                    if let result { continuation.resume(with: result) }
                    return result != nil
                }
            }
        } onCancel: {
            job.cancel()
        }
    }
}

/// A queue that threads wait on. `Mutex` has no condition variable, hence the pthread calls.
///
/// `@unchecked Sendable`: `mutex` guards `pending`, `first`, `closed`, `started` and `threads`; the rest never changes.
private final class WorkQueue: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let ready = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let name: String
    private let start: BlockingPool.Start
    private var pending: [Work] = []
    /// Where the oldest of `pending` stands; what is before it is done.
    private var first = 0
    private var closed = false
    private var started = 0
    /// That take work.
    private var threads = 0

    /// - Returns: whether its thread goes on to the next; `false` when another one has its place.
    typealias Work = @Sendable () -> Bool

    init(name: String, start: @escaping BlockingPool.Start) {
        self.name = name
        self.start = start
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(ready, nil)
    }

    /// The last thread has let go: nobody waits any more.
    deinit {
        pthread_cond_destroy(ready)
        pthread_mutex_destroy(mutex)
        ready.deallocate()
        mutex.deallocate()
    }

    func add(_ work: @escaping Work) {
        pthread_mutex_lock(mutex)
        pending.append(work)
        let isTaken = threads > 0
        pthread_cond_signal(ready)
        pthread_mutex_unlock(mutex)
        if !isTaken, !startThread() { while let work = next(isWaiting: false), work() {} }
    }

    func close() {
        pthread_mutex_lock(mutex)
        closed = true
        pthread_cond_broadcast(ready)
        pthread_mutex_unlock(mutex)
    }

    /// Starts a thread that works until the queue is closed and empty. `false` when the system refuses.
    @discardableResult
    func startThread() -> Bool {
        pthread_mutex_lock(mutex)
        started += 1
        threads += 1
        let number = started
        pthread_mutex_unlock(mutex)
        let thread = try? start("\(name)-\(number)") { while let work = self.next(isWaiting: true), work() {} }
        if thread == nil { endThread() }
        return thread != nil
    }

    /// For one that does not come back from its work.
    func replaceThread() {
        endThread()
        startThread()
    }

    private func endThread() {
        pthread_mutex_lock(mutex)
        threads -= 1
        pthread_mutex_unlock(mutex)
    }

    /// Waits for work; `nil` when the queue is closed and empty.
    private func next(isWaiting: Bool) -> Work? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while first == pending.count {
            if closed || !isWaiting { return nil }
            pthread_cond_wait(ready, mutex)
        }
        let work = pending[first]
        first += 1
        // Compacting in batches keeps both ends of the queue at constant cost.
        if first == pending.count || first >= 1_024 {
            pending.removeFirst(first)
            first = 0
        }
        return work
    }
}
