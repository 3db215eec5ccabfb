import Glibc
import SyncCore
import SyncSystem

/// The memory of this process that pictures may be decoded in, all together: whoever decodes waits until there is room
/// for what the header says that it will take. Those who have waited longest come first, so that a large picture gets its
/// turn; one that wants all of it is decoded alone.
///
/// `@unchecked Sendable`: `mutex` guards `free` and `waiting`; the pointers never change.
final class DecodingMemory: @unchecked Sendable {
    /// 512 MiB: as much as the largest picture that is decoded at all (`PhotoLimits.memory`).
    static let ofProcess = DecodingMemory(bytes: PhotoLimits().memory)

    /// How often one that waits asks whether it shall stop, in nanoseconds.
    private static let patience = 100_000_000

    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let total: Int64
    private var free: Int64
    /// Tickets, the oldest first.
    private var waiting: [UInt64] = []
    private var lastTicket: UInt64 = 0

    init(bytes: Int64) {
        total = bytes
        free = bytes
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(changed, nil)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(mutex)
        changed.deallocate()
        mutex.deallocate()
    }

    /// Runs `body` while so many bytes are set aside for it; more than there are count as all of them.
    /// - Throws: `.stopped` when the work of this thread is cancelled while it waits; what `body` throws.
    func with<Value>(_ bytes: Int64, _ body: () throws(PhotoError) -> Value) throws(PhotoError) -> Value {
        let share = try take(min(max(bytes, 0), total))
        defer { share.giveBack() }
        // A thread that is given up has its memory still; but the others must not wait for it until the process ends.
        PooledWork.onGivingUp { share.giveBack() }
        return try body()
    }

    private func take(_ bytes: Int64) throws(PhotoError) -> Share {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        lastTicket += 1
        let ticket = lastTicket
        waiting.append(ticket)
        defer {
            waiting.removeAll { $0 == ticket }
            // The next in the row may have room too.
            pthread_cond_broadcast(changed)
        }
        var hasWaited = false
        while waiting.first != ticket || free < bytes {
            hasWaited = true
            wait()
            try PhotoError.checkStopped()
        }
        if hasWaited { PooledWork.restartStep() }
        free -= bytes
        return Share(memory: self, bytes: bytes)
    }

    private func wait() {
        var end = timespec()
        clock_gettime(CLOCK_REALTIME, &end)
        end.tv_nsec += Self.patience
        if end.tv_nsec >= 1_000_000_000 {
            end.tv_sec += 1
            end.tv_nsec -= 1_000_000_000
        }
        pthread_cond_timedwait(changed, mutex, &end)
    }

    fileprivate func giveBack(_ bytes: Int64) {
        pthread_mutex_lock(mutex)
        free += bytes
        pthread_cond_broadcast(changed)
        pthread_mutex_unlock(mutex)
    }
}

/// What one decoder has of the memory. It is given back once, by whoever comes first.
private final class Share: Sendable {
    private let memory: DecodingMemory
    private let bytes: Mutex<Int64>

    init(memory: DecodingMemory, bytes: Int64) {
        self.memory = memory
        self.bytes = Mutex(bytes)
    }

    func giveBack() {
        let rest = bytes.withLock { bytes in
            defer { bytes = 0 }
            return bytes
        }
        if rest > 0 { memory.giveBack(rest) }
    }
}
