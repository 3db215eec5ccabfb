import SyncCore
import SyncDigest
import SyncSystem
import SystemPackage

/// Reads files for their digests, with one buffer.
enum FileDigest {
    private static let pieceLength = 256 << 10

    /// The digests of a regular file; `nil` when there is something else, or a file of another length than `size`.
    /// - Throws: `Errno`; `CancellationError`.
    static func of(_ path: FilePath, size: Int64?, _ flag: CancellationFlag) throws -> ContentDigest? {
        let file: FileDescriptor
        do {
            file = try FileDescriptor.open(path, .readOnly, options: [.noFollow, .nonBlocking, .closeOnExec])
        } catch Errno.tooManySymbolicLinkLevels {
            return nil
        }
        defer { try? file.close() }
        let status = try FileStatus(of: file)
        guard status.kind == .file, size.map({ $0 == status.stamp.size }) ?? true else { return nil }
        var hasher = ContentHasher()
        try read(file, flag) { hasher.update($0) }
        return hasher.finalize()
    }

    /// Reads a file from its beginning to its end, piece by piece.
    static func read(
        _ file: FileDescriptor, _ flag: CancellationFlag, into body: (UnsafeRawBufferPointer) -> Void
    ) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceLength, alignment: 4_096)
        defer { buffer.deallocate() }
        var offset: Int64 = 0
        while true {
            try flag.check()
            let count = try file.read(fromAbsoluteOffset: offset, into: buffer)
            if count == 0 { return }
            body(UnsafeRawBufferPointer(rebasing: buffer.prefix(count)))
            offset += Int64(count)
        }
    }
}
