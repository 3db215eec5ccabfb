import Glibc
import SyncCore
import SyncDigest
import SyncSystem
import SystemPackage

/// A photo's file while it is read. Closes its descriptor.
struct PhotoFile: ~Copyable {
    let descriptor: FileDescriptor

    /// Opens a file. A symbolic link is not followed (it may leave the watched folder), and a FIFO does not block.
    init(opening path: FilePath) throws(PhotoError) {
        descriptor = try PhotoError.of("open") {
            try FileDescriptor.open(
                path, .readOnly, options: [.closeOnExec, .noFollow, .nonBlocking], retryOnInterrupt: true)
        }
    }

    deinit {
        try? descriptor.close()
    }

    /// As it is now.
    func stamp() throws(PhotoError) -> FileStamp {
        let status = try PhotoError.of("statx") { [descriptor] in try FileStatus(of: descriptor) }
        guard status.kind == .file else { throw PhotoError(.notAFile, "not a regular file") }
        return status.stamp
    }

    /// Throws `.changed` unless the file still has this stamp.
    func require(_ stamp: FileStamp) throws(PhotoError) {
        guard try self.stamp() == stamp else { throw PhotoError(.changed, "the file changed after it was examined") }
    }

    /// Reads the file to its end.
    func digest() throws(PhotoError) -> ContentDigest {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 4_096)
        defer { buffer.deallocate() }
        var hasher = ContentHasher()
        var offset: Int64 = 0
        while true {
            // It may be sparse, and a terabyte.
            try PhotoError.checkStopped()
            let count = try PhotoError.of("read") { [descriptor] in try descriptor.read(at: offset, into: buffer) }
            guard count > 0 else { return hasher.finalize() }
            hasher.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            offset += Int64(count)
        }
    }

    /// Reads a part of the file. Where the file ends before it, so does what is returned.
    func read(_ range: Range<Int>) throws(PhotoError) -> [UInt8] {
        try Self.read(range, of: descriptor)
    }

    static func read(_ range: Range<Int>, of descriptor: FileDescriptor) throws(PhotoError) -> [UInt8] {
        try PhotoError.of("read") { try descriptor.bytes(atMost: range.count, from: Int64(range.lowerBound)) }
    }
}

/// Files that are mostly holes: places that nobody ever wrote to, which read as zeros and take no room on the disk.
extension PhotoFile {
    /// Bytes below which it costs nothing to read a file to its end.
    private static let leastChecked: Int64 = 16 << 20
    /// The smallest part of a photo or film that was written. No program leaves that much of one out: what does is a
    /// download that reserved its room, or a file that was made to be large.
    private static let leastWritten: Int64 = 8
    /// Pieces between holes that are counted; a file with more of them is read.
    private static let mostPieces = 65_536

    /// Throws `.truncated` for a file of which almost nothing was ever written. Nothing of it is read for that.
    func requireWritten(size: Int64) throws(PhotoError) {
        guard size >= Self.leastChecked, allocated < size / Self.leastWritten,
            let written = try written(of: size), written < size / Self.leastWritten
        else { return }
        throw PhotoError(
            .truncated,
            "of its \(size) bytes only \(written) were ever written, the rest are holes; it is stored when it is whole "
                + "(a download or a copy that has not ended?)")
    }

    /// Bytes on the disk; more than any file has where that cannot be told: then nothing is known of holes.
    private var allocated: Int64 { (try? FileStatus(of: descriptor))?.allocated ?? .max }

    /// Bytes outside of holes; `nil` where the file system does not tell, or where there are too many pieces.
    private func written(of size: Int64) throws(PhotoError) -> Int64? {
        // What reads on from the position begins at the beginning.
        defer { _ = try? descriptor.seek(offset: 0, from: .start) }
        var (at, written): (Int64, Int64) = (0, 0)
        for _ in 0..<Self.mostPieces {
            try PhotoError.checkStopped()
            let found: Range<Int64>?
            do {
                found = try descriptor.writtenPiece(from: at)
            } catch {
                return nil
            }
            // There is no more of it.
            guard let piece = found else { return written }
            if piece.isEmpty { return nil }
            written += piece.upperBound - piece.lowerBound
            if piece.upperBound >= size { return written }
            at = piece.upperBound
        }
        return nil
    }
}

extension PhotoError {
    /// Runs a system call, and says what its failure means for a photo.
    static func of<Value>(_ call: String, _ body: () throws -> Value) throws(PhotoError) -> Value {
        do { return try body() } catch { throw PhotoError(error, call) }
    }

