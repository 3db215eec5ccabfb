package import SyncCore
import SyncSystem
import SystemPackage

extension LocalStore {
    /// In place only the record changes: the bytes stay where they are, and the object keeps its age, since lifecycle
    /// rules count from it. A restored copy ends with the class that it was made in. Elsewhere a copy is a new object; its
    /// bytes are proved on the way.
    package func copy(
        _ source: ObjectKey, to key: ObjectKey, storageClass: StorageClass, condition: PutCondition
    ) async throws {
        try await perform("copy", source.rawValue) { store, flag in
            if source == key { return try store.move(key, to: storageClass, flag) }
            try store.requireRoom(condition, at: key, "copy", flag)
            try store.staging { staged in
                let (original, modified) = try store.stageCopy(of: source, to: staged.content, flag)
                try store.onStep(.staged)
                try flag.check()
                try store.locked(key) {
                    let record = ObjectRecord(
                        key: key.rawValue, file: "", size: original.size, contentModified: modified, md5: original.md5,
                        sha256: original.sha256, contentType: original.contentType, storageClass: storageClass.rawValue,
                        metadata: original.metadata, modified: store.now())
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
            guard !record.isArchived(at: now()) else { throw Self.archived(key, record, operation: "copy") }
            if record.storageClass == storageClass.rawValue { return }
            record.storageClass = storageClass.rawValue
            record.restore = nil
            try rewrite(record, at: key, "copy")
        }
    }

    /// Copies an object's bytes into `staging/`, proves them and syncs them.
    /// - Returns: the source's record, and when the copy's file was modified.
    private func stageCopy(of source: ObjectKey, to path: FilePath, _ flag: CancellationFlag) throws -> (
        record: ObjectRecord, modified: Int64
    ) {
        let content = try openContent(source, "copy")
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
