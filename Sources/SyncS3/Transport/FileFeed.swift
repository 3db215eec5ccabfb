import SyncCore
import SyncDigest
import SyncSystem
import SystemPackage

/// The bytes of a file, or of a part of one, that are the body of a request: read ahead on a thread that a disk may
/// hold, and taken by the transport's thread, which waits for no disk. No more is in memory than two chunks.
///
/// They are checked against their digest before the last of them is handed out: a body that is not what was promised
/// never arrives whole, so the store keeps nothing, whether it checks digests itself or not.
final class FileFeed: Sendable {
    /// Bytes that are read at a time.
    private static let chunkSize: Int64 = 256 << 10
    private static let chunksAhead = 2

    private struct State {
        /// `nil` once the transfer is over.
        var file: SourceFile?
        /// Read, and not taken yet, in their order.
        var chunks: [[UInt8]] = []
        /// Bytes of the first one that were taken.
        var taken = 0
        /// Where the next one begins, from the start of the body.
        var offset: Int64 = 0
        /// How often the body was begun again.
        var round = 0
        var failure: (any Error)?
        /// Whether the transfer has paused for want of bytes.
        var isAwaited = false
    }

    private let path: FilePath
    private let stamp: FileStamp
    private let start: Int64
    private let patches: FilePatches
    private let size: Int64
    /// An MD5 was made with it, when the file was read before.
    private let expected: SHA256Digest
    private let onRead: @Sendable (Int64) -> Void
    private let state: Lock<State>
    /// Of what was read of this round. One thread reads at a time.
    private let hasher = Lock(SHA256Hasher())
    /// Told when bytes were taken, and there is room for more.
    private let wanted: AsyncStream<Void>
    private let room: AsyncStream<Void>.Continuation

    private init(
        _ body: HTTPBody, _ file: SourceFile, from start: Int64, onRead: @escaping @Sendable (Int64) -> Void
    ) {
        (path, stamp) = (file.path, file.stamp)
        state = Lock(State(file: file))
        self.start = start
        patches = body.patches
        size = body.size
        expected = body.digest.sha256
        self.onRead = onRead
        (wanted, room) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Opens the file of a body, and reads its first bytes.
    /// - Parameter onRead: called on the thread that reads, with the place in the file.
    /// - Returns: `nil` for a body in memory.
    /// - Throws: ``TransportError``: `.sourceChanged`, `.sourceUnreadable`, `.sourceSilent`, `.digestMismatch`;
    ///   `CancellationError`.
    static func open(
        _ body: HTTPBody?, by reads: SourceReads, onRead: @escaping @Sendable (Int64) -> Void
    ) async throws -> FileFeed? {
        guard let body, case .file(let path, let stamp, let start) = body.source else { return nil }
        return try await reads.run(path, stamp) {
            let file = try SourceFile(path, stamp: stamp, closedBy: reads)
            let feed = FileFeed(body, file, from: start, onRead: onRead)
            try feed.readNext()
            return feed
        }
    }

    // MARK: The threads that read

    /// Reads ahead until it is closed, or its task is cancelled.
    /// - Parameter onBytes: called when there are bytes for a transfer that has paused, or none will come.
    func run(by reads: SourceReads, onBytes: @Sendable () -> Void) async {
        for await _ in wanted {
            while hasRoom {
                do {
                    try await reads.run(path, stamp) { try self.readNext() }
                } catch {
                    state.withLock { $0.failure = error }
                }
                if state.withLock({ exchange(&$0.isAwaited, with: false) }) { onBytes() }
            }
        }
    }

    /// The transfer is over: the file is closed, at the latest when its disk answers. Nobody waits for that here.
    func close() {
        // Let go of once the lock is free.
        _ = state.withLock { exchange(&$0.file, with: nil) }
        room.finish()
    }

    private var hasRoom: Bool {
        state.withLock { state in
            state.file != nil && state.failure == nil && state.offset < size && state.chunks.count < Self.chunksAhead
        }
    }

    private func readNext() throws {
        let (file, offset, round) = state.withLock { ($0.file, $0.offset, $0.round) }
        guard let file else { return }
        if offset == 0 { hasher.withLock { _ = $0.finalize() } }
        onRead(start + offset)
        let chunk = try read(file, at: offset, Int(min(Self.chunkSize, size - offset)))
        let end = offset + Int64(chunk.count)
        if end == size {
            try file.checkStamp()
            guard hasher.withLock({ $0.finalize() }) == expected else { throw Self.digestMismatch }
        }
        state.withLock { state in
            // It was begun again meanwhile.
            guard state.round == round, !chunk.isEmpty else { return }
            state.chunks.append(chunk)
            state.offset = end
        }
    }

    private func read(_ file: SourceFile, at offset: Int64, _ wanted: Int) throws -> [UInt8] {
        guard wanted > 0 else { return [] }
        return try [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
            let bytes = UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: wanted)
            count = try file.read(at: start + offset, into: bytes)
            patches.apply(to: .init(rebasing: bytes[..<count]), at: start + offset)
            let read = UnsafeRawBufferPointer(rebasing: bytes[..<count])
            hasher.withLock { $0.update(read) }
        }
    }

    // MARK: The transport's thread

    /// The next bytes: how many; 0 at the end, `nil` while none of them have been read.
    /// - Throws: as ``open(_:by:onRead:)``, after what was read before.
    func take(into buffer: UnsafeMutableRawBufferPointer) throws -> Int? {
        let count = try state.withLock { state throws -> Int? in
            guard let chunk = state.chunks.first else {
                if let failure = state.failure { throw failure }
                if state.offset == size { return 0 }
                state.isAwaited = true
                return nil
            }
            let count = min(chunk.count - state.taken, buffer.count)
            chunk.withUnsafeBytes {
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[state.taken...].prefix(count)))
            }
            state.taken += count
            if state.taken == chunk.count {
                state.chunks.removeFirst()
                state.taken = 0
            }
            return count
        }
        room.yield()
        return count
    }

    /// Why the transfer has paused, where it has.
    var silence: TransportError? { state.withLock { $0.isAwaited } ? SourceFile.silence(of: path) : nil }

    /// Begins the body again.
    func rewind() {
        state.withLock { state in
            (state.chunks, state.taken, state.offset, state.isAwaited) = ([], 0, 0, false)
            state.round += 1
        }
        room.yield()
    }

    static var digestMismatch: TransportError {
        TransportError(.digestMismatch, "the bytes that were read are not those that were hashed before")
    }
}
