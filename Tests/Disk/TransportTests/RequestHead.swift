import Foundation
import SyncCore
import SyncSystem
import SyncTestSupport

/// Text in and out, as these tests script it. Nothing here fails: what the client does is looked at by the test.
extension LoopbackConnection {
    /// Reads a request's head; `nil` when the client has closed.
    func readHead() -> RequestHead? {
        readHeadBytes().map { RequestHead(String(decoding: $0, as: UTF8.self)) }
    }

    /// Reads until `count` bytes are there or the client closes.
    func readUpTo(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count, let more = readSome(count - bytes.count) { bytes += more }
        return bytes
    }

    /// Reads as ``readUpTo(_:)`` does and keeps nothing.
    func skipBody(_ count: Int) {
        var left = count
        while left > 0, let more = readSome(left) { left -= more.count }
    }

    func write(_ text: String) { try? write(Array(text.utf8)) }

    /// Waits until the client closes.
    func waitForEnd() {
        while readSome(4_096) != nil {}
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
    private let values = Lock<[Value]>([])
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
