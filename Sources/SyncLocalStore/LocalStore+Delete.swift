package import SyncCore
import SystemPackage

extension LocalStore {
    /// Archived objects are removed like others.
    package func delete(_ key: ObjectKey) async throws {
        try await perform("delete", key.rawValue) { store, _ in
            try store.locked(key) {
                try store.settle(key)
                switch try store.lookup(key) {
                case .absent: try store.requireRoot("delete")
                case .object(let record): try store.remove(key, store.layout.content(record))
                // Which file it named is lost. The plain name belongs to this key alone.
                case .unreadable: try store.remove(key, store.plainContent(of: key))
                }
            }
        }
    }

    /// The record becomes the note of what is owed, by one rename: until its folder is synced, and the bytes are gone,
    /// `staging/` names them.
    private func remove(_ key: ObjectKey, _ content: FilePath?) throws {
        let path = layout.record(for: key)
        try requireSameStore("delete")
        try Disk.rename(path, to: layout.unsettled(key))
        try syncFolders(above: path, below: layout.records)
        try onStep(.deleted)
        if let content { try removeContent(content) }
        Disk.prune(path.removingLastComponent(), upTo: layout.records)
        try Disk.remove(layout.unsettled(key))
    }

    private func plainContent(of key: ObjectKey) -> FilePath? {
        var path = layout.objects
        for segment in key.rawValue.split(separator: "/") {
            guard let name = ContentName.plain(segment) else { return nil }
            path.append(name)
        }
        return path
    }
}
