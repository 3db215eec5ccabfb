import Glibc
import SyncCore
import SyncSystem
import SystemPackage

/// An open file descriptor, closed with its last reference.
final class OpenFile {
    let path: FilePath
    private let descriptor: Int32

    enum Mode {
        /// A pipe in the file's place does not make the call hang.
        case read
        /// For writing, and nothing may be there yet. Mode 0600.
        case create
        /// For locking; made where it is missing. Mode 0600.
        case lock

        fileprivate var flags: Int32 {
            switch self {
            case .read: O_RDONLY | O_NONBLOCK
            case .create: O_WRONLY | O_CREAT | O_EXCL
            case .lock: O_RDWR | O_CREAT
            }
        }
    }

    init(_ path: FilePath, _ mode: Mode) throws(FileError) {
        var descriptor: Int32
        repeat {
            descriptor = path.withPlatformString { open($0, mode.flags | O_CLOEXEC, 0o600) }
        } while descriptor < 0 && errno == EINTR
        guard descriptor >= 0 else {
            throw FileError(call: "open", path: path, errno: Errno(rawValue: errno))
        }
        self.path = path
        self.descriptor = descriptor
    }

    deinit {
        // close(2) after a write: errors of delayed writing were already told by fsync.
        close(descriptor)
    }

    /// Bytes.
    func size() throws(FileError) -> Int64 {
        try stamp().size
    }

    func stamp() throws(FileError) -> FileStamp {
        do throws(Errno) {
            return try FileStatus(ofDescriptor: descriptor).stamp
        } catch {
            throw FileError(call: "statx", path: path, errno: error)
        }
    }

    /// At most `buffer.count` bytes; 0 at the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        while true {
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            if errno != EINTR { throw failure("read") }
        }
    }

    /// Fills `bytes` from `start` on.
    /// - Returns: how many bytes came; 0 at the end of the file.
    func read(into bytes: inout [UInt8], at start: Int) throws(FileError) -> Int {
        try bytes.withUnsafeMutableBytes { buffer in
            Result { () throws(FileError) in
                try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[start...]))
            }
        }.get()
    }

    func seek(to offset: Int64) throws(FileError) {
        guard lseek(descriptor, off_t(offset), SEEK_SET) >= 0 else { throw failure("lseek") }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                throw failure("write")
            }
        }
    }

    func sync() throws(FileError) {
        do throws(Errno) {
            try FileDescriptor(rawValue: descriptor).sync()
        } catch {
            throw FileError(call: "fsync", path: path, errno: error)
        }
    }

    /// Waits for the lock of flock(2), which holds off other threads and processes.
    func lock() throws(FileError) {
        do {
            try FileDescriptor(rawValue: descriptor).waitForLock()
        } catch {
            throw FileError(call: "flock", path: path, errno: error)
        }
    }

    /// Lets the lock go. Closing the file does the same.
    func unlock() {
        FileDescriptor(rawValue: descriptor).unlock()
    }

    private func failure(_ call: String) -> FileError {
        FileError(call: call, path: path, errno: Errno(rawValue: errno))
    }
}
