import SyncCore
import SyncDigest
import SyncSystem
import SystemPackage

/// The bytes of one request's body, checked against their digest before the last of them is handed out: a body that is
/// not what was promised never arrives whole, so the store keeps nothing, whether it checks digests itself or not.
///
/// Belongs to the transport's thread. A file is read straight into curl's buffer.
final class UploadSource {
    private enum Content {
        case bytes([UInt8])
        case file(SourceFile, from: Int64)
    }

    private let content: Content
    private let patches: FilePatches
    private let size: Int64
    /// An MD5 was made with it, when the file was read before.
    private let expected: SHA256Digest
    private var offset: Int64 = 0
    private var hasher = SHA256Hasher()

    /// Opens the file. Bytes in memory, and an empty body, are checked at once.
    init(_ body: HTTPBody) throws(TransportError) {
        patches = body.patches
        size = body.size
        expected = body.digest.sha256
        switch body.source {
        case .bytes(let bytes):
            content = .bytes(bytes)
            guard SHA256Digest(of: bytes) == expected else { throw Self.digestMismatch }
        case .file(let path, let stamp, let start):
            content = .file(try SourceFile(path, stamp: stamp), from: start)
            if size == 0, SHA256Digest(of: []) != expected { throw Self.digestMismatch }
        }
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
        case .file(let file, let start):
            let count = try file.read(at: start + offset, into: .init(rebasing: buffer[..<wanted]))
            patches.apply(to: .init(rebasing: buffer[..<count]), at: start + offset)
            hasher.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            offset += Int64(count)
            if offset == size {
                try file.checkStamp()
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

    private static var digestMismatch: TransportError {
        TransportError(.digestMismatch, "the bytes that were read are not those that were hashed before")
    }
}

/// An open file whose bytes are being sent, and that has to stay the file that it was.
final class SourceFile: Sendable {
    private let descriptor: FileDescriptor
    let path: FilePath
    let stamp: FileStamp

    /// open(2). A symbolic link in the file's place is not followed; a FIFO does not block.
    /// - Throws: `.sourceChanged` when it is not the file of that stamp; `.sourceUnreadable` when it cannot be read
    ///   now.
    init(_ path: FilePath, stamp: FileStamp) throws(TransportError) {
        self.path = path
        self.stamp = stamp
        descriptor = try Self.call("open", path) {
            try FileDescriptor.open(
                path, .readOnly, options: [.noFollow, .closeOnExec, .nonBlocking], retryOnInterrupt: true)
        }
        try checkStamp()
    }

    deinit {
        try? descriptor.close()
    }

    /// The bytes at an offset, at least one.
    /// - Throws: as ``init(_:stamp:)``.
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
