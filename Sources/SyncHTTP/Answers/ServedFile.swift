import NIOCore
import SyncCore
import SyncSystem
import SystemPackage

/// An open file, for threads that may block. Whoever opens it closes it.
struct ServedFile: Sendable {
    /// Bytes of it that are in memory at once, for each connection.
    static let pieceLength: Int64 = 256 << 10

    let stamp: FileStamp
    private let descriptor: SystemPackage.FileDescriptor

    /// - Returns: `nil` where there is no file that can be read. A link at the end of the path is none.
    init?(_ path: FilePath) {
        // Without waiting, as the open of a pipe does.
        let options: SystemPackage.FileDescriptor.OpenOptions = [.noFollow, .nonBlocking, .closeOnExec]
        guard let descriptor = try? SystemPackage.FileDescriptor.opened(path, .readOnly, options) else { return nil }
        guard let status = try? FileStatus(of: descriptor), status.kind == .file else {
            try? descriptor.close()
            return nil
        }
        (stamp, self.descriptor) = (status.stamp, descriptor)
    }

    /// - Parameter isLast: nothing is read when the length is another by now.
    /// - Returns: `nil` when the file does not have them any more, or cannot be read.
    func read(_ piece: Range<Int64>, isLast: Bool) -> ByteBuffer? {
        var bytes = ByteBuffer()
        var offset = piece.lowerBound
        while offset < piece.upperBound {
            let count = try? bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: Int(piece.upperBound - offset)) {
                let rest = UnsafeMutableRawBufferPointer(rebasing: $0[..<Int(piece.upperBound - offset)])
                return try descriptor.read(at: offset, into: rest)
            }
            guard let count, count > 0 else { return nil }
            offset += Int64(count)
        }
        if isLast, (try? FileStatus(of: descriptor))?.stamp.size != stamp.size { return nil }
        return bytes
    }

    func close() {
        try? descriptor.close()
    }
}
