import FoundationEssentials
package import SyncCore
import SyncDigest
import SyncSystem
import SystemPackage

extension LocalStore {
    package func put(
        _ body: ObjectBody, at key: ObjectKey, attributes: ObjectAttributes, condition: PutCondition
    ) async throws -> PutReceipt {
        let order = PutOrder(body: body, key: key, attributes: attributes, condition: condition)
        if body.size <= SmallPutQueue.largestBody { return try await putAmongOthers(order) }
        return try await perform("put", key.rawValue) { store, flag in try store.put(order, flag) }
    }

    /// By itself, and not in a group.
    func put(_ order: PutOrder, _ flag: CancellationFlag) throws -> PutReceipt {
        try requireRoom(order.condition, at: order.key, "put", flag)
        return try staging { staged in
            let target = try OpenFile(staged.content, .create)
            try fill(target, with: order.body, for: order.key, flag)
            try target.sync()
            let modified = try target.stamp().modified
            try onStep(.staged)
            try flag.check()
            try locked(order.key) {
                try commit(
                    staged, order.record(modified: modified, at: now()), at: order.key, order.condition, "put", flag)
            }
            return order.receipt
        }
    }

    /// A look before anything is copied, where something is there. What counts is the second one, before the commit.
    func requireRoom(
        _ condition: PutCondition, at key: ObjectKey, _ operation: String, _ flag: CancellationFlag
    ) throws {
        if try lookup(key).isAbsent { return }
        try locked(key) { _ = try requireAllowed(condition, at: key, operation, flag) }
    }

    /// Copies the body into a file of `staging/` and proves its SHA-256.
    func fill(_ target: OpenFile, with body: ObjectBody, for key: ObjectKey, _ flag: CancellationFlag) throws {
        let digest: SHA256Digest
        switch body.source {
        case .bytes(let bytes):
            try onStep(.writing)
            try bytes.withUnsafeBytes { try target.write($0) }
            digest = SHA256Digest(of: bytes)
        case .file(let source, let stamp):
            digest = try PutSource.read(source, stamp: stamp, patches: body.patches, for: key) { piece in
                try flag.check()
                try onStep(.writing)
                try target.write(piece)
            }
        }
        guard digest == body.digest.sha256 else {
            throw StoreError(
                .badDigest, operation: "put", key: key.rawValue,
                message: "the bytes have SHA-256 \(digest) instead of \(body.digest.sha256); nothing was stored")
        }
    }

    /// In place only the record changes: the bytes stay where they are, and the object keeps its age, since lifecycle
    /// rules count from it. A restored copy ends with the class that it was made in. Elsewhere a copy is a new object; its
    /// bytes are proved on the way.
    package func copy(
        _ source: ObjectKey, to key: ObjectKey, storageClass: StorageClass, metadata: [String: String]?,
        condition: PutCondition
    ) async throws {
        try await perform("copy", source.rawValue) { store, flag in
            if source == key { return try store.move(key, to: storageClass, flag) }
            try store.requireRoom(condition, at: key, "copy", flag)
            try store.staging { staged in
                let (original, modified) = try store.stageCopy(of: source, to: staged.content, flag)
                try store.onStep(.staged)
                try flag.check()
                try store.locked(key) {
                    let record = CommitRecord(
                        key: key.rawValue, file: "", size: original.size, contentModified: modified, md5: original.md5,
                        sha256: original.sha256, contentType: original.contentType, storageClass: storageClass.rawValue,
                        metadata: metadata ?? original.metadata, modified: store.now())
                    try store.commit(staged, record, at: key, condition, "copy", flag)
                }
            }
        }
    }

    private func move(_ key: ObjectKey, to storageClass: StorageClass, _ flag: CancellationFlag) throws {
        try locked(key) {
            try settle(key)
            var record = try existingRecord(key, "copy")
            try requireWhole(record, at: key, "copy", flag)
            guard !record.isArchived(at: clock) else { throw Self.archived(key, record, operation: "copy") }
            if record.storageClass == storageClass.rawValue { return }
            record.storageClass = storageClass.rawValue
            record.restore = nil
            try rewrite(record, at: key, "copy")
        }
    }

    /// Copies an object's bytes into `staging/`, proves them and syncs them.
    /// - Returns: the source's record, and when the copy's file was modified.
    private func stageCopy(of source: ObjectKey, to path: FilePath, _ flag: CancellationFlag) throws -> (
        record: CommitRecord, modified: Int64
    ) {
        let content = try openContent(source, "copy", flag)
        let target = try OpenFile(path, .create)
        try content.read(nil, of: source, "copy") { piece in
            try flag.check()
            try onStep(.writing)
            try target.write(piece)
        }
        try target.sync()
        return (content.record, try target.stamp().modified)
    }
}

/// What is to be put.
struct PutOrder: Sendable {
    let body: ObjectBody
    let key: ObjectKey
    let attributes: ObjectAttributes
    let condition: PutCondition

    var receipt: PutReceipt {
        PutReceipt(md5: body.digest.md5, sha256: body.digest.sha256, storageClass: attributes.storageClass)
    }

    /// The record of it, but for its `file`.
    /// - Parameter modified: when the file with the bytes was modified.
    func record(modified: Int64?, at now: Date) -> CommitRecord {
        CommitRecord(
            key: key.rawValue, file: "", size: body.size, contentModified: modified,
            md5: body.digest.md5.description, sha256: body.digest.sha256.description,
            contentType: attributes.contentType, storageClass: attributes.storageClass.rawValue,
            metadata: attributes.metadata, modified: now)
    }
}
