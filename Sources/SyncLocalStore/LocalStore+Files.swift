package import SyncCore
package import SystemPackage

extension LocalStore {
    /// The file that has an object's bytes now, for who sends files.
    /// - Returns: `nil` for what is not there, is archived, or has other bytes than were stored.
    package func file(of key: ObjectKey) async throws -> (path: FilePath, info: ObjectInfo)? {
        try await perform("read", key.rawValue) { store, flag in
            guard let record = try store.record(key, "read"), !record.isArchived(at: store.now()) else { return nil }
            let proof = try store.proof(of: record, flag)
            guard proof.isWhole else { return nil }
            return (store.layout.content(record), record.info(key: key, at: store.now(), proof))
        }
    }
}
