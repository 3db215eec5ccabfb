import Glibc
package import SystemPackage

/// A program that was started: posix_spawn(3), without a shell, in a process group of its own. No descriptor of ours but
/// those that it is given, and no signal mask, reaches it.
///
/// It stays in the process table until ``status()`` has told its end, or ``kill()`` was called.
package struct StartedProgram: Sendable {
    package enum Status: Hashable, Sendable {
        case exited(Int32)
        case signalled(Int32)
    }

    private static let spareDescriptors: Int32 = 64

    private let id: pid_t

    /// - Parameters:
    ///   - words: the program, looked up in PATH when it has no slash, and its arguments.
    ///   - descriptors: what it has as 0, 1, 2, …; all of them lie above 2. `nil` is /dev/null.
    package init(words: [String], environment: [String: String], descriptors: [Int32?]) throws(Errno) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, descriptor) in descriptors.enumerated() {
            if let descriptor {
                posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
            } else {
                posix_spawn_file_actions_addopen(&actions, Int32(number), "/dev/null", O_RDWR, 0)
            }
        }
        // libcurl opens its sockets without O_CLOEXEC, and may open more before the fork: new ones get the lowest free
        // numbers. To close what is not open is no error.
        for descriptor in Int32(descriptors.count)...(Self.highestDescriptor() + Self.spareDescriptors) {
            posix_spawn_file_actions_addclose(&actions, descriptor)
        }

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Our threads block all signals, and a child inherits the mask.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))

        var child = pid_t()
        let code = Self.withTexts(words) { words in
            Self.withTexts(environment.map { "\($0.key)=\($0.value)" }) { variables in
                words[0].map { posix_spawnp(&child, $0, &actions, &attributes, words, variables) } ?? ENOENT
            }
        }
        guard code == 0 else { throw Errno(rawValue: code) }
        id = child
    }

    /// How it ended; `nil` while it runs. It is told once.
    package func status() -> Status? {
        var status: Int32 = 0
        guard waitpid(id, &status, WNOHANG) == id else { return nil }
        return Self.status(status)
    }

    /// Ends the program and its process group, and takes it off the process table.
    /// - Returns: how it ended, which may have been by itself before.
    @discardableResult
    package func kill() -> Status {
        Glibc.kill(-id, SIGKILL)
        var status: Int32 = 0
        while waitpid(id, &status, 0) == -1, errno == EINTR {}
        return Self.status(status)
    }

    /// Time of the processor that it has used (clock_getcpuclockid(3)); `nil` once it has ended.
    package var processorTime: Duration? {
        var clock = clockid_t()
        var time = timespec()
        guard clock_getcpuclockid(id, &clock) == 0, clock_gettime(clock, &time) == 0 else { return nil }
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// WIFEXITED and its like (wait(2)) are macros.
    private static func status(_ status: Int32) -> Status {
        status & 0x7F == 0 ? .exited((status >> 8) & 0xFF) : .signalled(status & 0x7F)
    }

    /// The highest that is open (proc(5)).
    private static func highestDescriptor() -> Int32 {
        let open = (try? Folder.names(in: "/proc/self/fd"))?.compactMap { Int32($0.string) } ?? []
        return open.max().map { max($0, STDERR_FILENO) } ?? STDERR_FILENO
    }

    /// Hands out a NULL-terminated array of C strings.
    private static func withTexts<Result>(
        _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = texts.map { strdup($0) }
        defer { copies.forEach { free($0) } }
        return body(copies + [nil])
    }
}

/// How many files this process may have open at once (getrlimit(2), `RLIMIT_NOFILE`).
package enum DescriptorLimit {
    /// Some systems start programs with few, and let them have more: it takes what it may have.
    /// - Parameter most: no more are taken. Programs that we run inherit them, and some of those count on few.
    /// - Returns: how many it may have open now.
    package static func raise(upTo most: UInt64 = 4_096) -> UInt64 {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return most }
        let before = UInt64(limit.rlim_cur)
        let wanted = min(UInt64(limit.rlim_max), most)
        guard wanted > before else { return before }
        limit.rlim_cur = rlim_t(wanted)
        return setrlimit(resource, &limit) == 0 ? wanted : before
    }

    /// How many it may have open now.
    package static var current: UInt64 {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1_024 }
        return UInt64(limit.rlim_cur)
    }

    /// How many there may be at once of what has so many files open each: together they take a quarter of the limit.
    /// What else is at work needs files, too, and libraries end the process where they get none.
    package static func room(forEach files: Int, of limit: UInt64 = DescriptorLimit.current) -> Int {
        max(Int(clamping: limit / 4) / files, 1)
    }
}
