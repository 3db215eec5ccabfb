package import SyncCore
import SyncDigest
import SyncSystem

/// Reads stored objects back through a hasher, and proves by it what a store's answers do not. A piece of an object is in
/// memory at a time.
package struct ObjectReadback: Sendable {
    enum Finding: Sendable {
        case read(ObjectInfo, ContentDigest)
        case missing
        /// It has to be restored first.
        case archived
        case damaged(String)
    }

    /// What an object's own metadata says of its bytes, held against the bytes.
    enum Claim: Sendable {
        case proven(SHA256Digest)
        case contradicted(String)
        /// It is archived, and the store tells no digest of it.
        case unprovable
        /// It says nothing.
        case none
    }

    private let store: any ObjectSource

    package init(_ store: any ObjectSource) {
        self.store = store
    }

    /// What is damaged or was cut on the way is read once more: the way may be to blame.
    /// - Throws: ``StoreError`` that says nothing of the object; `CancellationError`.
    func read(_ key: ObjectKey) async throws -> Finding {
        do {
            return try await readOnce(key)
        } catch let error as StoreError where error.code == .badDigest || error.code == .connectionLost {
            do {
                return try await readOnce(key)
            } catch let error as StoreError where error.code == .badDigest {
                return .damaged("its bytes are not those that were stored")
            }
        }
    }

    private func readOnce(_ key: ObjectKey) async throws -> Finding {
        let hasher = Mutex(ContentHasher())
        do {
            let info = try await store.get(key, range: nil) { bytes in hasher.withLock { $0.update(bytes) } }
            return .read(info, hasher.withLock { $0.finalize() })
        } catch let error as StoreError where error.code == .notFound {
            return .missing
        } catch let error as StoreError where error.code == .archived {
            return .archived
        }
    }

    /// Whether the store holds these bytes: by a digest that it computed, else by reading them back.
    /// - Parameter info: as `head` tells it.
    func holds(_ body: ObjectBody, as info: ObjectInfo) async throws -> Bool {
        if let proof = info.proof(of: body) { return proof }
        if info.isLocked { return false }
        guard case .read(_, let digest) = try await read(info.key) else { return false }
        return digest == body.digest
    }

    /// Holds an object against the SHA-256 that its own metadata claims. The claim alone proves nothing: it was written
    /// with the object, and stays as it is whatever becomes of the bytes.
    /// - Parameter info: as `head` tells it.
    func claim(of info: ObjectInfo) async throws -> Claim {
        guard let claimed = info.claimedSHA256 else { return .none }
        if let sha256 = info.sha256 {
            return sha256 == claimed ? .proven(claimed) : .contradicted("the store tells another SHA-256")
        }
        if let md5 = info.md5, let claimedMD5 = info.claimedMD5 {
            return md5 == claimedMD5 ? .proven(claimed) : .contradicted("the store tells another MD5")
        }
        if info.isLocked { return .unprovable }
        switch try await read(info.key) {
        case .read(_, let digest):
            return digest.sha256 == claimed ? .proven(claimed) : .contradicted("its bytes have another SHA-256")
        case .damaged(let reason): return .contradicted(reason)
        case .archived: return .unprovable
        case .missing: return .none
        }
    }
}

extension ObjectInfo {
    /// What the store proves of these bytes, by the size or a digest that it computed; `nil` when it tells none.
    func proof(of body: ObjectBody) -> Bool? {
        guard size == body.size else { return false }
        if let sha256 { return sha256 == body.digest.sha256 }
        return md5.map { $0 == body.digest.md5 }
    }

    /// Whether it has to be restored before anything can be done with it.
    var isLocked: Bool {
        if case .restored = restore { return false }
        return storageClass.isArchive || isInArchiveTier
    }
}
