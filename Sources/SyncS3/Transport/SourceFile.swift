import SyncCore
import SyncSystem
import SystemPackage

/// An open file whose bytes are being sent, and that has to stay the file that it was.
///
/// Whoever has it last closes it, and that may be a task: close(2) waits for the disk (on a server, or of a program that
/// shows files), so the threads that read do it.
final class SourceFile: Sendable {
    private let descriptor: FileDescriptor
    private let reads: SourceReads
    let path: FilePath
    let stamp: FileStamp

    /// open(2). A symbolic link in the file's place is not followed; a FIFO does not block.
    /// - Parameter reads: the threads that close it.
    /// - Throws: `.sourceChanged` when it is not the file of that stamp; `.sourceUnreadable` when it cannot be read
    ///   now.
    init(_ path: FilePath, stamp: FileStamp, closedBy reads: SourceReads) throws(TransportError) {
        self.path = path
        self.stamp = stamp
        self.reads = reads
        descriptor = try Self.call("open", path) {
            try FileDescriptor.open(
                path, .readOnly, options: [.noFollow, .closeOnExec, .nonBlocking], retryOnInterrupt: true)
        }
        try checkStamp()
    }

    deinit {
        reads.letGo(stamp) { [descriptor] in try? descriptor.close() }
    }

    /// The bytes at an offset, at least one.
    /// - Throws: as ``init(_:stamp:closedBy:)``.
    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(TransportError) -> Int {
        let count = try Self.call("read", path) {
            try descriptor.read(fromAbsoluteOffset: offset, into: buffer, retryOnInterrupt: true)
        }
        guard count > 0 else {
            throw TransportError(
                .sourceChanged, "\(path.string.escapingControls) became shorter while it was being sent")
        }
        return count
    }

    /// - Throws: `.sourceChanged` when the file was written to since.
    func checkStamp() throws(TransportError) {
        guard try Self.call("read", path, { try FileStatus(of: descriptor).stamp }) == stamp else {
            throw TransportError(.sourceChanged, "\(path.string.escapingControls) was changed while it was being sent")
        }
    }

    /// The disk that a file is on gives no bytes.
    static func silence(of path: FilePath) -> TransportError {
        TransportError(
            .sourceSilent,
            "cannot read \(path.string.escapingControls): the drive, or the server, that it is on does not answer")
    }

    private static func call<Value>(
        _ verb: String, _ path: FilePath, _ body: () throws -> Value
    ) throws(TransportError) -> Value {
        do {
            return try body()
        } catch {
            throw TransportError(code(of: error), "cannot \(verb) \(path.string.escapingControls): \(error)")
        }
    }

    /// A disk that fails, too many open files and the like pass, and the file is still the one that was promised.
    private static func code(of error: any Error) -> TransportError.Code {
        guard let error = error as? Errno else { return .failed }
        // A link has taken its place.
        return error.isMissing || error == .tooManySymbolicLinkLevels ? .sourceChanged : .sourceUnreadable
    }
}

/// The threads that read files which are sent. A disk that hangs holds up its own files alone (``DiskThreads``).
package struct SourceReads: Sendable {
    package struct Disk: Identifiable, Sendable {
        /// st_dev of stat(3type).
        package let id: UInt64
    }

    let pool: BlockingPool
    /// One for all threads that read for a store, however long each of them lives: a disk that hangs is found out once.
    let disks: DiskThreads<Disk>

    init(pool: BlockingPool, disks: DiskThreads<Disk> = DiskThreads()) {
        self.pool = pool
        self.disks = disks
    }

    /// Runs what waits for a file's disk, for as long as that gives signs of life.
    /// - Parameter stamp: of the file.
    /// - Throws: what `body` throws; `.sourceSilent`; `CancellationError`.
    func run<Value: Sendable>(
        _ path: FilePath, _ stamp: FileStamp, _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        do {
            return try await disks.run(at: Disk(id: stamp.device), on: pool, body)
        } catch is NoSignOfLife {
            throw SourceFile.silence(of: path)
        }
    }

    /// Lets go of a file, on its disk's account. Nobody waits for it.
    /// - Parameter stamp: of the file.
    func letGo(_ stamp: FileStamp, _ release: @escaping @Sendable () -> Void) {
        disks.letGo(at: Disk(id: stamp.device), on: pool, release)
    }
}
