import Glibc
package import SyncCore
import SyncSystem
package import SystemPackage

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

    /// All bytes of a small file.
    func bytes() throws(FileError) -> [UInt8] {
        let size = Int(try size())
        do {
            return try FileDescriptor(rawValue: descriptor).bytes(atMost: size)
        } catch {
            throw FileError(call: "read", path: path, errno: error as? Errno ?? .ioError)
        }
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

/// A file whose bytes are put into the store.
enum SourceFile {
    /// Reads a file that must be the one that `stamp` was taken of, and stay it until the end.
    /// - Returns: the digests of what was read.
    /// - Throws: ``StoreError``: `.sourceChanged`, or `.sourceUnreadable` when it cannot be read now: a source's trouble is
    ///   not the store's. What `body` throws.
    static func read(
        _ path: FilePath, stamp: FileStamp, for key: ObjectKey, into body: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> ContentDigest {
        // Not to hang where a pipe has taken the file's place.
        let file = try told(key) { () throws(FileError) in try OpenFile(path, .read) }
        guard try told(key, { () throws(FileError) in try file.stamp() }) == stamp else { throw changed(path, key) }
        // Where the file is cut meanwhile, the read ends early with an I/O error; the stamp tells that from a bad disk.
        var bodyError: (any Error)?
        let digest: ContentDigest
        do {
            digest = try file.read(0..<stamp.size) { bytes in
                do {
                    try body(bytes)
                } catch {
                    bodyError = error
                    throw error
                }
            }
        } catch {
            if let bodyError { throw bodyError }
            if try told(key, { () throws(FileError) in try file.stamp() }) != stamp { throw changed(path, key) }
            throw unreadable(path, key, error)
        }
        guard try told(key, { () throws(FileError) in try file.stamp() }) == stamp else { throw changed(path, key) }
        return digest
    }

    private static func told<Value>(
        _ key: ObjectKey, _ body: () throws(FileError) -> Value
    ) throws(StoreError) -> Value {
        do {
            return try body()
        } catch {
            if error.isMissing { throw changed(error.path, key) }
            throw unreadable(error.path, key, error)
        }
    }

    private static func changed(_ path: FilePath, _ key: ObjectKey) -> StoreError {
        StoreError(
            .sourceChanged, operation: "put", key: key.rawValue,
            message: "\(path.string.escapingControls) was changed or removed while it was read; nothing was stored")
    }

    private static func step(_ error: any Error) -> String {
        switch (error as? FileError)?.errno {
        case .permissionDenied, .notPermitted: "give the user that runs sync-agent access to it"
        case .tooManyOpenFiles, .tooManyOpenFilesInSystem: "too many files are open; raise the limit (ulimit -n)"
        case .noMemory: "the machine is short of memory"
        default: "check its disk"
        }
    }

    private static func unreadable(_ path: FilePath, _ key: ObjectKey, _ error: any Error) -> StoreError {
        let reason = (error as? FileError).map { "\($0.call): \($0.errno)" } ?? "\(error)"
        return StoreError(
            .sourceUnreadable, operation: "put", key: key.rawValue,
            message: "\(path.string.escapingControls) cannot be read now: \(step(error))", detail: reason)
    }
}

/// A failed file call: which one, on what, and why. Every errno becomes a ``StoreError`` in this file.
package struct FileError: Error {
    package var call: String
    package var path: FilePath
    package var errno: Errno

    package init(call: String, path: FilePath, errno: Errno) {
        self.call = call
        self.path = path
        self.errno = errno
    }

    /// Nothing is there, or not where the path says.
    var isMissing: Bool { errno == .noSuchFileOrDirectory || errno == .notDirectory }

    /// Too little of what the process or the machine has: it is not about the file.
    var isOfThisProcess: Bool {
        [.tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory].contains(errno)
    }

    var isReadOnly: Bool {
        errno == .readOnlyFileSystem || errno == .permissionDenied || errno == .notPermitted
    }
}

extension StoreError {
    package init(_ error: FileError, operation: String, key: String?) {
        let fault = FileFault(error.errno, or: "move the store to a larger disk")
        let (code, step): (StoreError.Code, String) =
            switch error.errno {
            case .noSpace, .diskQuotaExceeded: (.noSpace, fault.message)
            case .fileTooLarge: (.tooLarge, fault.message)
            case .permissionDenied, .notPermitted:
                (.accessDenied, "no permission: give the user that runs sync-agent access to it")
            case .readOnlyFileSystem:
                (.accessDenied, "the disk is mounted read-only: look for disk errors in dmesg, then remount it")
            case .fileNameTooLong:
                (.invalidRequest, "the name is too long for this file system")
            case .noSuchFileOrDirectory, .notDirectory:
                (.storeMissing, "it is gone: mount the disk that holds the store, or correct store.path")
            case .tooManyOpenFiles, .tooManyOpenFilesInSystem:
                (.serverFailed, "too many files are open: raise the limit (ulimit -n)")
            default: (.serverFailed, fault.message)
            }
        self.init(
            code, operation: operation, key: key, message: "\(error.path.string.escapingControls): \(step)",
            detail: "\(error.call): \(error.errno.description.lowercased())")
    }
}
