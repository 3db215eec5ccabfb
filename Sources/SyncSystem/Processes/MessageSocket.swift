import Glibc
package import SystemPackage

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
