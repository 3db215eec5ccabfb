import SyncCore
import SystemPackage

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
