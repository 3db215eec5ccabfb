import Glibc
import SyncCore
import SyncDigest
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

    /// fstat(2).
    func stamp() throws(PhotoError) -> FileStamp {
        var status = Glibc.stat()
        guard fstat(descriptor.rawValue, &status) == 0 else {
            throw PhotoError(Errno(rawValue: errno), "fstat")
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw PhotoError(.notStored, "not a regular file")
        }
        return FileStamp(
            device: UInt64(status.st_dev),
            inode: UInt64(status.st_ino),
            size: Int64(status.st_size),
            modified: Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
        )
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
        while true {
            let count: Int
            do {
                count = try descriptor.read(into: buffer, retryOnInterrupt: true)
            } catch let error as Errno {
                throw PhotoError(error, "read")
            } catch {
                throw PhotoError(.unreadable, "read: \(error)")
            }
            guard count > 0 else { return hasher.finalize() }
            hasher.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }

    /// Reads a part of the file. Where the file ends before it, so does what is returned.
    func read(_ range: Range<Int>) throws(PhotoError) -> [UInt8] {
        do {
            return try [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
                let buffer = UnsafeMutableRawBufferPointer(buffer)
                while count < range.count {
                    let read = try descriptor.read(
                        fromAbsoluteOffset: Int64(range.lowerBound + count),
                        into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]), retryOnInterrupt: true)
                    if read == 0 { return }
                    count += read
                }
            }
        } catch let error as Errno {
            throw PhotoError(error, "read")
        } catch {
            throw PhotoError(.unreadable, "read: \(error)")
        }
    }
}
