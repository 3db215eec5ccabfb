import Glibc
package import SystemPackage

/// Runs a program to its end: posix_spawn(3), without a shell, bounded in output and time.
///
/// The program gets its own process group, and when it is given up the whole group is killed. No descriptor of ours and
/// no signal mask reaches it.
package struct ChildProcess: Sendable {
    package enum Status: Hashable, Sendable {
        case exited(Int32)
        case signalled(Int32)
    }

    package struct Ending: Hashable, Sendable {
        package var status: Status
        package var output: [UInt8] = []
        /// The last ``errorLimit`` bytes of stderr.
        package var errors: [UInt8] = []
    }

    package enum Failure: Error, Hashable, Sendable {
        case notStarted(Errno)
        case tooSlow
        case tooMuch
    }

    package static let errorLimit = 4_096
    /// How soon the end of a program is seen whose children keep its pipes, and a cancellation.
    private static let pollMilliseconds: Int32 = 50

    private static let spareDescriptors: Int32 = 64

    private let words: [String]
    private let environment: [String: String]
    private let input: [UInt8]
    private let timeout: Duration
    private let outputLimit: Int

    /// - Parameters:
    ///   - words: the program, looked up in PATH when it has no slash, and its arguments.
    ///   - input: what it can read from stdin; one that does not read all of it is as good.
    ///   - outputLimit: bytes.
    package init(
        words: [String], environment: [String: String], input: [UInt8] = [], timeout: Duration, outputLimit: Int
    ) {
        self.words = words
        self.environment = environment
        self.input = input
        self.timeout = timeout
        self.outputLimit = outputLimit
    }

    /// Blocks: for a thread of ours, where SIGPIPE is blocked (``OwnedThread``). When it returns or throws, the program is gone from the process table.
    /// - Throws: ``Failure``; `CancellationError`.
    package func run(_ flag: CancellationFlag) throws -> Ending {
        let source = try Pipe()
        let output = try Pipe()
        let errors = try Pipe()
        let child = try spawn(input: source, output: output, errors: errors)
        source.closeReader()
        output.closeWriter()
        errors.closeWriter()
        do {
            return try follow(child, input: source, output: output, errors: errors, flag)
        } catch {
            kill(-child, SIGKILL)
            var status: Int32 = 0
            while waitpid(child, &status, 0) == -1, errno == EINTR {}
            throw error
        }
    }

    private func follow(
        _ child: pid_t, input: Pipe, output: Pipe, errors: Pipe, _ flag: CancellationFlag
    ) throws -> Ending {
        let deadline = ContinuousClock.now + timeout
        var unsent = self.input[...]
        if unsent.isEmpty { input.closeWriter() }
        var ending = Ending(status: .exited(0))
        var hasEnded = false
        while true {
            // After its end, one more look at what is left in the pipes: those who still hold them are not waited for.
            let isLastLook = hasEnded
            var watched = [output, errors].filter { !$0.isAtEnd }.map {
                pollfd(fd: $0.reader, events: Int16(POLLIN), revents: 0)
            }
            if input.writer >= 0, !isLastLook {
                watched.append(pollfd(fd: input.writer, events: Int16(POLLOUT), revents: 0))
            }
            poll(&watched, nfds_t(watched.count), isLastLook ? 0 : Self.pollMilliseconds)
            let ready = Set(watched.filter { $0.revents != 0 }.map(\.fd))
            if ready.contains(input.writer) { unsent = input.write(unsent) }
            if ready.contains(output.reader) { ending.output += output.read() }
            if ready.contains(errors.reader) {
                ending.errors = (ending.errors + errors.read()).suffix(Self.errorLimit)
            }
            if ending.output.count > outputLimit { throw Failure.tooMuch }
            if isLastLook, ready.isEmpty { return ending }
            if !hasEnded, let status = Self.status(of: child) {
                ending.status = status
                hasEnded = true
            }
            try flag.check()
            if ContinuousClock.now >= deadline { throw Failure.tooSlow }
        }
    }

    /// `nil` while it runs.
    private static func status(of child: pid_t) -> Status? {
        var status: Int32 = 0
        guard waitpid(child, &status, WNOHANG) == child else { return nil }
        // WIFEXITED and its like (wait(2)) are macros.
        return status & 0x7F == 0 ? .exited((status >> 8) & 0xFF) : .signalled(status & 0x7F)
    }

    // MARK: Starting

    private func spawn(input: Pipe, output: Pipe, errors: Pipe) throws(Failure) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input.reader, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output.writer, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, errors.writer, STDERR_FILENO)
        // libcurl opens its sockets without O_CLOEXEC, and may open more before the fork: new ones get the lowest free
        // numbers. To close what is not open is no error.
        for descriptor in (STDERR_FILENO + 1)...(Self.highestDescriptor() + Self.spareDescriptors) {
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
        guard code == 0 else { throw .notStarted(Errno(rawValue: code)) }
        return child
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

/// A pipe(2) whose ends no other program inherits. It belongs to one thread.
final class Pipe {
    private(set) var reader: Int32
    private(set) var writer: Int32
    private(set) var isAtEnd = false

    init() throws(ChildProcess.Failure) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .notStarted(Errno(rawValue: errno)) }
        // Above stderr, so that a child's own descriptors do not collide with it where ours are closed.
        reader = fcntl(ends[0], F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
        writer = fcntl(ends[1], F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
        let error = errno
        close(ends[0])
        close(ends[1])
        guard reader >= 0, writer >= 0 else { throw .notStarted(Errno(rawValue: error)) }
    }

    deinit {
        closeReader()
        closeWriter()
    }

    func closeReader() {
        if reader >= 0 { close(reader) }
        reader = -1
    }

    func closeWriter() {
        if writer >= 0 { close(writer) }
        writer = -1
    }

    /// What is there; waits when there is nothing. At the end it is empty and ``isAtEnd`` is set.
    func read() -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = Glibc.read(reader, &buffer, buffer.count)
        if count < 0, errno == EINTR { return [] }
        if count <= 0 { isAtEnd = true }
        return Array(buffer.prefix(max(count, 0)))
    }

    /// Writes what there is room for, without waiting, and closes the writing end after the last byte or when nobody
    /// reads any more. For a thread on which SIGPIPE is blocked.
    /// - Returns: what is still to be written.
    func write(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        // Of this end only: flags belong to an opening, and the two ends are two (pipe(7)).
        _ = fcntl(writer, F_SETFL, O_NONBLOCK)
        let count = bytes.withUnsafeBytes { Glibc.write(writer, $0.baseAddress, $0.count) }
        if count < 0, errno == EAGAIN || errno == EINTR { return bytes }
        let rest = count < 0 ? [] : bytes.dropFirst(count)
        if rest.isEmpty { closeWriter() }
        return rest
    }
}
