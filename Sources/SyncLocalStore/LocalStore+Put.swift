package import SyncCore
import SyncDigest
import SyncSystem
import SystemPackage

extension LocalStore {
    package func put(
        _ body: ObjectBody, at key: ObjectKey, attributes: ObjectAttributes, condition: PutCondition
    ) async throws -> PutReceipt {
        try await perform("put", key.rawValue) { store, flag in
            try store.requireRoom(condition, at: key, "put", flag)
            return try store.staging { staged in
                let modified = try store.stage(body, for: key, to: staged.content, flag)
                try store.onStep(.staged)
                try flag.check()
                try store.locked(key) {
                    let record = ObjectRecord(
                        key: key.rawValue, file: "", size: body.size, contentModified: modified,
                        md5: body.digest.md5.description, sha256: body.digest.sha256.description,
                        contentType: attributes.contentType,
                        storageClass: attributes.storageClass.rawValue, metadata: attributes.metadata,
                        modified: store.now())
                    try store.commit(staged, record, at: key, condition, "put", flag)
                }
                return PutReceipt(
                    md5: body.digest.md5, sha256: body.digest.sha256, storageClass: attributes.storageClass)
            }
        }
    }

    /// A look before anything is copied, where something is there. What counts is the second one, before the commit.
    func requireRoom(
        _ condition: PutCondition, at key: ObjectKey, _ operation: String, _ flag: CancellationFlag
    ) throws {
        if try lookup(key).isAbsent { return }
        try locked(key) { _ = try requireAllowed(condition, at: key, operation, flag) }
    }

    /// Copies the body into `staging/`, proves its digests and syncs it.
    /// - Returns: when the file was modified.
    private func stage(
        _ body: ObjectBody, for key: ObjectKey, to path: FilePath, _ flag: CancellationFlag
    ) throws -> Int64 {
        let target = try OpenFile(path, .create)
        let digest: ContentDigest
        switch body.source {
        case .bytes(let bytes):
            try onStep(.writing)
            try bytes.withUnsafeBytes { try target.write($0) }
            digest = ContentDigest(of: bytes)
        case .file(let source, let stamp):
            digest = try SourceFile.read(source, stamp: stamp, for: key) { piece in
                try flag.check()
                try onStep(.writing)
                try target.write(piece)
            }
        }
        guard digest == body.digest else {
            throw StoreError(
                .badDigest, operation: "put", key: key.rawValue,
                message: "the bytes have SHA-256 \(digest.sha256) instead of \(body.digest.sha256); nothing was stored")
        }
        try target.sync()
        return try target.stamp().modified
    }
}
