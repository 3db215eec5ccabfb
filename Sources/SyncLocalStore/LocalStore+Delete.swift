package import SyncCore
import SystemPackage

extension LocalStore {
    /// Archived objects are removed like others.
    package func delete(_ key: ObjectKey) async throws {
        try await perform("delete", key.rawValue) { store, _ in
            try store.locked(key) {
                guard let record = try store.record(key, "delete") else { return try store.requireRoot("delete") }
                try store.remove(key, record)
            }
        }
    }

    private func remove(_ key: ObjectKey, _ record: ObjectRecord) throws {
        let path = layout.record(for: key)
        let staged = layout.staging.appending("\(hexID())-deleted.json")
        try Disk.rename(path, to: staged)
        try Disk.syncFolderOrAbove(path.removingLastComponent())
        try onStep(.deleted)
        removeContent(record)
        Disk.prune(path.removingLastComponent(), upTo: layout.records)
        try Disk.remove(staged)
    }
}
