import Glibc

/// Starts a thread that blocks in the kernel, away from the pool that runs async functions.
enum OwnedThread {
    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// The thread frees itself when `body` returns.
    static func start(_ body: @escaping @Sendable () -> Void) throws(TransportError) {
        let context = Unmanaged.passRetained(Body(body))
        // All signals are blocked from the first instruction on: those of the process go to threads that want them, and
        // a SIGPIPE of curl's or OpenSSL's own writes, which signal(7) directs at the writing thread, is never
        // delivered. Unlike SIG_IGN for the process, this changes nothing for stdout, nor for programs that we start.
        // The resolver threads that curl makes inherit the mask.
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        var thread = pthread_t()
        let result = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, context.toOpaque())
        guard result == 0 else {
            context.release()
            throw TransportError(.failed, "cannot start a thread: \(String(cString: strerror(result)))")
        }
        pthread_detach(thread)
    }
}
