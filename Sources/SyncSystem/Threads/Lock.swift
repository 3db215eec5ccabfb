import Glibc

/// A value, and the lock that guards it (pthread_mutex_lock(3)).
///
/// It has the face of `Synchronization.Mutex`, and not its name. That one is made of futexes on Linux, which
/// ThreadSanitizer does not see: with Swift 6.3 each one that is waited for is reported as a race on the value that it
/// guards. This one it understands, so that what `make sanitize` reports is real.
package final class Lock<Value: ~Copyable>: @unchecked Sendable {
    // `mutex` guards `value`; both pointers never change.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let value: UnsafeMutablePointer<Value>

    package init(_ initialValue: consuming sending Value) {
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        value = .allocate(capacity: 1)
        value.initialize(to: initialValue)
    }

    deinit {
        value.deinitialize(count: 1)
        value.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` while no other thread has the value: each that asks for it waits for as long as `body` takes. `body` must
    /// not take this lock again.
    package func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }
}
