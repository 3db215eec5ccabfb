import SyncCore
import SyncDigest

/// The bytes of one request's body. Belongs to the transport's thread.
final class UploadSource {
    private enum Content {
        case bytes([UInt8])
        case file(FileFeed)
    }

    private let content: Content
    /// Of bytes in memory.
    private var offset = 0

    /// Bytes in memory are checked at once.
    /// - Parameter feed: of a body that is a file, which was opened for it.
    init(_ body: HTTPBody, _ feed: FileFeed?) throws(TransportError) {
        switch body.source {
        case .bytes(let bytes):
            content = .bytes(bytes)
            guard SHA256Digest(of: bytes) == body.digest.sha256 else { throw FileFeed.digestMismatch }
        case .file:
            guard let feed else { preconditionFailure("a file is opened before its request is handed in") }
            content = .file(feed)
        }
    }

    /// The next bytes: how many; 0 at the end, `nil` while none of them have been read.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int? {
        switch content {
        case .bytes(let bytes):
            let count = min(buffer.count, bytes.count - offset)
            guard count > 0 else { return 0 }
            bytes.withUnsafeBytes {
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset...].prefix(count)))
            }
            offset += count
            return count
        case .file(let feed): return try feed.take(into: buffer)
        }
    }

    /// Why the transfer has paused, where it has.
    var silence: TransportError? { if case .file(let feed) = content { feed.silence } else { nil } }

    /// Begins again, for a connection that died before it was used; curl rewinds to 0 only.
    func rewind(to position: Int64) -> Bool {
        guard position == 0 else { return false }
        switch content {
        case .bytes: offset = 0
        case .file(let feed): feed.rewind()
        }
        return true
    }
}
