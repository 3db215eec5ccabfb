import Glibc
import SystemPackage

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
