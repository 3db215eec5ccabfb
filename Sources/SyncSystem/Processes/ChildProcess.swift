import CSyncLinux
import Glibc
import SyncCore
package import SystemPackage

/// Runs a program to its end, bounded in output and time. When it is given up, its whole process group is killed
/// (``StartedProgram``).
package struct ChildProcess: Sendable {
    package struct Ending: Hashable, Sendable {
        package var status: StartedProgram.Status
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

    /// Blocks: for a thread of ours, where SIGPIPE is blocked (``OwnedThread``). When it returns or throws, the program is
    /// gone from the process table.
    /// - Throws: ``Failure``; `CancellationError`.
    package func run(_ flag: CancellationFlag) throws -> Ending {
        let source = try Pipe()
        let output = try Pipe()
        let errors = try Pipe()
        let child = try start(descriptors: [source.reader, output.writer, errors.writer])
        source.closeReader()
        output.closeWriter()
        errors.closeWriter()
        var hasEnded = false
        do {
            return try follow(child, &hasEnded, input: source, output: output, errors: errors, flag)
        } catch {
            // What has ended is off the table, and its number may be another's.
            if !hasEnded { child.kill() }
            throw error
        }
    }

    private func follow(
        _ child: StartedProgram, _ hasEnded: inout Bool, input: Pipe, output: Pipe, errors: Pipe,
        _ flag: CancellationFlag
    ) throws -> Ending {
        let deadline = SuspendingClock.now + timeout
        var unsent = self.input[...]
        if unsent.isEmpty { input.closeWriter() }
        var ending = Ending(status: .exited(0))
        while true {
            // After its end, one more look at what is left in the pipes: those who still hold them are not waited for.
            let isLastPoll = hasEnded
            var watched = [output, errors].filter { !$0.isAtEnd }.map {
                pollfd(fd: $0.reader, events: Int16(POLLIN), revents: 0)
            }
            if input.writer >= 0, !isLastPoll {
                watched.append(pollfd(fd: input.writer, events: Int16(POLLOUT), revents: 0))
            }
            poll(&watched, nfds_t(watched.count), isLastPoll ? 0 : Self.pollMilliseconds)
            let ready = Set(watched.filter { $0.revents != 0 }.map(\.fd))
            if ready.contains(input.writer) { unsent = input.write(unsent) }
            if ready.contains(output.reader) { ending.output += output.read() }
            if ready.contains(errors.reader) {
                ending.errors = (ending.errors + errors.read()).suffix(Self.errorLimit)
            }
            if ending.output.count > outputLimit { throw Failure.tooMuch }
            if isLastPoll, ready.isEmpty { return ending }
            if !hasEnded, let status = child.status() {
                ending.status = status
                hasEnded = true
            }
            try flag.check()
            if SuspendingClock.now >= deadline { throw Failure.tooSlow }
        }
    }

    private func start(descriptors: [Int32]) throws(Failure) -> StartedProgram {
        do throws(Errno) {
            return try StartedProgram(words: words, environment: environment, descriptors: descriptors)
        } catch {
            throw .notStarted(error)
        }
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

/// One end of a pair of sockets that keep messages apart (unix(7), `SOCK_SEQPACKET`). No program inherits it. It closes
/// itself.
package final class MessageSocket: Sendable {
    package let descriptor: Int32

    private init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Two ends that are connected.
    package static func pair() throws(Errno) -> (MessageSocket, MessageSocket) {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw Errno(rawValue: errno) }
        defer { ends.forEach { _ = close($0) } }
        return (try copy(of: ends[0]), try copy(of: ends[1]))
    }

    /// Above stderr, so that a child's own descriptors do not collide with it where ours are closed.
    private static func copy(of descriptor: Int32) throws(Errno) -> MessageSocket {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
        guard copy >= 0 else { throw Errno(rawValue: errno) }
        return MessageSocket(copy)
    }

    /// Waits until there is a message, or the other end is closed.
    /// - Returns: whether there is, within the time.
    package func isReadable(within time: Duration) -> Bool {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, Int32(time / .milliseconds(1))) > 0
    }
}

/// A file that has no name and lies in memory (memfd_create(2)), to be handed to another process. No program inherits it.
/// It closes itself.
package final class MemoryFile: Sendable {
    package let descriptor: FileDescriptor

    /// - Parameter name: what proc(5) shows.
    package init(named name: String) throws(Errno) {
        let file = CSyncLinux_MemoryFile(name)
        guard file >= 0 else { throw Errno(rawValue: -file) }
        descriptor = FileDescriptor(rawValue: file)
    }

    deinit {
        try? descriptor.close()
    }

    /// Bytes at this moment; whoever has it too may change that.
    package func size() throws(Errno) -> Int64 {
        try FileStatus(of: descriptor).stamp.size
    }

    package func write(_ bytes: [UInt8]) throws(Errno) {
        _ = try Errno.only { try descriptor.writeAll(toAbsoluteOffset: 0, bytes) }
    }

    /// Bytes of it; fewer where it ends before.
    package func bytes(from offset: Int64, _ count: Int) throws(Errno) -> [UInt8] {
        try Errno.only { try descriptor.bytes(atMost: count, from: offset) }
    }
}
