import Glibc
import SyncSystem
import SystemPackage

/// A listening socket on 127.0.0.1, with a thread for itself and one for each connection.
final class ServerListener: Sendable {
    let port: Int
    private let descriptor: Int32
    private let threads = ServerThreads()
    /// Open connections; `nil` once the listener has been stopped.
    private let open: Mutex<Set<Int32>?> = Mutex([])

    /// Takes a free port and starts.
    /// - Parameter serve: runs for each connection on its thread; the connection is closed when it returns.
    /// - Throws: `Errno` when there is no socket, port or thread.
    init(_ serve: @escaping @Sendable (ServerConnection) -> Void) throws(Errno) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Errno(rawValue: errno) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && listen(descriptor, 128) == 0
                    && getsockname(descriptor, address, &length) == 0
            }
        }
        guard isListening else {
            let failure = Errno(rawValue: errno)
            close(descriptor)
            throw failure
        }
        self.descriptor = descriptor
        port = Int(UInt16(bigEndian: address.sin_port))
        guard threads.start({ [self] in acceptAll(serve) }) else {
            close(descriptor)
            throw .resourceTemporarilyUnavailable
        }
    }

    /// Ends each connection where it stands, and waits until no thread and no descriptor is left.
    func stop() async {
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

    private func acceptAll(_ serve: @escaping @Sendable (ServerConnection) -> Void) {
        while true {
            let peer = accept(descriptor, nil, nil)
            if peer < 0 {
                // A client that gave up before it was accepted is no reason to stop; our own shutdown is (EINVAL).
                if errno == ECONNABORTED || errno == EINTR { continue }
                return
            }
            _ = fcntl(peer, F_SETFD, FD_CLOEXEC)
            guard enter(peer), threads.start({ [self] in serveOne(peer, serve) }) else {
                leave(peer)
                continue
            }
        }
    }

    private func serveOne(_ peer: Int32, _ serve: (ServerConnection) -> Void) {
        serve(ServerConnection(peer))
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
