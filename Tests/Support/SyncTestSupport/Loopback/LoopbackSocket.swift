import Glibc
package import SystemPackage

/// Sockets on free ports of 127.0.0.1.
enum LoopbackSocket {
    /// - Parameters:
    ///   - backlog: connections that wait to be accepted; `nil` where none is taken, so that all are refused.
    ///   - type: added to that of the socket.
    /// - Returns: the descriptor, which is not inherited, and its port, which is nobody else's until it is closed.
    /// - Throws: `Errno` when there is no socket or port.
    static func bound(
        listensFor backlog: Int32?, _ type: __socket_type = SOCK_CLOEXEC
    ) throws(Errno) -> (descriptor: Int32, port: Int) {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(type.rawValue)
        let descriptor = socket(AF_INET, kind, 0)
        guard descriptor >= 0 else { throw Errno(rawValue: errno) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && (backlog.map { listen(descriptor, $0) == 0 } ?? true)
                    && getsockname(descriptor, address, &length) == 0
            }
        }
        guard isBound else {
            let failure = Errno(rawValue: errno)
            close(descriptor)
            throw failure
        }
        return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
    }

    /// Begins to connect a socket that does not block.
    static func connect(_ descriptor: Int32, to port: Int) throws(Errno) {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let failed = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                Glibc.connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard failed == 0 || errno == EINPROGRESS else { throw Errno(rawValue: errno) }
    }

    /// Waits for the next connection.
    /// - Returns: its descriptor, negative where there is none for the reason in `errno`; and the port of its client.
    static func accept(_ descriptor: Int32) -> (peer: Int32, port: Int) {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let peer = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                Glibc.accept(descriptor, address, &length)
            }
        }
        return (peer, Int(UInt16(bigEndian: address.sin_port)))
    }
}

/// A TCP port of the loopback interface where nobody answers. As long as it lives, nobody else can get the port: one that
/// was free a moment ago may be another test's by now.
package final class SilentPort: Sendable {
    package let number: Int
    private let descriptor: Int32

    /// - Parameter listens: whether connections are taken at all; if not, they are refused.
    package init(listens: Bool) throws(Errno) {
        (descriptor, number) = try LoopbackSocket.bound(listensFor: listens ? 4 : nil, SOCK_NONBLOCK)
    }

    deinit { close(descriptor) }

    /// Whether anybody has connected.
    package var wasVisited: Bool {
        let visitor = accept(descriptor, nil, nil)
        if visitor >= 0 { close(visitor) }
        return visitor >= 0
    }
}
