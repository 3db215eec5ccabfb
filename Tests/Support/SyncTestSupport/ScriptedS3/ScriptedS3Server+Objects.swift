package import SyncCore
import SyncDigest
import SyncSystem

/// What a test puts into the server past the network, and looks at there. All of it concerns the server's own bucket.
extension ScriptedS3Server {
    package func object(_ key: String) -> StoredObject? {
        let now = now
        return withBucket { try? $0.object(ObjectName(key), at: now) }
    }

    /// All keys, in the order of listings.
    package var keys: [String] {
        withBucket { $0.names(prefix: [], after: nil).map(\.text) }
    }

    /// Those of photos; manifests and the like are left out.
    package var photoKeys: [String] {
        keys.filter { $0.contains("/photos/") }
    }

    /// Uploads in parts that are neither complete nor aborted.
    package var openUploads: [String] {
        withBucket { $0.uploads.keys.sorted() }
    }

    package func store(_ bytes: [UInt8], at key: String, storageClass: StorageClass = .standard) {
        let object = StoredObject(
            bytes: bytes, etag: "\(ContentDigest(of: bytes).md5)", modified: now, storageClass: storageClass,
            metadata: [:],
            systemHeaders: ["content-type": "binary/octet-stream"], encryption: "AES256", checksums: [:], generation: 1)
        withBucket { $0.store(object, at: ObjectName(key)) }
    }

    /// As lifecycle rules do.
    package func transition(_ key: String, to storageClass: StorageClass) {
        withBucket { bucket in
            bucket.change(ObjectName(key)) {
                $0.storageClass = storageClass
                $0.restore = nil
            }
        }
    }

    /// Moves an object of INTELLIGENT_TIERING into an archive tier.
    package func archive(_ key: String, in tier: StoredObject.AccessTier) {
        withBucket { $0.change(ObjectName(key)) { $0.accessTier = tier } }
    }

    /// A byte goes wrong on the server's disk; ETag and metadata stay as they were.
    package func corrupt(_ key: String) {
        withBucket { $0.change(ObjectName(key)) { $0.bytes.flipMiddleByte() } }
    }

    /// Deleting this key is refused with AccessDenied.
    package func protect(_ key: String) {
        withBucket { _ = $0.protected.insert(ObjectName(key)) }
    }

    /// The document of the lifecycle rules, as it was sent.
    package var lifecycle: String? {
        get { withBucket { $0.lifecycle.map { String(decoding: $0, as: UTF8.self) } } }
        set { withBucket { $0.lifecycle = newValue.map { Array($0.utf8) } } }
    }

    /// A bucket more, perhaps in another region.
    package func addBucket(_ name: String, region: String) {
        state.withLock { $0.buckets[name] = StoredBucket(name: name, region: region) }
    }

    private func withBucket<Result>(_ body: (inout StoredBucket) -> Result) -> Result {
        state.withLock { state in
            var bucket = state.buckets.removeValue(forKey: bucket) ?? StoredBucket(name: bucket, region: region)
            defer { state.buckets[self.bucket] = bucket }
            return body(&bucket)
        }
    }
}
