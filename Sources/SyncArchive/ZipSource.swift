import SyncCore
import SyncSystem
import SystemPackage

/// A file that is to be added to an archive, opened, and as long as was announced.
///
/// Closed with its last reference.
final class ZipSource {
    private let descriptor: FileDescriptor

    /// - Throws: ``ZipError``, `.badSource`.
    init(_ path: FilePath, size: Int64) throws(ZipError) {
        do {
            // A pipe in its place does not make the call hang.
            descriptor = try FileDescriptor.open(path, .readOnly, options: [.nonBlocking, .closeOnExec])
        } catch {
            throw ZipError(.badSource, path.string, "it cannot be read: \(error)")
        }
        guard let status = try? FileStatus(of: descriptor), status.kind == .file else {
            try? descriptor.close()
            throw ZipError(.badSource, path.string, "it is no file")
        }
        guard status.stamp.size == size else {
            try? descriptor.close()
            throw ZipError(.badSource, path.string, "it has \(status.stamp.size) bytes, and \(size) were expected")
        }
    }

    deinit {
        try? descriptor.close()
    }

    /// The next bytes, in `buffer`; none at the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: buffer.prefix(try descriptor.read(into: buffer)))
    }
}
