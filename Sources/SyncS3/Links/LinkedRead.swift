import SyncCore
import SyncSystem

/// One reading of a photo of known size: hands on the bytes that were asked for, and ends whatever goes on beyond.
final class LinkedRead: Sendable {
    private struct State {
        /// Of the next byte that comes.
        var position: Int64 = 0
        var delivered: Int64 = 0
        var failure: StoreError?
    }

    private let key: ObjectKey
    private let size: Int64
    private let wanted: Range<Int64>
    private let isWhole: Bool
    private let sink: @Sendable (UnsafeRawBufferPointer) throws -> Void
    private let state = Mutex(State())

    init(
        _ key: ObjectKey, size: Int64, range: Range<Int64>?,
        into sink: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) {
        self.key = key
        self.size = size
        wanted = range.map { $0.lowerBound..<min($0.upperBound, size) } ?? 0..<size
        isWhole = range == nil
        self.sink = sink
    }

    /// Whether the body of this reply is the photo's. A server may send all of it where a part was asked for (RFC 9110,
    /// 14.2): what is before the part is skipped then.
    func begin(_ head: HTTPResponse) -> Bool {
        switch head.status {
        case 200:
            if let length = head.headers["Content-Length"].flatMap({ Int64($0) }), length != size {
                fail(.badDigest, "it has \(length) bytes there, and the manifest says \(size)")
            }
            return true
        case 206 where !isWhole:
            state.withLock { $0.position = wanted.lowerBound }
            let range = head.headers["Content-Range"] ?? ""
            if !range.hasPrefix("bytes \(wanted.lowerBound)-")
                || !(range.hasSuffix("/\(size)") || range.hasSuffix("/*"))
            {
                fail(.invalidRange, "another part of it came than was asked for")
            }
            return true
        default: return false
        }
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws {
        let start = state.withLock { state in
            defer { state.position += Int64(bytes.count) }
            return state.position
        }
        let end = start + Int64(bytes.count)
        if end > size { fail(.badDigest, "it goes on after the \(size) bytes that the manifest tells") }
        try check()
        let piece = max(start, wanted.lowerBound)..<max(min(end, wanted.upperBound), max(start, wanted.lowerBound))
        guard !piece.isEmpty else { return }
        try sink(
            UnsafeRawBufferPointer(rebasing: bytes[Int(piece.lowerBound - start)..<Int(piece.upperBound - start)]))
        state.withLock { $0.delivered += Int64(piece.count) }
    }

    /// - Throws: `StoreError` when the reply was not the photo, or not all of it.
    func end() throws {
        try check()
        let delivered = state.withLock { $0.delivered }
        guard delivered == Int64(wanted.count) else {
            throw StoreError(
                .connectionLost, operation: "get", key: key.rawValue,
                message: "\(delivered) of \(wanted.count) bytes arrived")
        }
    }

    private func check() throws {
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    private func fail(_ code: StoreError.Code, _ message: String) {
        state.withLock { state in
            state.failure =
                state.failure ?? StoreError(code, operation: "get", key: key.rawValue, message: message)
        }
    }
}
