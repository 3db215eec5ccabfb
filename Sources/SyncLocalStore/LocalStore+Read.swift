package import SyncCore
import SyncSystem
package import SystemPackage

extension LocalStore {
    /// The bytes are the proof, and not the record: they are read where size and time of the file are not those of the
    /// record. An object without its bytes is none; of other bytes it is told what they are.
    package func head(_ key: ObjectKey) async throws -> ObjectInfo? {
        try await perform("head", key.rawValue) { store, flag in
            while true {
                let record = try store.record(key, "head")
                // What is there may not be on the disk yet, and what is not there may come back with the next start.
                if try store.settleIfOwed(key) { continue }
                guard let record else {
                    try store.requireRoot("head")
                    return nil
                }
                let proof = try store.proof(of: record, flag)
                // A put or delete may have come between the record and its file: the record tells, read anew.
                if !proof.isWhole, try store.record(key, "head").map(record.hasSameContent) != true { continue }
                switch proof {
                case .missing: return nil
                case .whole(let size, let modified)
                where size != record.size || modified != record.contentModified:
                    store.noteStamp(size: size, modified: modified, of: record, at: key)
                case .whole, .damaged: break
                }
                return record.info(key: key, at: store.clock, proof)
            }
        }
    }

    /// Bytes that were proved need not be read again. A record that cannot be written now is written another time.
    private func noteStamp(size: Int64, modified: Int64, of record: CommitRecord, at key: ObjectKey) {
        guard access != .reads else { return }
        try? locked(key) {
            try settle(key)
            guard var current = try lookup(key).object, current.file == record.file, current.sha256 == record.sha256
            else { return }
            (current.size, current.contentModified) = (size, modified)
            try rewrite(current, at: key, "head")
        }
    }

    /// A read of the whole object proves its SHA-256 before it returns; what the sink got until then is to be thrown
    /// away when it throws. A part cannot be proved alone: there only the file's length is held against the record, and
    /// where the two differ, all bytes are read.
    package func get(
        _ key: ObjectKey, range: Range<Int64>?, into sink: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) async throws -> ObjectInfo {
        try await perform("get", key.rawValue) { store, flag in
            let content = try store.openContent(key, "get", flag)
            try content.read(range, of: key, "get") { bytes in
                try flag.check()
                try sink(bytes)
            }
            return content.record.info(key: key, at: store.clock)
        }
    }

    /// The file that has an object's bytes now, for who sends files.
    /// - Returns: `nil` for what is not there, is archived, or has other bytes than were stored.
    package func file(of key: ObjectKey) async throws -> (path: FilePath, info: ObjectInfo)? {
        try await perform("read", key.rawValue) { store, flag in
            guard let record = try store.record(key, "read"), !record.isArchived(at: store.clock) else { return nil }
            let proof = try store.proof(of: record, flag)
            guard proof.isWhole else { return nil }
            return (store.layout.content(record), record.info(key: key, at: store.clock, proof))
        }
    }

    /// - Throws: `.notFound`.
    func existingRecord(_ key: ObjectKey, _ operation: String) throws -> CommitRecord {
        if let record = try record(key, operation) { return record }
        try requireRoot(operation)
        throw Self.notFound(key, operation)
    }

    static func notFound(_ key: ObjectKey, _ operation: String) -> StoreError {
        StoreError(.notFound, operation: operation, key: key.rawValue, message: "nothing is stored under this key")
    }

    /// The record of a readable object and its open file. A record that tells another size than the file has is told
    /// with the file's, if the bytes are those of its SHA-256.
    func openContent(_ key: ObjectKey, _ operation: String, _ flag: CancellationFlag) throws -> OpenContent {
        var missing: String?
        while true {
            let record = try existingRecord(key, operation)
            if record.isArchived(at: clock), try Disk.exists(layout.content(record)) {
                throw Self.archived(key, record, operation: operation)
            }
            let file: OpenFile
            do throws(FileError) {
                file = try OpenFile(layout.content(record), .read)
            } catch {
                guard error.isMissing else { throw error }
                // A put or delete may have come between the record and its file: the record tells, read anew.
                guard record.file != missing else {
                    try requireReachable(layout.content(record), below: layout.objects)
                    throw Self.notFound(key, operation)
                }
                missing = record.file
                continue
            }
            // The name may have gone to a newer version meanwhile: then the record is another one, too.
            guard try self.record(key, operation).map(record.hasSameContent) == true else { continue }
            var content = OpenContent(record: record, file: file)
            if try file.stamp().size == record.size { return content }
            if case .whole(let size, _) = try proof(of: record, flag) {
                content.record.size = size
                return content
            }
            if try self.record(key, operation).map(record.hasSameContent) == true {
                throw content.lengthFault(key, operation)
            }
        }
    }

