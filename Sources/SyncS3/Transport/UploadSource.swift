import Glibc
import SyncCore
import SyncDigest
import SystemPackage

/// The bytes of one request's body, checked against their digest before the last of them is handed out: a body that is
/// not what was promised never arrives whole, so the store keeps nothing, whether it checks digests itself or not.
///
/// Belongs to the transport's thread. A file is read straight into curl's buffer.
final class UploadSource {
    private enum Content {
        case bytes([UInt8])
        case file(FileDescriptor, FilePath, FileStamp)
    }

    private let content: Content
    private let size: Int64
    private let expected: ContentDigest
    private var offset: Int64 = 0
    private var hasher = ContentHasher()

    /// Opens the file. Bytes in memory, and an empty body, are checked at once.
    init(_ body: ObjectBody) throws(TransportError) {
        size = body.size
        expected = body.digest
        switch body.source {
        case .bytes(let bytes):
            content = .bytes(bytes)
            guard ContentDigest(of: bytes) == expected else { throw Self.digestMismatch }
        case .file(let path, let stamp):
            content = .file(try Self.open(path), path, stamp)
            try checkStamp()
            if size == 0, ContentDigest(of: []) != expected { throw Self.digestMismatch }
        }
    }

    deinit {
        if case .file(let descriptor, _, _) = content { try? descriptor.close() }
    }

    /// The next bytes; 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransportError) -> Int {
        let wanted = Int(min(Int64(buffer.count), size - offset))
        guard wanted > 0 else { return 0 }
        switch content {
        case .bytes(let bytes):
            bytes.withUnsafeBytes {
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[Int(offset)...].prefix(wanted)))
            }
            offset += Int64(wanted)
            return wanted
        case .file(let descriptor, let path, _):
            let count = try Self.read(descriptor, path, at: offset, into: .init(rebasing: buffer[..<wanted]))
            hasher.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            offset += Int64(count)
            if offset == size {
                try checkStamp()
                guard hasher.finalize() == expected else { throw Self.digestMismatch }
            }
            return count
        }
    }

    /// Begins again, for a connection that died before it was used; curl rewinds to 0 only.
    func rewind(to position: Int64) -> Bool {
        guard position == 0 else { return false }
        offset = 0
        _ = hasher.finalize()
        return true
    }

    private func checkStamp() throws(TransportError) {
        guard case .file(let descriptor, let path, let expected) = content else { return }
        var status = Glibc.stat()
        guard fstat(descriptor.rawValue, &status) == 0 else {
            throw Self.failure("read", path, Errno(rawValue: errno))
        }
        let stamp = FileStamp(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
            modified: Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec))
        guard stamp == expected else {
            throw TransportError(.sourceChanged, "\(path.string.escapingControls) was changed while it was being sent")
        }
    }

    /// open(2). A symbolic link in the file's place is not followed; a FIFO does not block.
    private static func open(_ path: FilePath) throws(TransportError) -> FileDescriptor {
        do {
            return try FileDescriptor.open(
                path, .readOnly, options: [.noFollow, .closeOnExec, .nonBlocking], retryOnInterrupt: true)
        } catch let error as Errno {
            throw failure("open", path, error)
        } catch {
            throw TransportError(.failed, "cannot open \(path.string.escapingControls): \(error)")
        }
    }

    private static func read(
        _ descriptor: FileDescriptor, _ path: FilePath, at offset: Int64, into buffer: UnsafeMutableRawBufferPointer
    ) throws(TransportError) -> Int {
        do {
            let count = try descriptor.read(fromAbsoluteOffset: offset, into: buffer, retryOnInterrupt: true)
            guard count > 0 else {
                throw TransportError(
                    .sourceChanged, "\(path.string.escapingControls) became shorter while it was being sent")
            }
            return count
        } catch let error as TransportError {
            throw error
        } catch let error as Errno {
            throw failure("read", path, error)
        } catch {
            throw TransportError(.failed, "cannot read \(path.string.escapingControls): \(error)")
        }
    }

    private static func failure(_ verb: String, _ path: FilePath, _ error: Errno) -> TransportError {
        TransportError(.sourceChanged, "cannot \(verb) \(path.string.escapingControls): \(error)")
    }

    private static var digestMismatch: TransportError {
        TransportError(.digestMismatch, "the bytes that were read are not those that were hashed before")
    }
}
