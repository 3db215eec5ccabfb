package import SyncCore

/// A share in a store that we may read.
package struct StoredShareSource: ShareSource {
    private let id: ShareID
    private let store: any ObjectSource

    package init(_ id: ShareID, in store: any ObjectSource) {
        self.id = id
        self.store = store
    }

    package func read(remembered: WebLink?) async throws -> ReadShare {
        let share = try ShareManifestRules(asked: id).check(try await manifest(), foundAt: nil)
        return ReadShare(share: share, photos: SharedPhotos(share, in: store), manifestLink: nil)
    }

    private func manifest() async throws -> [UInt8] {
        do {
            return try await store.bytes(of: ShareKeys(id).manifest, limit: ShareManifestRules.maximumBytes)
        } catch let error as StoreError where error.code == .tooLarge {
            throw ShareRefusal.manifestTooLong
        } catch let error as StoreError where error.code == .notFound {
            throw StoreError(
                .notFound, operation: "get", key: error.key,
                message:
                    "there is no share \(id) in \(store.identity.location): it was revoked, has expired or never was")
        }
    }
}
