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
            let content = try store.openContent(key, "get")
            try content.read(range, of: key, "get") { bytes in
                try flag.check()
                try sink(bytes)
            }
            return content.record.info(key: key, at: store.now())
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

    /// - Throws: `.notFound`.
    func existingRecord(_ key: ObjectKey, _ operation: String) throws -> ObjectRecord {
        if let record = try record(key, operation) { return record }
        try requireRoot(operation)
        throw StoreError(
            .notFound, operation: operation, key: key.rawValue, message: "nothing is stored under this key")
    }

    /// The record of a readable object and its open file.
    func openContent(_ key: ObjectKey, _ operation: String) throws -> OpenContent {
        var missing: String?
        while true {
            let record = try existingRecord(key, operation)
            guard !record.isArchived(at: now()) else { throw Self.archived(key, record, operation: operation) }
            let file: OpenFile
            do throws(FileError) {
                file = try OpenFile(layout.content(record), .read)
            } catch {
                guard error.isMissing else { throw error }
                // A put or delete may have come between the record and its file: the record tells, read anew.
                guard record.file != missing else {
                    throw Self.damaged(
                        key, "\(layout.content(record)), which holds its bytes, is gone", operation: operation)
                }
                missing = record.file
                continue
            }
            // The name may have gone to a newer version meanwhile: then the record is another one, too.
            let current = try self.record(key, operation)
            if current?.file == record.file, current?.sha256 == record.sha256 {
                return OpenContent(record: record, file: file)
            }
        }
    }

    static func damaged(_ key: ObjectKey, _ what: String, operation: String) -> StoreError {
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
struct OpenContent {
    let record: ObjectRecord
    let file: OpenFile

    /// Reads the object, or a part of it, and proves what it can: the length, and of the whole also the digest.
    /// - Throws: `.invalidRange`, `.badDigest`; what `body` throws.
    func read(
        _ range: Range<Int64>?, of key: ObjectKey, _ operation: String, body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        let bounds = try bounds(of: range, key, operation)
        guard try file.size() == record.size else {
            throw LocalStore.damaged(
                key, "\(file.path) has not the \(record.size) bytes that were stored", operation: operation)
        }
        let digest = try file.read(bounds, body: body)
        if bounds == 0..<record.size, digest.sha256.description != record.sha256 {
            throw LocalStore.damaged(
                key, "the bytes of \(file.path) are not those that were stored", operation: operation)
        }
    }

    private func bounds(
        of range: Range<Int64>?, _ key: ObjectKey, _ operation: String
    ) throws(StoreError) -> Range<Int64> {
        guard let range else { return 0..<record.size }
        guard range.lowerBound >= 0, !range.isEmpty, range.lowerBound < record.size else {
            throw StoreError(
                .invalidRange, operation: operation, key: key.rawValue,
                message: "bytes \(range.lowerBound)..<\(range.upperBound) of an object of \(record.size) bytes")
        }
        return range.clamped(to: 0..<record.size)
    }
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
