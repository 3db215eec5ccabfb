import Glibc
import SyncSystem
import SystemPackage

/// A connection to a port of 127.0.0.1, by which a test sends bytes as it likes. It waits on threads of its own.
final class Visitor: Sendable {
    struct Reply: Sendable {
        /// 0 when no whole head came.
        var status = 0
        /// Names in lower case.
        var headers: [String: String] = [:]
        var body: [UInt8] = []
        /// Whether the body is as long as the head says.
        var isWhole = false

        var text: String { String(decoding: body, as: UTF8.self) }
    }

    private static let pool = BlockingPool(name: "visitor", threads: 8)

    private let descriptor: Int32
    private let pending = Lock<[UInt8]>([])

    /// - Parameter buffer: bytes that the kernel keeps for a visitor that does not read; `nil` for as many as it likes.
    init(port: Int, buffer: Int32? = nil) throws(Errno) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        if var buffer { setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &buffer, socklen_t(MemoryLayout<Int32>.size)) }
        // What never comes ends the test, and not the run.
        var patience = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { throw Errno(rawValue: errno) }
    }

    deinit { close(descriptor) }

    /// - Returns: whether all of it was taken.
    @discardableResult
    func send(_ bytes: [UInt8]) async -> Bool {
        await Self.pool.finish { [descriptor] in
            var sent = 0
            while sent < bytes.count {
                let count = bytes[sent...].withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return false }
                sent += count
            }
            return true
        }
    }

    @discardableResult
    func send(_ text: String) async -> Bool { await send(Array(text.utf8)) }

    /// Asks, and reads the answer. The request may have lines of a header, each with its CRLF.
    func ask(_ line: String, _ headers: String = "", body: String = "") async -> Reply {
        await send("\(line) HTTP/1.1\r\nHost: a\r\n\(headers)\r\n\(body)")
        return await reply(toHead: line.hasPrefix("HEAD"))
    }

    /// - Parameter isHead: the answer to a HEAD has no body, whatever length it tells.
    func reply(toHead isHead: Bool = false) async -> Reply {
        await Self.pool.finish { [self] in readReply(isHead) }
    }

    /// What comes until the text has come, or the end.
    func read(until text: String) async -> String {
        await Self.pool.finish { [self] in
            let mark = Array(text.utf8)
            while pending.withLock({ $0.firstRange(of: mark) == nil }), receive() {}
            return pending.withLock { pending in
                let end = pending.firstRange(of: mark)?.upperBound ?? pending.count
                defer { pending.removeSubrange(..<end) }
                return String(decoding: pending[..<end], as: UTF8.self)
            }
        }
    }

    /// What comes until the server closes.
    func readToEnd() async -> [UInt8] {
        await Self.pool.finish { [self] in
            while receive() {}
            return pending.withLock { pending in
                defer { pending = [] }
                return pending
            }
        }
    }

    private func readReply(_ isHead: Bool) -> Reply {
        var reply = Reply()
        let mark = Array("\r\n\r\n".utf8)
        while pending.withLock({ $0.firstRange(of: mark) == nil }), receive() {}
        let head = pending.withLock { pending -> String? in
            guard let end = pending.firstRange(of: mark) else { return nil }
            defer { pending.removeSubrange(..<end.upperBound) }
            return String(decoding: pending[..<end.lowerBound], as: UTF8.self)
        }
        guard let lines = head?.split(separator: "\r\n"), let first = lines.first else { return reply }
        reply.status = Int(first.split(separator: " ").dropFirst().first ?? "") ?? 0
        for line in lines.dropFirst() {
            let name = line.prefix { $0 != ":" }
            reply.headers[name.lowercased()] = String(line[name.endIndex...].dropFirst().drop { $0 == " " })
        }
        let hasBody = !isHead && reply.status != 204 && reply.status != 304
        let length = hasBody ? reply.headers["content-length"].flatMap { Int($0) } ?? 0 : 0
        while pending.withLock({ $0.count < length }), receive() {}
        pending.withLock { pending in
            reply.body = Array(pending.prefix(length))
            pending.removeFirst(reply.body.count)
        }
        reply.isWhole = reply.body.count == length
        return reply
    }

    private func receive() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count > 0 { pending.withLock { $0 += buffer[..<count] } }
        return count > 0
    }
}
