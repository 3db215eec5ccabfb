import SyncCore
import SyncLocalStore
import SystemPackage

/// The objects of shares in an embedded store, as files: what a bucket shows to browsers by itself.
struct SharedFiles: Sendable {
    let store: any ObjectSource
    /// The store's folder.
    let root: FilePath

    /// A whole object of a share that has not ended.
    /// - Parameter path: below the share's own.
    /// - Returns: `nil` where there is none.
    /// - Throws: ``StoreError``.
    func find(_ share: ShareID, _ path: [String]) async throws -> (path: FilePath, type: String)? {
        guard let key = try? ObjectKey(segments: ["shares", "\(share)"] + path), let info = try await store.head(key)
        else { return nil }
        // The key is the name (docs/design.md, "The embedded store").
        let file = root.appending("objects").pushing(FilePath(key.rawValue))
        return (file, info.contentType ?? "application/octet-stream")
    }
}
