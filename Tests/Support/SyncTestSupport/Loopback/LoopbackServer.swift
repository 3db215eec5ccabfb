import Glibc
import SyncSystem
package import SystemPackage

/// A listening socket on 127.0.0.1, with a thread for itself and one for each connection. All servers of the tests stand
/// on it.
package final class LoopbackServer: Sendable {
    package let port: Int
    private let descriptor: Int32
    private let threads = LoopbackThreads()
    /// Open connections; `nil` once the listener has been stopped.
    private let open: Lock<Set<Int32>?> = Lock([])
    /// Ports of connections of our own that have not been accepted yet, see ``quiesce()``.
    private let marks: Lock<Set<Int>> = Lock([])

    /// Takes a free port and starts.
    /// - Parameter serve: runs for each connection on its thread; the connection is closed when it returns.
    /// - Throws: `Errno` when there is no socket, port or thread.
    package init(_ serve: @escaping @Sendable (LoopbackConnection) -> Void) throws(Errno) {
        let descriptor: Int32
        (descriptor, port) = try LoopbackSocket.bound(listensFor: 128)
        self.descriptor = descriptor
        guard threads.start({ [self] in acceptAll(serve) }) else {
            close(descriptor)
            throw .resourceTemporarilyUnavailable
        }
    }

    /// Waits until every connection that was made before is over, also one that nobody had accepted when its client was
    /// killed: the kernel keeps it with all that was sent, and its requests would count as the next client's.
    ///
    /// The kernel hands connections out in their order (listen(2)), so one of our own is accepted behind them.
    /// - Throws: `Errno` when there is no socket; ``Overdue`` when a client keeps a connection.
    package func quiesce() async throws {
        let (mark, own) = try LoopbackSocket.bound(listensFor: nil, SOCK_NONBLOCK)
        defer { close(mark) }
        marks.withLock { _ = $0.insert(own) }
        try LoopbackSocket.connect(mark, to: port)
        try await eventually("the end of all connections", seen: { "\(openConnections) are open" }) {
            // In this order: what came before the mark is open when the mark is met.
            let isMet = marks.withLock { !$0.contains(own) }
            return isMet && openConnections == 0 ? () : nil
        }
    }

    private var openConnections: Int { open.withLock { $0?.count ?? 0 } }

    /// Ends each connection where it stands, and waits until no thread and no descriptor is left.
    package func stop() async {
        let isFirst = open.withLock { open in
            defer { open = nil }
            for connection in open ?? [] { shutdown(connection, Int32(SHUT_RDWR)) }
            return open != nil
        }
        guard isFirst else { return }
        shutdown(descriptor, Int32(SHUT_RDWR))
        await threads.waitForAll()
        close(descriptor)
    }

    private func acceptAll(_ serve: @escaping @Sendable (LoopbackConnection) -> Void) {
        while true {
            let (peer, port) = LoopbackSocket.accept(descriptor)
            if peer < 0 {
                // A client that gave up before it was accepted is no reason to stop; our own shutdown is (EINVAL).
                if errno == ECONNABORTED || errno == EINTR { continue }
                return
            }
            if marks.withLock({ $0.remove(port) }) != nil {
                close(peer)
                continue
            }
            _ = fcntl(peer, F_SETFD, FD_CLOEXEC)
            guard enter(peer), threads.start({ [self] in serveOne(peer, serve) }) else {
                leave(peer)
                continue
            }
        }
    }

    private func serveOne(_ peer: Int32, _ serve: (LoopbackConnection) -> Void) {
        serve(LoopbackConnection(peer))
        leave(peer)
    }

    private func enter(_ peer: Int32) -> Bool {
        open.withLock { open in
            guard open != nil else { return false }
            open?.insert(peer)
            return true
        }
    }

    /// Closes under the lock: ``stop()`` would otherwise shut a descriptor down whose number somebody else has by then.
    private func leave(_ peer: Int32) {
        open.withLock { open in
            _ = open?.remove(peer)
            close(peer)
        }
    }
}
