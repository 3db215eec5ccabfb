import Glibc
import SystemPackage

/// A queue that threads wait on. `Lock` has no condition variable, hence the pthread calls.
///
/// `@unchecked Sendable`: `mutex` guards all that changes.
final class WorkQueue: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let ready = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let name: String
    private let askLimit: @Sendable () -> Int
    private lazy var limit = max(askLimit(), 1)
    private let patience: Duration
    /// Whether the process is not idle while a thread is at it (``IdleMemory``).
    private let isWork: Bool
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
    /// Those that do not take work for as long as they are busy: others have their places.
    private var lent: Set<Int> = []
    /// All that were not given up, by their number.
    private var owned: [Int: OwnedThread] = [:]
    private var waiters: [CheckedContinuation<Void, Never>] = []

    /// Takes the number of its thread.
    /// - Returns: whether its thread goes on to the next; `false` when another one has its place.
    typealias Work = @Sendable (Int) -> Bool

    init(
        name: String, limit: @escaping @Sendable () -> Int, patience: Duration, isWork: Bool = true,
        start: @escaping BlockingPool.Start
    ) {
        self.name = name
        askLimit = limit
        self.patience = patience
        self.isWork = isWork
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
                if lent.remove(number) == nil { threads -= 1 }
                if isWork { IdleMemory.endWork() }
            }
            startThread()
            return threads > 0
        }
        if !isTaken { workHere() }
    }

    /// For one that is busy for long without doing anything: until it is through, another one may have its place.
    func lendPlace(of number: Int) {
        locked {
            guard owned[number] != nil, lent.count < limit, lent.insert(number).inserted else { return }
            threads -= 1
            startThread()
        }
    }

    /// - Returns: whether a thread whose place was lent, and is taken, is one too many.
    private func takePlaceBack(_ number: Int) -> Bool {
        guard lent.remove(number) != nil else { return false }
        if threads < limit {
            threads += 1
            return false
        }
        // Whoever ends the queue joins it.
        if !isClosed { owned.removeValue(forKey: number) }
        return true
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
        if isWork { IdleMemory.beginWork() }
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
        switch locked({ takeNext(number, isWaiting, &deadline) }) {
        case .work(let work): return work
        case .end(let isIdle):
            if isWaiting, isWork { IdleMemory.endThread(isIdle: isIdle) }
            return nil
        }
    }

    private func takeNext(_ number: Int, _ isWaiting: Bool, _ deadline: inout timespec) -> Found {
        if takePlaceBack(number) { return .end(isIdle: false) }
        while first == pending.count {
            guard isWaiting else { return .end(isIdle: false) }
            if isClosed {
                threads -= 1
                return .end(isIdle: false)
            }
            idle += 1
            if isWork { IdleMemory.endWork() }
            let isLate = pthread_cond_timedwait(ready, mutex, &deadline) == ETIMEDOUT
            if isWork { IdleMemory.beginWork() }
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
