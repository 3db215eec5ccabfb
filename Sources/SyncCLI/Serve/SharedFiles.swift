import SyncCore
import SyncLedger
import SystemPackage

/// The objects of shares in an embedded store, as files: what a bucket shows to browsers by itself.
struct SharedFiles: Sendable {
    let ledger: LedgerQueue
    let store: any ObjectSource
    let time: TimeSource
    /// The store's folder.
    let root: FilePath

    /// A whole object of a share that has not ended.
    /// - Parameter path: below the share's own.
    /// - Returns: `nil` where there is none.
    /// - Throws: ``StoreError``.
    func find(_ share: ShareID, _ path: [String]) async throws -> (path: FilePath, type: String)? {
        // One of another machine is known to the store alone.
        if let known = try await ledger({ try $0.share(share) }) {
            guard known.state == .live, known.expiresAt > time.now() else { return nil }
        }
        guard let key = try? ObjectKey(segments: ["shares", "\(share)"] + path), let info = try await store.head(key)
        else { return nil }
        // The key is the name (docs/design.md, "The embedded store").
        let file = root.appending("objects").pushing(FilePath(key.rawValue))
        return (file, info.contentType ?? "application/octet-stream")
    }
}
