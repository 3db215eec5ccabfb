import Foundation
import Glibc
import SyncCore
import SyncSystem

/// An HTTP server on 127.0.0.1 that does to each connection what a test scripts, and nothing else.
///
/// It ends with ``stop()``, which waits until no connection is left.
final class LoopbackServer: Sendable {
    let port: Int
    private let listener: Int32
    private let group = DispatchGroup()

    /// - Parameter serve: runs on a thread of its own for each connection, which is closed when it returns.
    init(_ serve: @escaping @Sendable (Connection) -> Void) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 16) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        guard bound else { throw POSIXError(.EADDRNOTAVAIL) }
        port = Int(UInt16(bigEndian: address.sin_port))
        self.listener = listener
        let group = group
        Self.thread(in: group) {
            while case let peer = accept(listener, nil, nil), peer >= 0 {
                Self.thread(in: group) {
                    let connection = Connection(peer)
                    serve(connection)
                    connection.close()
                }
            }
        }
    }

    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        group.wait()
        Glibc.close(listener)
    }

    private static func thread(in group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
        group.enter()
        Thread.detachNewThread {
            body()
            group.leave()
        }
    }
}

/// One connection, with blocking reads and writes. Belongs to its thread.
final class Connection {
    private let descriptor: Int32

    fileprivate init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Reads a request's head; `nil` when the client has closed.
    func readHead() -> RequestHead? {
        var bytes: [UInt8] = []
        while !bytes.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            guard let byte = read(1)?.first else { return nil }
            bytes.append(byte)
        }
        return RequestHead(String(decoding: bytes, as: UTF8.self))
    }

    /// Reads until `count` bytes are there or the client closes.
    func readBody(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count, let more = read(count - bytes.count) { bytes += more }
        return bytes
    }

    /// Reads as ``readBody(_:)`` does and keeps nothing.
    func skipBody(_ count: Int) {
        var left = count
        while left > 0, let more = read(left) { left -= more.count }
    }

    func write(_ text: String) {
        _ = text.withCString { send(descriptor, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
    }

    /// Waits until the client closes.
    func waitForEnd() {
        while read(4_096) != nil {}
    }

    fileprivate func close() {
        Glibc.close(descriptor)
    }

    private func read(_ count: Int) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: min(count, 65_536))
        let got = recv(descriptor, &buffer, buffer.count, 0)
        return got > 0 ? Array(buffer[..<got]) : nil
    }
}

struct RequestHead: Hashable, Sendable {
    let line: String
    /// Names in lower case.
    let headers: [String: String]

    init(_ text: String) {
        let lines = text.components(separatedBy: "\r\n")
        line = lines[0]
        headers = lines.dropFirst().reduce(into: [:]) { headers, line in
            guard let colon = line.firstIndex(of: ":") else { return }
            headers[line[..<colon].lowercased()] = String(line[line.index(after: colon)...])
                .trimmingCharacters(in: .whitespaces)
        }
    }

    var length: Int { headers["content-length"].flatMap(Int.init) ?? 0 }
}

/// Something that a thread notes and a test waits for.
final class Noted<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])
    private let stream: AsyncStream<Value>
    private let continuation: AsyncStream<Value>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    var all: [Value] { values.withLock { $0 } }

    func note(_ value: Value) {
        values.withLock { $0.append(value) }
        continuation.yield(value)
    }

    /// The next one that no other call has got.
    func next() async -> Value? {
        var iterator = stream.makeAsyncIterator()
        return await iterator.next()
    }
}