    static func damaged(_ key: ObjectKey, _ what: String, operation: String) -> StoreError {
        StoreError(
            .badDigest, operation: operation, key: key.rawValue,
            message: "the stored copy is damaged: \(what.escapingControls); check the disk, and run "
                + "sync-agent verify and sync-agent sync on the machine that stored it")
    }

    static func archived(_ key: ObjectKey, _ record: CommitRecord, operation: String) -> StoreError {
        StoreError(
            .archived, operation: operation, key: key.rawValue,
            message: "the object is archived in \(record.storageClass); restore it first")
    }
}

/// The record of a readable object and its open file: whatever a later put or delete does, the two belong together.
struct OpenContent {
    var record: CommitRecord
    let file: OpenFile

    /// Reads the object, or a part of it, and proves what it can: the length, and of the whole also the digest.
    /// - Throws: `.invalidRange`, `.badDigest`; what `body` throws.
    func read(
        _ range: Range<Int64>?, of key: ObjectKey, _ operation: String, body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        let bounds = try bounds(of: range, key, operation)
        guard try file.stamp().size == record.size else { throw lengthFault(key, operation) }
        let digest = try file.read(bounds, body: body)
        if bounds == 0..<record.size, digest.description != record.sha256 {
            throw LocalStore.damaged(
                key, "the bytes of \(file.path) are not those that were stored", operation: operation)
        }
    }

    func lengthFault(_ key: ObjectKey, _ operation: String) -> StoreError {
        LocalStore.damaged(
            key, "\(file.path) has not the \(record.size) bytes that were stored", operation: operation)
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

extension LocalStore {
    /// Opens only folders that can hold the prefix, and in large ones keeps at most `windowCapacity` entries in
    /// memory. The token is the last key of the page.
    package func list(prefix: String, after: PageToken?, limit: Int) async throws -> ObjectPage {
        try await perform("list", prefix) { store, flag in
            guard (1...1_000).contains(limit) else {
                throw StoreError(
                    .invalidRequest, operation: "list", key: prefix,
                    message: "a page has 1 to 1,000 objects, not \(limit)")
            }
            var walk = KeyWalk(
                prefix: prefix, after: after?.rawValue, limit: limit + 1, records: store.layout.records,
                capacity: store.windowCapacity, cache: after == nil ? nil : store.listing.withLock { $0 },
                check: flag.check)
            try walk.run()
            let window = walk.cache
            store.listing.withLock { $0 = window }
            if walk.keys.isEmpty {
                try store.requireRoot("list")
                try store.requireReachable(store.layout.records.appending("x"), below: store.layout.records)
            }

            var page = ObjectPage(objects: [])
            for key in walk.keys.prefix(limit) {
                try flag.check()
                do {
                    if let info = try store.listed(key, below: prefix) { page.objects.append(info) }
                } catch let problem as FileError where !problem.isOfThisProcess && !problem.isMissing {
                    page.problems.append(
                        ObjectProblem(key: key, error: StoreError(problem, operation: "list", key: nil)))
                } catch let problem as StoreError where problem.code == .badDigest {
                    page.problems.append(ObjectProblem(key: key, error: problem))
                }
            }
            if walk.keys.count > limit {
                page.next = PageToken(rawValue: walk.keys[limit - 1].rawValue)
            }
            return page
        }
    }

    /// An object without its bytes is none. Where size and time of the file are not those of the record, the size is told
    /// as it is and no digest: ``head(_:)`` tells more.
    private func listed(_ key: ObjectKey, below prefix: String) throws -> ObjectInfo? {
        let found = try lookup(key)
        // On a disk that ignores capitals a folder may have the name that another key has given it.
        if case .taken(let other) = found {
            return try other.rawValue.utf8.starts(with: prefix.utf8) ? listed(other, below: prefix) : nil
        }
        // Deleted since its name was read: it is not in the page.
        guard let record = try record(found, of: key, "list") else { return nil }
        var info = record.info(key: key, at: clock)
        switch try glance(at: record) {
        case .whole: break
        case .missing: return nil
        case .damaged, nil:
            guard let stamp = try Disk.stamp(layout.content(record)) else { return nil }
            info.size = stamp.size
            info.md5 = nil
            info.sha256 = nil
        }
        info.contentType = nil
        info.metadata = [:]
        return info
    }
}
