import Foundation
import Glibc

/// What came back over one connection.
struct RawReply: Sendable {
    /// `nil` when the head did not come whole.
    var status: Int?
    /// Names in lower case.
    var headers: [String: String] = [:]
    var body: [UInt8] = []
    /// Whether body and head are as long as they say.
    var isWhole = false
    /// Whether the connection ended with a reset.
    var wasReset = false

    var text: String { String(decoding: body, as: UTF8.self) }

    /// The text of the first element of a name.
    subscript(element: String) -> String? {
        guard let start = text.firstRange(of: "<\(element)>"), let end = text.firstRange(of: "</\(element)>") else {
            return nil
        }
        return start.upperBound <= end.lowerBound ? String(text[start.upperBound..<end.lowerBound]) : nil
    }

    /// The texts of all elements of a name.
    func all(_ element: String) -> [String] {
        text.components(separatedBy: "<\(element)>").dropFirst().map { $0.components(separatedBy: "</\(element)>")[0] }
    }
}

/// A blocking connection to a port of 127.0.0.1.
final class RawConnection {
    private let descriptor: Int32
    private var pending: [UInt8] = []
    private var wasReset = false

    init(port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let failed = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        // deinit closes the descriptor also then.
        guard failed == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    deinit {
        Glibc.close(descriptor)
    }

    func write(_ text: String) {
        _ = text.withCString { Glibc.send(descriptor, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
    }

    /// - Parameter isHead: the reply to a HEAD has no body, whatever length it tells.
    func readReply(toHead isHead: Bool) -> RawReply {
        var reply = RawReply()
        let mark = Array("\r\n\r\n".utf8)
        while pending.firstRange(of: mark) == nil, receive() {}
        if let end = pending.firstRange(of: mark) {
            let lines = String(decoding: pending[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
            pending.removeSubrange(..<end.upperBound)
            reply.status = Int(lines[0].split(separator: " ")[1])
            for line in lines.dropFirst() {
                let sides = line.components(separatedBy: ": ")
                reply.headers[sides[0].lowercased()] = sides.dropFirst().joined(separator: ": ")
            }
            readBody(of: &reply, isHead: isHead)
        }
        reply.wasReset = wasReset
        return reply
    }

    private func readBody(of reply: inout RawReply, isHead: Bool) {
        if reply.headers["transfer-encoding"] == "chunked" {
            while let chunk = readChunk() {
                reply.body += chunk
                if chunk.isEmpty { reply.isWhole = true; return }
            }
            return
        }
        let length = isHead || reply.status == 204 ? 0 : reply.headers["content-length"].flatMap { Int($0) } ?? 0
        while pending.count < length, receive() {}
        reply.isWhole = pending.count >= length
        reply.body = Array(pending.prefix(length))
        pending.removeFirst(reply.body.count)
    }

    private func readChunk() -> [UInt8]? {
        let mark = Array("\r\n".utf8)
        while pending.firstRange(of: mark) == nil, receive() {}
        guard let end = pending.firstRange(of: mark) else { return nil }
        let length = Int(String(decoding: pending[..<end.lowerBound], as: UTF8.self), radix: 16) ?? 0
        pending.removeSubrange(..<end.upperBound)
        while pending.count < length + 2, receive() {}
        guard pending.count >= length + 2 else { return nil }
        defer { pending.removeFirst(length + 2) }
        return Array(pending[..<length])
    }

    private func receive() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count < 0, errno == ECONNRESET { wasReset = true }
        if count > 0 { pending += buffer[..<count] }
        return count > 0
    }
}
