import SyncCore
import SyncDigest

/// The manifests of a user's vacations in the store.
struct ManifestStore: Sendable {
    /// What is stored under a cache key.
    enum Found: Sendable {
        case nothing
        /// With the SHA-256 of its bytes.
        case manifest(VacationManifest, SHA256Digest)
        case damaged(VacationManifest.Damage)
    }

    private let store: any ObjectStore
    private let keys: KeyLayout

    init(store: any ObjectStore, keys: KeyLayout) {
        self.store = store
        self.keys = keys
    }

    func find(_ cacheKey: String) async throws -> Found {
        do {
            guard let bytes = try await bytes(of: cacheKey) else { return .nothing }
            return .manifest(try VacationManifest(parsing: bytes), SHA256Digest(of: bytes))
        } catch let damage as VacationManifest.Damage {
            return .damaged(damage)
        }
    }

    /// - Throws: ``StoreError``, also when the store does not hold what it took.
    func put(_ bytes: [UInt8], as cacheKey: String) async throws {
        try await ShareStorage(store: store).put(
            text: bytes, type: VacationManifest.contentType, at: try keys.vacation(cacheKey))
    }

    /// Removes what is stored under a cache key, when these are its bytes.
    /// - Returns: whether it was.
    func remove(_ cacheKey: String, digest: SHA256Digest) async throws -> Bool {
        do {
            guard let bytes = try await bytes(of: cacheKey), SHA256Digest(of: bytes) == digest else { return false }
        } catch is VacationManifest.Damage {
            return false
        }
        try await store.delete(try keys.vacation(cacheKey))
        return true
    }

    /// - Returns: `nil` when there is nothing.
    private func bytes(of cacheKey: String) async throws -> [UInt8]? {
        do {
            return try await store.bytes(of: try keys.vacation(cacheKey), limit: VacationManifest.maximumSize)
        } catch let error as StoreError where error.code == .notFound {
            return nil
        } catch let error as StoreError where error.code == .badDigest || error.code == .tooLarge {
            throw VacationManifest.Damage.unreadable
        }
    }
}
