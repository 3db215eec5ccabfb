package import SyncCore
import SyncDigest
import SyncSystem
package import SystemPackage

/// An open file descriptor, closed with its last reference.
final class OpenFile {
    let path: FilePath
    private let descriptor: FileDescriptor

    enum Mode {
        /// A pipe in the file's place does not make the call hang.
        case read
        /// For writing, and nothing may be there yet. Mode 0600.
        case create
        /// For locking; made where it is missing. Mode 0600.
        case lock
    }

    init(_ path: FilePath, _ mode: Mode) throws(FileError) {
        self.path = path
        descriptor = try FileError.of("open", path) {
            switch mode {
            case .read: try .opened(path, .readOnly, [.nonBlocking, .closeOnExec])
            case .create: try .opened(path, .writeOnly, [.create, .exclusiveCreate, .closeOnExec], .ownerReadWrite)
            case .lock: try .opened(path, .readWrite, [.create, .closeOnExec], .ownerReadWrite)
            }
        }
    }

    deinit {
        // close(2) after a write: errors of delayed writing were already told by fsync.
        try? descriptor.close()
    }

    func stamp() throws(FileError) -> FileStamp {
        try FileError.of("statx", path) { try FileStatus(of: descriptor).stamp }
    }

    /// The first bytes of a file, `limit` at most.
    func bytes(atMost limit: Int) throws(FileError) -> [UInt8] {
        let size = try stamp().size
        let count = Int(min(max(size, 0), Int64(limit)))
        return try FileError.of("read", path) { try descriptor.bytes(atMost: count) }
    }

    /// Reads a part of the file, piece by piece.
    /// - Returns: the digest of that part.
    /// - Throws: ``FileError`` with `.ioError` when the file ends before the part does; what `body` throws.
    func read(
        _ range: Range<Int64>, pieceLength: Int = 256 << 10, patches: FilePatches = .none,
        body: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> SHA256Digest {
        var hasher = SHA256Hasher()
        // For a small file, a large buffer would be taken from the system and given back each time.
        let length = Int(clamping: min(Int64(pieceLength), max(range.upperBound - range.lowerBound, 1)))
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: length, alignment: 4_096)
        defer { buffer.deallocate() }
        var position = range.lowerBound
        while position < range.upperBound {
            let room = UnsafeMutableRawBufferPointer(
                rebasing: buffer.prefix(Int(clamping: range.upperBound - position)))
            let count = try FileError.of("read", path) {
                try descriptor.read(at: position, into: room)
            }
            guard count > 0 else { throw FileError(call: "read", path: path, errno: .ioError) }
            patches.apply(to: .init(rebasing: buffer.prefix(count)), at: position)
            let piece = UnsafeRawBufferPointer(rebasing: buffer.prefix(count))
            hasher.update(piece)
            try body(piece)
            position += Int64(count)
        }
        return hasher.finalize()
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
        try FileError.of("write", path) { _ = try descriptor.writeAll(bytes) }
    }

    /// Has the disk begin with what was written: ``sync()`` comes later.
    func startWriting() throws(FileError) {
        try FileError.of("write", path) { try descriptor.startWriting() }
    }

    func sync() throws(FileError) {
        try FileError.of("fsync", path) { try descriptor.sync() }
    }

    /// Waits for the lock of flock(2), which holds off other threads and processes.
    func lock() throws(FileError) {
        try FileError.of("flock", path) { try descriptor.waitForLock() }
    }

    /// Lets the lock go. Closing the file does the same.
    func unlock() {
        descriptor.unlock()
    }
}

/// A file whose bytes are put into the store.
enum PutSource {
    /// Reads a file that must be the one that `stamp` was taken of, and stay it until the end.
    /// - Returns: the digest of what was read.
    /// - Throws: ``StoreError``: `.sourceChanged`, or `.sourceUnreadable` when it cannot be read now: a source's trouble is
    ///   not the store's. What `body` throws.
    static func read(
        _ path: FilePath, stamp: FileStamp, patches: FilePatches = .none, for key: ObjectKey,
        into body: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> SHA256Digest {
        // Not to hang where a pipe has taken the file's place.
        let file = try told(key) { () throws(FileError) in try OpenFile(path, .read) }
        guard try told(key, { () throws(FileError) in try file.stamp() }) == stamp else { throw changed(path, key) }
        // Where the file is cut meanwhile, the read ends early with an I/O error; the stamp tells that from a bad disk.
        var bodyError: (any Error)?
        let digest: SHA256Digest
        do {
            digest = try file.read(0..<stamp.size, patches: patches) { bytes in
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
    /// Of ENOENT: whether the folder of the path was there all the same.
    var isFolderThere = false

    /// Runs a call, and names it and its file where it fails.
    /// - Parameter body: throws `Errno`.
    static func of<Value>(_ call: String, _ path: FilePath, _ body: () throws -> Value) throws(FileError) -> Value {
        do {
            return try body()
        } catch {
            throw FileError(call: call, path: path, errno: error as? Errno ?? .ioError)
        }
    }

    /// As ``of(_:_:_:)``; `nil` where nothing is there.
    static func unlessMissing<Value>(
        _ call: String, _ path: FilePath, _ body: () throws -> Value
    ) throws(FileError) -> Value? {
        do throws(FileError) {
            return try of(call, path, body)
        } catch  where error.isMissing {
            return nil
        }
    }

    /// Nothing is there, or not where the path says.
    var isMissing: Bool { errno.isMissing }

    /// Too little of what the process or the machine has: it is not about the file.
    var isOfThisProcess: Bool { errno.isShortage }

    var isReadOnly: Bool { errno == .readOnlyFileSystem || errno.isRefusal }

    /// Why the file system does not take the name, where it is that.
    var nameRefusal: NameRefusal? {
        guard Self.callsWithNames.contains(call), let name = path.lastComponent?.string else { return nil }
        return NameRefusal(errno, of: name, isFolderThere: isFolderThere)
    }

    private static let callsWithNames: Set = ["lstat", "stat", "mkdir", "open", "rename", "link"]
}

extension StoreError {
    package init(_ error: FileError, operation: String, key: String?) {
        let (code, step) = Self.meaning(of: error)
        self.init(
            code, operation: operation, key: key, message: "\(error.path.string.escapingControls): \(step)",
            detail: "\(error.call): \(error.errno.description.lowercased())")
        isOfThisMachine = true
    }

    private static func meaning(of error: FileError) -> (StoreError.Code, String) {
        if let refusal = error.nameRefusal { return (.invalidRequest, refusal.message) }
        return switch error.errno {
        case .permissionDenied, .notPermitted:
            (.accessDenied, "no permission; give the user that runs sync-agent access to it")
        case .readOnlyFileSystem:
            (.accessDenied, "the disk is mounted read-only; look for disk errors in dmesg, then remount it")
        case .fileNameTooLong:
            (.invalidRequest, "the name is too long for this file system")
        case .noSuchFileOrDirectory, .notDirectory:
            (.storeMissing, "it is gone; mount the disk that holds the store, or correct store.path")
        default: fault(error.errno)
        }
    }

    private static func fault(_ errno: Errno) -> (StoreError.Code, String) {
        let fault = FileFault(errno, or: "move the store to another disk")
        return switch fault.code {
        case .noSpace: (.noSpace, fault.message)
        case .tooLarge: (.tooLarge, fault.message)
        default: (.serverFailed, fault.message)
        }
    }
}
