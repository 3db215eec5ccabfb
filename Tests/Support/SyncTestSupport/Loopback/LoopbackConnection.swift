import Glibc

/// One connection with blocking reads and writes. Belongs to its thread.
package final class LoopbackConnection {
    /// Why the connection can serve no further request: the peer is gone, or a fault said so.
    package struct End: Error {}

    private static let headLimit = 64 << 10
    /// POLLRDHUP of poll(2), which Swift's Glibc does not show.
    private static let peerHasClosed: Int16 = 0x2000

    private let descriptor: Int32
    /// Read, and not used yet.
    private var pending: [UInt8] = []

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    /// The bytes up to the empty line; `nil` when the client closes.
    ///
    /// What cannot become a request any more is returned as it is: what does not begin with a capital letter (a TLS
    /// handshake on this plain port), or is longer than 64 KiB.
    package func readHeadBytes() -> [UInt8]? {
        let end = Array("\r\n\r\n".utf8)
        var searched = 0
        while true {
            if let found = pending[searched...].firstRange(of: end) {
                let head = Array(pending[..<found.lowerBound])
                pending.removeSubrange(..<found.upperBound)
                return head
            }
            searched = max(0, pending.count - end.count + 1)
            let begins = pending.first.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) } ?? true
            guard begins, pending.count < Self.headLimit else { return pending }
            guard receive() else { return nil }
        }
    }

    /// Exactly `count` bytes of a body.
    package func readBody(_ count: Int) throws(End) -> [UInt8] {
        pending.reserveCapacity(count)
        while pending.count < count {
            guard receive(min(1 << 20, count - pending.count)) else { throw End() }
        }
        let body = Array(pending.prefix(count))
        pending.removeFirst(count)
        return body
    }

    package func write(_ bytes: [UInt8]) throws(End) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                send(descriptor, buffer.baseAddress?.advanced(by: sent), buffer.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw End() }
            sent += count
        }
    }

    /// Tells the client that nothing more comes, and reads what it still sends until it closes. Without this, closing
    /// over unread bytes resets the connection, and the client may lose a reply that it has not read yet.
    func finish() {
        shutdown(descriptor, Int32(SHUT_WR))
        pending = []
        while receive() { pending = [] }
    }

    /// The bytes that come next, `limit` of them at most.
    /// - Returns: `nil` when the client has closed.
    package func readSome(_ limit: Int) -> [UInt8]? {
        if pending.isEmpty, !receive(min(limit, 64 << 10)) { return nil }
        let bytes = Array(pending.prefix(limit))
        pending.removeFirst(bytes.count)
        return bytes
    }

    /// Does nothing until the client closes or the server stops. What the client sends is not read.
    func stall() {
        var entry = pollfd(fd: descriptor, events: Self.peerHasClosed, revents: 0)
        while poll(&entry, 1, -1) < 0, errno == EINTR {}
    }

    /// Makes the coming close a reset (RST) rather than an orderly end (socket(7), SO_LINGER).
    func resetOnClose() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
    }

    private func receive(_ count: Int = 64 << 10) -> Bool {
        var buffer = [UInt8](repeating: 0, count: count)
        while true {
            let got = recv(descriptor, &buffer, count, 0)
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { return false }
            pending += buffer[..<got]
            return true
        }
    }
}
