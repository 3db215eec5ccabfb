import Foundation
import Glibc
import SyncTestSupport
import SystemPackage

/// The socket of a service manager (sd_notify(3)): collects the datagrams that a service sends.
final class NotifySocket: Sendable {
    let messages = Observed<[String]>([])
    private let descriptor: Int32

    /// - Parameter address: as in `NOTIFY_SOCKET`; one that begins with `@` is in the abstract name space (unix(7)).
    init(_ address: String) throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        self.descriptor = descriptor
        var name = Array(address.utf8)
        if name.first == UInt8(ascii: "@") { name[0] = 0 }
        var target = sockaddr_un()
        target.sun_family = sa_family_t(AF_UNIX)
        guard name.count < MemoryLayout.size(ofValue: target.sun_path) else { throw Errno.fileNameTooLong }
        withUnsafeMutableBytes(of: &target.sun_path) { $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let isBound = withUnsafePointer(to: &target) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) == 0 }
        }
        guard isBound else { throw Errno(rawValue: errno) }
        let messages = messages
        Thread.detachNewThread {
            var buffer = [UInt8](repeating: 0, count: 4_096)
            while case let count = recv(descriptor, &buffer, buffer.count, 0), count > 0 {
                let text = String(decoding: buffer[..<count], as: UTF8.self)
                messages.change { $0.append(text) }
            }
            close(descriptor)
        }
    }

    /// Ends the thread's wait; the thread closes the socket.
    deinit { shutdown(descriptor, Int32(SHUT_RDWR)) }

    func received(_ line: String) async throws {
        try await messages.wait(for: "the datagram \(line)") { messages in
            messages.contains { $0.split(separator: "\n").contains(Substring(line)) } ? () : nil
        }
    }
}
