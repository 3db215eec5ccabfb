package import SyncCore
import SyncDigest
import SystemPackage

extension LocalStore {
    package func head(_ key: ObjectKey) async throws -> ObjectInfo? {
        try await perform("head", key.rawValue) { store, _ in
            guard let record = try store.record(key, "head") else {
                try store.requireRoot("head")
                return nil
            }
            return record.info(key: key, at: store.now())
        }
    }

    /// A read of the whole object proves its SHA-256 before it returns; what the sink got until then is to be thrown
    /// away when it throws. A part cannot be proved alone: there only the file's length is held against the record.
    package func get(
        _ key: ObjectKey, range: Range<Int64>?, into sink: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) async throws -> ObjectInfo {
        try await perform("get", key.rawValue) { store, flag in
            let content = try store.openContent(key)
            let record = content.record
            let bounds = try Self.bounds(of: range, in: record, key: key)
            guard try content.file.size() == record.size else {
                throw Self.damaged(key, "\(content.file.path) has not the \(record.size) bytes that were stored")
            }
            let digest = try content.file.read(bounds) { bytes in
                try flag.check()
                try sink(bytes)
            }
            if bounds == 0..<record.size, digest.sha256.description != record.sha256 {
                throw Self.damaged(key, "the bytes of \(content.file.path) are not those that were stored")
            }
            return record.info(key: key, at: store.now())
        }
    }

    /// The record of a key; `nil` when nothing is stored under it.
    func record(_ key: ObjectKey, _ operation: String) throws -> ObjectRecord? {
        let path = layout.record(for: key)
        guard let json = try Disk.read(path) else { return nil }
        guard let record = ObjectRecord(json: json), record.key == key.rawValue else {
            throw Self.damaged(key, "the record \(path) cannot be read", operation: operation)
        }
        return record
    }

    /// The record of a readable object and its open file.
    private func openContent(_ key: ObjectKey) throws -> OpenContent {
        var missing: String?
        while true {
            guard let record = try record(key, "get") else {
                try requireRoot("get")
                throw StoreError(
                    .notFound, operation: "get", key: key.rawValue, message: "nothing is stored under this key")
            }
            guard !record.isArchived(at: now()) else { throw Self.archived(key, record, operation: "get") }
            do throws(FileError) {
                return OpenContent(record: record, file: try OpenFile(layout.content(record), .read))
            } catch {
                guard error.isMissing else { throw error }
                // A put or delete may have come between the record and its file: the record tells, read anew.
                guard record.file != missing else {
                    throw Self.damaged(key, "\(layout.content(record)), which holds its bytes, is gone")
                }
                missing = record.file
            }
        }
    }

    private static func bounds(
        of range: Range<Int64>?, in record: ObjectRecord, key: ObjectKey
    ) throws(StoreError) -> Range<Int64> {
        guard let range else { return 0..<record.size }
        guard range.lowerBound >= 0, !range.isEmpty, range.lowerBound < record.size else {
            throw StoreError(
                .invalidRange, operation: "get", key: key.rawValue,
                message: "bytes \(range.lowerBound)..<\(range.upperBound) of an object of \(record.size) bytes")
        }
        return range.clamped(to: 0..<record.size)
    }

    static func damaged(_ key: ObjectKey, _ what: String, operation: String = "get") -> StoreError {
        StoreError(
            .badDigest, operation: operation, key: key.rawValue,
            message: "the stored copy is damaged: \(what.escapingControls); check the disk, and upload the photo again")
    }

    static func archived(_ key: ObjectKey, _ record: ObjectRecord, operation: String) -> StoreError {
        StoreError(
            .archived, operation: operation, key: key.rawValue,
            message: "the object is archived in \(record.storageClass); restore it first")
    }
}

/// The record of a readable object and its open file: whatever a later put or delete does, the two belong together.
private struct OpenContent {
    let record: ObjectRecord
    let file: OpenFile
}

extension OpenFile {
    /// Reads a part of the file, piece by piece.
    /// - Returns: the digests of that part.
    /// - Throws: ``FileError`` with `.ioError` when the file ends before the part does; what `body` throws.
    func read(
        _ range: Range<Int64>, pieceLength: Int = 256 << 10, body: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> ContentDigest {
        try seek(to: range.lowerBound)
        var hasher = ContentHasher()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceLength, alignment: 4_096)
        defer { buffer.deallocate() }
        var left = range.upperBound - range.lowerBound
        while left > 0 {
            let count = try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(clamping: left))))
            guard count > 0 else { throw FileError(call: "read", path: path, errno: .ioError) }
            let piece = UnsafeRawBufferPointer(rebasing: buffer.prefix(count))
            hasher.update(piece)
            try body(piece)
            left -= Int64(count)
        }
        return hasher.finalize()
    }
}
