import SyncCore
import SyncDigest
import SyncSystem
import SystemPackage

/// Reads a file part by part, ahead of the upload, for the digests that each part is signed with and that of the whole.
/// Blocks.
final class PartHasher: Sendable {
    private static let bufferSize = 1 << 20

    private let path: FilePath
    private let stamp: FileStamp
    private let file: SourceFile
    private let whole = Mutex(ContentHasher())

    init(_ path: FilePath, stamp: FileStamp) throws(TransportError) {
        self.path = path
        self.stamp = stamp
        file = try SourceFile(path, stamp: stamp)
    }

    /// The next part. They have to be asked for in their order.
    func body(of range: Range<Int64>) throws -> HTTPBody {
        var hasher = ContentHasher()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.bufferSize, alignment: 1)
        defer { buffer.deallocate() }
        var offset = range.lowerBound
        while offset < range.upperBound {
            try PooledWork.checkCancellation()
            let wanted = Int(min(Int64(buffer.count), range.upperBound - offset))
            let count = try file.read(at: offset, into: .init(rebasing: buffer[..<wanted]))
            let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            hasher.update(bytes)
            whole.withLock { $0.update(bytes) }
            offset += Int64(count)
        }
        return HTTPBody(file: path, stamp: stamp, range: range, digest: hasher.finalize())
    }

    /// Of all parts that were read.
    func finish() -> ContentDigest {
        whole.withLock { $0.finalize() }
    }
}
