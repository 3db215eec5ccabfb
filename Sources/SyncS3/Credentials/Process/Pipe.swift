import Glibc
import SystemPackage

/// A pipe(2) whose ends no other program inherits. It belongs to one thread.
final class Pipe {
    let reader: Int32
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
        if reader >= 0 { close(reader) }
        closeWriter()
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
}
