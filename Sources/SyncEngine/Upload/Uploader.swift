package import FoundationEssentials
package import SyncCore
package import SyncLedger

/// Sends one prepared photo and proves that the store holds it.
package struct Uploader: Sendable {
    /// What came of it. Failures are errors.
    package struct Receipt: Sendable {
        package let object: ObjectRecord
        /// `false` when the store had it already and nothing was sent or what was sent was not needed.
        package let wasSent: Bool
    }

    private let store: any ObjectStore
    private let versions: ProjectVersions?
    private let now: @Sendable () -> Date

    /// - Parameter versions: keeps earlier images of projects; where there is none, a new one replaces them.
    package init(
        store: any ObjectStore, versions: ProjectVersions? = nil, now: @escaping @Sendable () -> Date
    ) {
        self.store = store
        self.versions = versions
        self.now = now
    }

    /// - Throws: ``StoreError``, ``LedgerError``, `CancellationError`.
    package func upload(_ photo: PreparedPhoto) async throws -> Receipt {
        guard let versions, let project = photo.plan.project else { return try await put(photo) }
        return try await versions.store(photo, of: project, upload: put)
    }

    private func put(_ photo: PreparedPhoto) async throws -> Receipt {
        let body = photo.body
        let key = photo.plan.key
        do {
            let receipt = try await store.put(
                body, at: key, attributes: photo.attributes, condition: photo.plan.condition)
            try await prove(receipt, of: body, at: key)
            return Receipt(object: record(of: photo), wasSent: true)
        } catch let error as StoreError where error.code == .alreadyExists || error.code == .archived {
            return Receipt(object: try await adopt(photo, after: error), wasSent: false)
        }
    }

    /// A photo counts as stored only when the store's own words prove it: the digest in its answer, or what it reports
    /// when asked.
    private func prove(_ receipt: PutReceipt, of body: ObjectBody, at key: ObjectKey) async throws {
        if receipt.sha256 == body.digest.sha256 || receipt.md5 == body.digest.md5 { return }
        guard let stored = try await store.head(key) else {
            throw StoreError(
                .invalidResponse, operation: "verify", key: key.rawValue,
                message: "the store took the photo and does not have it; it will be sent again")
        }
        guard stored.holds(body) else {
            // We have just made this object and it is wrong. Left there, it would pass for the photo at the next try.
            try await store.delete(key)
            throw StoreError(
                .badDigest, operation: "verify", key: key.rawValue,
                message: "the store holds other bytes than were sent; they were removed and will be sent again")
        }
    }

    /// Something is stored under the key already. It is the photo when the store proves equal bytes, or when it says of
    /// itself that it was made from this photo (by a machine with other settings); it is never overwritten.
    private func adopt(_ photo: PreparedPhoto, after error: StoreError) async throws -> ObjectRecord {
        let key = photo.plan.key
        guard let stored = try await store.head(key) else {
            throw StoreError(
                .conflict, operation: "put", key: key.rawValue,
                message: "the store says that it has it and then that it has not; it will be tried again")
        }
        if stored.holds(photo.body) {
            var object = record(of: photo)
            object.storageClass = stored.storageClass
            return object
        }
        guard photo.plan.condition == .ifAbsent, stored.size > 0,
            stored.metadata[MetadataName.md5] == "\(photo.examined.id)",
            let sha256 = stored.metadata[MetadataName.sha256].flatMap({ SHA256Digest(hex: $0) })
        else {
            throw StoreError(
                error.code == .archived ? .archived : .invalidRequest, operation: "put", key: key.rawValue,
                message: error.code == .archived
                    ? "another version is archived under this key, and archived objects are never rewritten"
                    : "another object (\(stored.size) bytes) is stored under this key; it was left as it is."
                        + " Look at it, and remove it if it is not wanted"
            )
        }
        return ObjectRecord(
            key: key, size: stored.size, md5: photo.examined.digest.md5, sha256: sha256,
            contentType: stored.contentType ?? photo.copy.type.name, storageClass: stored.storageClass,
            width: stored.metadata[MetadataName.width].flatMap { Int($0) },
            height: stored.metadata[MetadataName.height].flatMap { Int($0) },
            takenAt: photo.copy.takenAt, storedAt: stored.modified ?? now())
    }

    private func record(of photo: PreparedPhoto) -> ObjectRecord {
        ObjectRecord(
            key: photo.plan.key, size: photo.body.size, md5: photo.examined.digest.md5,
            sha256: photo.copy.digest.sha256, contentType: photo.copy.type.name, storageClass: .standard,
            width: photo.copy.width, height: photo.copy.height, takenAt: photo.copy.takenAt, storedAt: now())
    }
}

extension ObjectInfo {
    /// Whether the store proves that it holds these bytes: the size is right, and so is a digest that it computed. Where
    /// it computes none (encrypted with a key of its own), the size and the digest in our metadata have to do.
    package func holds(_ body: ObjectBody) -> Bool {
        guard size == body.size else { return false }
        if let sha256 { return sha256 == body.digest.sha256 }
        if let md5 { return md5 == body.digest.md5 }
        return metadata[MetadataName.sha256] == "\(body.digest.sha256)"
    }
}
