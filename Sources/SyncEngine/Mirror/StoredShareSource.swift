package import SyncCore
import SyncSystem

/// A share in a store that we may read.
package struct StoredShareSource: ShareSource {
    private let id: ShareID
    private let store: any ObjectSource

    package init(_ id: ShareID, in store: any ObjectSource) {
        self.id = id
        self.store = store
    }

    package func read(remembered: WebLink?) async throws -> ReadShare {
        do {
            let share = try await store.manifest(of: id)
            return ReadShare(share: share, photos: SharedPhotos(share, in: store), manifestLink: nil)
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

extension ObjectSource {
    /// The manifest of a share, held against the rules.
    /// - Throws: ``StoreError``, ``ShareRefusal``, `CancellationError`.
    func manifest(of share: ShareID) async throws -> CheckedShare {
        let bytes = try await bytes(of: ShareKeys(share).manifest, limit: ShareManifestRules.maximumBytes)
        return try ShareManifestRules(asked: share).check(bytes, foundAt: nil)
    }
}

extension ReadableStore {
    /// - Returns: `nil` when the share has none, by a listing, too: what is removed then is nobody's any more.
    /// - Throws: as ``manifest(of:)``.
    func manifestIfAny(of share: ShareID) async throws -> CheckedShare? {
        do {
            return try await manifest(of: share)
        } catch let error as StoreError where error.code == .notFound {
            try await confirmAbsence(of: ShareKeys(share).manifest)
            return nil
        }
    }
}

/// The photos of a share in its store, each no longer than its manifest says.
struct SharedPhotos: ObjectSource {
    private let base: any ObjectSource
    private let sizes: [ObjectKey: Int64]

    init(_ share: CheckedShare, in base: any ObjectSource) {
        self.base = base
        let keys = ShareKeys(share.id)
        sizes = share.photos.reduce(into: [:]) { $0[keys.object(of: $1)] = $1.size }
    }

    var identity: StoreIdentity { base.identity }

    func head(_ key: ObjectKey) async throws -> ObjectInfo? {
        guard let info = try await base.head(key) else { return nil }
        try check(info)
        return info
    }

    func get(
        _ key: ObjectKey, range: Range<Int64>?, into sink: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) async throws -> ObjectInfo {
        let left = Lock((range?.upperBound ?? sizes[key] ?? 0) - (range?.lowerBound ?? 0))
        let info = try await base.read(key, range: range) { bytes in
            let rest = left.withLock { left in
                left -= Int64(bytes.count)
                return left
            }
            if rest < 0 { throw failure(key, "it goes on after the \(sizes[key] ?? 0) bytes that the manifest tells") }
            try sink(bytes)
        }
        try check(info)
        return info
    }

    private func check(_ info: ObjectInfo) throws {
        guard info.size != sizes[info.key] else { return }
        throw failure(info.key, "it has \(info.size) bytes, and the manifest says \(sizes[info.key] ?? 0)")
    }

    private func failure(_ key: ObjectKey, _ message: String) -> StoreError {
        StoreError(.badDigest, operation: "get", key: key.rawValue, message: message)
    }
}