    /// What a failed system call means for a photo.
    init(_ error: any Error, _ call: String) {
        guard let errno = error as? Errno else {
            self.init(.unreadable, "\(call): \(error)")
            return
        }
        switch errno {
        case .noSuchFileOrDirectory, .notDirectory:
            self.init(.missing, "the file is gone")
        case .tooManySymbolicLinkLevels:
            self.init(.notAFile, "a symbolic link, which is not followed")
        case .tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory:
            self.init(.outOfResources, "\(call): \(errno)")
        case .permissionDenied, .notPermitted:
            self.init(.unreadable, "it cannot be read: permission denied; give the agent's user the right to read it")
        case .fileNameTooLong:
            self.init(.unreadable, "it cannot be read: \(FileFault.pathTooLong); give its folders shorter names")
        default:
            self.init(.unreadable, "it cannot be read (\(call): \(errno)); check the drive and the kernel's log")
        }
    }
}

/// A photo's bytes in order, a window at a time. A value of its own: copies read on from where they are.
struct ByteStream {
    private static let windowSize: Int64 = 256 << 10

    /// What was read and not yet taken begins at `at`.
    private var window: [UInt8]
    private var at = 0
    private let descriptor: FileDescriptor?
    private var offset: Int64 = 0
    /// Bytes from the first to the last, in all.
    let size: Int64

    /// - Parameter start: how many bytes count as taken.
    init(_ bytes: [UInt8], from start: Int64 = 0) {
        window = bytes
        at = min(Int(start), bytes.count)
        descriptor = nil
        size = Int64(bytes.count)
    }

    /// - Parameters:
    ///   - descriptor: stays the caller's, and open for as long as the stream; its own position is not used.
    ///   - size: where the stream ends, whatever is written to the file meanwhile.
    ///   - start: how many bytes count as taken.
    init(_ descriptor: FileDescriptor, size: Int64, from start: Int64 = 0) {
        window = []
        self.descriptor = descriptor
        self.size = size
        offset = min(start, size)
    }

    /// How many bytes were taken.
    var position: Int64 { descriptor == nil ? Int64(at) : offset - Int64(window.count - at) }

    /// The bytes that come next, without taking them: a window of them, at least one unless this is the end.
    mutating func peek() throws(PhotoError) -> ArraySlice<UInt8> {
        if at == window.count, let descriptor {
            window = try PhotoFile.read(Int(offset)..<Int(min(offset + Self.windowSize, size)), of: descriptor)
            offset += Int64(window.count)
            at = 0
        }
        return window[at...]
    }

    /// `nil` at the end.
    mutating func next() throws(PhotoError) -> UInt8? {
        guard let byte = try peek().first else { return nil }
        at += 1
        return byte
    }

    /// Takes at most `count` bytes; fewer at the end.
    mutating func take(_ count: Int, into output: inout [UInt8]) throws(PhotoError) {
        var rest = count
        while rest > 0 {
            let piece = try peek().prefix(rest)
            guard !piece.isEmpty else { return }
            output.append(contentsOf: piece)
            at += piece.count
            rest -= piece.count
        }
    }

    mutating func skip(_ count: Int) throws(PhotoError) {
        var rest = count
        while rest > 0 {
            let skipped = min(try peek().count, rest)
            guard skipped > 0 else { return }
            at += skipped
            rest -= skipped
        }
    }

    /// Takes all that comes in front of the next 0xFF, or of the end.
    mutating func takeToFF(into output: inout [UInt8]) throws(PhotoError) {
        while true {
            let rest = try peek()
            guard !rest.isEmpty else { return }
            let end = rest.firstIndex(of: 0xFF) ?? rest.endIndex
            output.append(contentsOf: rest[..<end])
            at = end
            guard end == rest.endIndex else { return }
        }
    }

    /// Skips all that comes in front of the next 0xFF, or of the end.
    mutating func skipToFF() throws(PhotoError) {
        while true {
            let rest = try peek()
            guard !rest.isEmpty else { return }
            let found = rest.withUnsafeBytes { bytes in
                bytes.baseAddress.flatMap { start in
                    memchr(start, 0xFF, bytes.count).map { UnsafeRawPointer($0) - start }
                }
            }
            at += found ?? rest.count
            guard found == nil else { return }
        }
    }
}
