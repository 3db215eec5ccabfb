import SyncCore
import SyncDigest
import SyncSystem
import SystemPackage

/// A photo's file while it is read. Closes its descriptor.
struct PhotoFile: ~Copyable {
    let descriptor: FileDescriptor

    /// Opens a file. A symbolic link is not followed (it may leave the watched folder), and a FIFO does not block.
    init(opening path: FilePath) throws(PhotoError) {
        do {
            descriptor = try FileDescriptor.open(
                path, .readOnly, options: [.closeOnExec, .noFollow, .nonBlocking], retryOnInterrupt: true
            )
        } catch let error as Errno {
            throw PhotoError(error, "open")
        } catch {
            throw PhotoError(.unreadable, "open: \(error)")
        }
    }

    deinit {
        try? descriptor.close()
    }

    /// As it is now.
    func stamp() throws(PhotoError) -> FileStamp {
        let status: FileStatus
        do throws(Errno) {
            status = try FileStatus(of: descriptor)
        } catch {
            throw PhotoError(error, "statx")
        }
        guard status.kind == .file else { throw PhotoError(.notStored, "not a regular file") }
        return status.stamp
    }

    /// Throws `.changed` unless the file still has this stamp.
    func require(_ stamp: FileStamp) throws(PhotoError) {
        guard try self.stamp() == stamp else {
            throw PhotoError(.changed, "the file changed after it was examined")
        }
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
            let count: Int
            do {
                count = try descriptor.read(into: buffer, retryOnInterrupt: true)
            } catch let error as Errno {
                throw PhotoError(error, "read")
            } catch {
                throw PhotoError(.unreadable, "read: \(error)")
            }
            guard count > 0 else {
                try Self.requireEnd(of: descriptor, at: offset)
                return hasher.finalize()
            }
            hasher.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            offset += Int64(count)
        }
    }

    /// Reads a part of the file. Where the file ends before it, so does what is returned.
    func read(_ range: Range<Int>) throws(PhotoError) -> [UInt8] {
        try Self.read(range, of: descriptor)
    }

    static func read(_ range: Range<Int>, of descriptor: FileDescriptor) throws(PhotoError) -> [UInt8] {
        do {
            return try [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
                let buffer = UnsafeMutableRawBufferPointer(buffer)
                while count < range.count {
                    let read = try descriptor.read(
                        fromAbsoluteOffset: Int64(range.lowerBound + count),
                        into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]), retryOnInterrupt: true)
                    if read == 0 { return try descriptor.requireEnd(at: Int64(range.lowerBound + count)) }
                    count += read
                }
            }
        } catch let error as Errno {
            throw PhotoError(error, "read")
        } catch {
            throw PhotoError(.unreadable, "read: \(error)")
        }
    }

    /// Digests of fewer bytes than there are would be those of another photo.
    static func requireEnd(of descriptor: FileDescriptor, at offset: Int64) throws(PhotoError) {
        do {
            try descriptor.requireEnd(at: offset)
        } catch {
            throw PhotoError(error, "read")
        }
    }
}
