package import SystemPackage

/// The bytes of one object on their way to a store, with the digests that prove them. Nothing is sent unhashed.
package struct ObjectBody: Hashable, Sendable {
    package enum Source: Hashable, Sendable {
        case bytes([UInt8])
        /// Sent from the disk without a copy in memory. A store refuses it (`StoreError.Code.sourceChanged`) when the
        /// file's stamp is no longer this one before or after it was read.
        case file(FilePath, FileStamp)
    }

    package let source: Source
    /// What is changed of a file's bytes on their way: the digest is that of the bytes that arrive.
    package let patches: FilePatches
    package let size: Int64
    package let digest: ContentDigest

    package init(bytes: [UInt8], digest: ContentDigest) {
        self.source = .bytes(bytes)
        patches = .none
        self.size = Int64(bytes.count)
        self.digest = digest
    }

    package init(file: FilePath, stamp: FileStamp, patches: FilePatches = .none, digest: ContentDigest) {
        self.source = .file(file, stamp)
        self.patches = patches
        self.size = stamp.size
        self.digest = digest
    }

    /// A copy that was made of a file: what is not in memory is sent from the disk.
    package init(_ copy: StoredCopy, of file: FilePath, _ stamp: FileStamp) {
        switch copy.content {
        case .reduced(let bytes): self.init(bytes: bytes, digest: copy.digest)
        case .patched(let patches): self.init(file: file, stamp: stamp, patches: patches, digest: copy.digest)
        case .unchanged: self.init(file: file, stamp: stamp, digest: copy.digest)
        }
    }
}

/// What is stored beside the bytes.
package struct ObjectAttributes: Hashable, Sendable {
    /// Media type, sent as `Content-Type`.
    package var contentType: String
    /// User metadata: names lower case ASCII without `x-amz-meta-`; values any text (the store percent-encodes them).
    package var metadata: [String: String]
    package var storageClass: StorageClass

    package init(contentType: String, metadata: [String: String] = [:], storageClass: StorageClass = .standard) {
        self.contentType = contentType
        self.metadata = metadata
        self.storageClass = storageClass
    }
}

/// When a put may happen.
package enum PutCondition: Hashable, Sendable {
    /// Only where nothing is stored under the key (`If-None-Match: *`, RFC 9110, 13.1.2).
    case ifAbsent
    /// Whatever is there is replaced, unless it is archived.
    case overwrite
}

/// A store's answer to a put.
package struct PutReceipt: Hashable, Sendable {
    /// The MD5 of what the store says it holds now, where it says so.
    package var md5: MD5Digest?
    /// The SHA-256 that the store itself computed, where it says so.
    package var sha256: SHA256Digest?
    /// As ``ObjectInfo/etag``.
    package var etag: String?
    /// Whether the answer proves the bytes by other digests than these two: those of all parts that they were sent in.
    package var provesParts: Bool
    /// The class that the object is in now: another than was asked for where the store does not have that one.
    package var storageClass: StorageClass

    package init(
        md5: MD5Digest? = nil, sha256: SHA256Digest? = nil, etag: String? = nil, provesParts: Bool = false,
        storageClass: StorageClass = .standard
    ) {
        self.md5 = md5
        self.sha256 = sha256
        self.etag = etag
        self.provesParts = provesParts
        self.storageClass = storageClass
    }
}

/// Names of our user metadata. docs/design.md, section 5, says what they hold.
package enum MetadataName {
    /// SHA-256 of the stored bytes, hexadecimal.
    package static let sha256 = "sha256"
    /// MD5 of the photo on the disk (its identity), hexadecimal.
    package static let md5 = "md5"
    /// MD5 of the stored bytes, hexadecimal: what an archived copy can be held against without a restore.
    package static let storedMD5 = "stored-md5"
    /// Pixels of the stored copy.
    package static let width = "width"
    package static let height = "height"
    /// Of a film: seconds, with three decimals.
    package static let duration = "duration"
    /// Capture time as ``CaptureTime`` writes it. Older objects have it in UTC, or the camera's clock as if it were UTC.
    package static let takenAt = "taken-at"
    /// Of what is stored under the name of a file: the id of the machine that has stored it.
    package static let machine = "machine"

    // Originals.
    /// As ``OriginalEncoding`` writes it.
    package static let originalEncoding = "original-encoding"
    /// SHA-256 of the file, hexadecimal.
    package static let originalSHA256 = "original-sha256"
    /// Bytes of the file.
    package static let originalSize = "original-size"

    // Photos of gallery events that were archived.
    /// As the event gives it; else the user of the configuration.
    package static let user = "user"
    /// As in the key.
    package static let profile = "profile"
    package static let eventID = "event-id"
    package static let eventType = "event-type"
    /// When the event was created, ISO 8601 in UTC.
    package static let originalCreatedAt = "original-created-at"
    package static let archivedAt = "archived-at"
    /// Missing when titles are not kept; its end may be missing.
    package static let taskTitle = "task-title"
}
