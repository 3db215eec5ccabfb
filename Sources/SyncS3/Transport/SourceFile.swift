import SyncCore
import SyncSystem
import SystemPackage

/// An open file whose bytes are being sent, and that has to stay the file that it was.
final class SourceFile: Sendable {
    private let descriptor: FileDescriptor
    private let path: FilePath
    private let stamp: FileStamp

    /// open(2). A symbolic link in the file's place is not followed; a FIFO does not block.
    /// - Throws: `.sourceChanged` when it is not the file of that stamp.
    init(_ path: FilePath, stamp: FileStamp) throws(TransportError) {
        self.path = path
        self.stamp = stamp
        do {
            descriptor = try FileDescriptor.open(
                path, .readOnly, options: [.noFollow, .closeOnExec, .nonBlocking], retryOnInterrupt: true)
        } catch {
            throw Self.failure("open", path, error)
        }
        try checkStamp()
    }

    deinit {
        try? descriptor.close()
    }

    /// The bytes at an offset, at least one.
    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(TransportError) -> Int {
        let count: Int
        do {
            count = try descriptor.read(fromAbsoluteOffset: offset, into: buffer, retryOnInterrupt: true)
        } catch {
            throw Self.failure("read", path, error)
        }
        guard count > 0 else {
            throw TransportError(
                .sourceChanged, "\(path.string.escapingControls) became shorter while it was being sent")
        }
        return count
    }

    /// - Throws: `.sourceChanged` when the file was written to since.
    func checkStamp() throws(TransportError) {
        let found: FileStamp
        do throws(Errno) {
            found = try FileStatus(of: descriptor).stamp
        } catch {
            throw Self.failure("read", path, error)
        }
        guard found == stamp else {
            throw TransportError(.sourceChanged, "\(path.string.escapingControls) was changed while it was being sent")
        }
    }

    private static func failure(_ verb: String, _ path: FilePath, _ error: any Error) -> TransportError {
        TransportError(
            error is Errno ? .sourceChanged : .failed, "cannot \(verb) \(path.string.escapingControls): \(error)")
    }
}
