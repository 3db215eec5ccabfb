package import FoundationEssentials

/// What a store knows of one object, as it reports it.
package struct ObjectInfo: Hashable, Sendable {
    /// Bytes that an object can have: S3 puts no more than 10,000 parts of 5 GiB together, which is 49 TiB (S3 User
    /// Guide, "Multipart upload limits"). What is said beyond that is no size, and is not added to others.
    package static let sizes: ClosedRange<Int64> = 0...(1 << 46)

    package var key: ObjectKey
    /// Size of the stored bytes.
    package var size: Int64
    private var proof: Proof
    /// The SHA-256 of the stored bytes as the *store* computed it, else `nil`. What the writer claimed is in `metadata`.
    package var sha256: SHA256Digest?
    /// The mark of this version, as the store writes it, without quotes; `nil` where there is none. That of an object in
    /// parts, or encrypted, is no digest, and still another one when the bytes are others.
    package var tag: ObjectTag? {
        didSet { md5 = proof.md5(beside: oldValue) }
    }
    package var storageClass: StorageClass
    package var restore: RestoreState
    /// Whether an INTELLIGENT_TIERING object is in one of its archive tiers (S3 API, `x-amz-archive-status`). A listing does
    /// not tell it.
    package var isInArchiveTier: Bool
    /// Media type, as in `Content-Type`. A listing does not tell it.
    package var contentType: String?
    /// User metadata, decoded; names are lower case. A listing does not tell it.
    package var metadata: [String: String]
    package var modified: Date?
}

extension ObjectInfo {
    /// Where the MD5 is. In a listing it is the tag: it is made of that when somebody asks, since a digest is a piece of
    /// memory of its own, and most objects are as they are known by their tags alone.
    private enum Proof: Hashable, Sendable {
        /// Or there is none, where the tag is none.
        case asTag
        /// Never what the tag says.
        case other(MD5Digest?)

        init(_ md5: MD5Digest?, beside tag: ObjectTag?) {
            self = md5 == tag?.md5 ? .asTag : .other(md5)
        }

        func md5(beside tag: ObjectTag?) -> MD5Digest? {
            switch self {
            case .asTag: tag?.md5
            case .other(let md5): md5
            }
        }
    }

    /// The MD5 of the stored bytes where the store proves one (an ETag of 32 digits, or its own record), else `nil`.
    package var md5: MD5Digest? {
        get { proof.md5(beside: tag) }
        set { proof = Proof(newValue, beside: tag) }
    }

    /// ``tag`` as a text.
    package var etag: String? {
        get { tag?.description }
        set { tag = newValue.map { ObjectTag($0) } }
    }

    package init(
        key: ObjectKey, size: Int64, md5: MD5Digest? = nil, sha256: SHA256Digest? = nil,
        etag: String? = nil,
        storageClass: StorageClass = .standard, restore: RestoreState = .none, isInArchiveTier: Bool = false,
        contentType: String? = nil,
        metadata: [String: String] = [:], modified: Date? = nil
    ) {
        let tag = etag.map { ObjectTag($0) }
        self.init(
            key: key, size: size, proof: Proof(md5, beside: tag), sha256: sha256, tag: tag, storageClass: storageClass,
            restore: restore, isInArchiveTier: isInArchiveTier, contentType: contentType, metadata: metadata,
            modified: modified)
    }

    /// As a listing tells of it: a tag of 32 digits is its MD5.
    ///
    /// An initialiser that sets each property by itself makes a copy of the whole and takes the first one apart: 4 % of
    /// what each object of a page cost.
    package init(
        listed key: ObjectKey, size: Int64, tag: ObjectTag?, storageClass: StorageClass, restore: RestoreState,
        modified: Date?
    ) {
        self.init(
            key: key, size: size, proof: .asTag, sha256: nil, tag: tag, storageClass: storageClass, restore: restore,
            isInArchiveTier: false, contentType: nil, metadata: [:], modified: modified)
    }
}

/// What was written with the object, by whoever stored it: a claim, and no proof of the bytes. `nil` where nothing, or nothing
/// that makes sense, was.
extension ObjectInfo {
    /// Of the photo that the object is a copy of.
    package var photoMD5: MD5Digest? { metadata[MetadataName.md5].flatMap { MD5Digest(hex: $0) } }
    /// Of the stored bytes.
    package var claimedSHA256: SHA256Digest? { metadata[MetadataName.sha256].flatMap { SHA256Digest(hex: $0) } }
    /// Of the stored bytes: the store's own where it has one, else the claim.
    package var toldSHA256: SHA256Digest? { sha256 ?? claimedSHA256 }
    /// Of the stored bytes.
    package var claimedMD5: MD5Digest? { metadata[MetadataName.storedMD5].flatMap { MD5Digest(hex: $0) } }
    /// Of an original, how its file is stored.
    package var originalEncoding: OriginalEncoding? {
        metadata[MetadataName.originalEncoding].flatMap(OriginalEncoding.init(rawValue:))
    }
    /// Of the file that an original is.
    package var originalSHA256: SHA256Digest? {
        metadata[MetadataName.originalSHA256].flatMap { SHA256Digest(hex: $0) }
    }
    /// Pixels of the stored copy.
    package var width: Int? { metadata[MetadataName.width].flatMap { Int($0) } }
    package var height: Int? { metadata[MetadataName.height].flatMap { Int($0) } }
    package var duration: Duration? { metadata[MetadataName.duration].flatMap { Duration(secondsText: $0) } }
    package var takenAt: CaptureTime? { metadata[MetadataName.takenAt].flatMap { CaptureTime($0) } }
}

/// One page of a listing, in ascending byte order of keys.
package struct ObjectPage: Hashable, Sendable {
    package var objects: [ObjectInfo]
    /// What is stored, and could not be looked at. Such an object is neither there nor gone; the others of the page are told.
    package var problems: [ObjectProblem]
    /// Hand it back to get the page after this one; `nil` on the last.
    package var next: PageToken?

    /// Of what it has, also of what could not be looked at.
    package var keys: [ObjectKey] { objects.map(\.key) + problems.map(\.key) }

    /// Whether the keys of its objects are in order, none is there twice, and all are behind this one.
    package func isInOrder(after last: ObjectKey?) -> Bool {
        if let last, let first = objects.first, first.key <= last { return false }
        return objects.indices.dropFirst().allSatisfy { objects[$0 - 1].key < objects[$0].key }
    }

    /// The objects whose keys begin with `prefix`. The others stay where they are: each that is taken out of the page is
    /// copied, which costs more than the look at its key.
    package func listed(below prefix: String) -> [ObjectInfo] {
        objects.indices.filter { objects[$0].key.isBelow(prefix) }.map { objects[$0] }
    }

    package init(objects: [ObjectInfo], problems: [ObjectProblem] = [], next: PageToken? = nil) {
        self.objects = objects
        self.problems = problems
        self.next = next
    }
}

/// An object of which a listing can tell no more than that something is stored under the key, and why.
package struct ObjectProblem: Hashable, Sendable {
    package var key: ObjectKey
    package var error: StoreError

    package init(key: ObjectKey, error: StoreError) {
        self.key = key
        self.error = error
    }

    /// In plain words, with the next step.
    package var reason: String { error.message }
}

/// A store's own mark of where a listing goes on. Opaque to everyone else.
package struct PageToken: RawRepresentable, Hashable, Sendable {
    package let rawValue: String

    package init(rawValue: String) {
        self.rawValue = rawValue
    }
}

/// The storage class that a store reports for an object (S3 API, `StorageClass`). Open-ended: a store may have names of
/// its own, and those are shown, not refused.
package struct StorageClass: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: String

    package init(rawValue: String) {
        self.rawValue = rawValue
    }

    package static let standard = StorageClass(rawValue: "STANDARD")
    package static let standardIA = StorageClass(rawValue: "STANDARD_IA")
    package static let oneZoneIA = StorageClass(rawValue: "ONEZONE_IA")
    package static let intelligentTiering = StorageClass(rawValue: "INTELLIGENT_TIERING")
    package static let glacierInstantRetrieval = StorageClass(rawValue: "GLACIER_IR")
    package static let glacier = StorageClass(rawValue: "GLACIER")
    package static let deepArchive = StorageClass(rawValue: "DEEP_ARCHIVE")

    /// Classes whose objects can be read at once.
    package static let readable: [StorageClass] = [
        .standard, .intelligentTiering, .standardIA, .oneZoneIA, .glacierInstantRetrieval,
    ]

    /// Whether an object of this class must be restored before it can be read.
    package var isArchive: Bool { self == .glacier || self == .deepArchive }

    /// Whether each reading of it has a price of its own, beside that of the traffic (https://aws.amazon.com/s3/pricing/).
    package var chargesRetrieval: Bool {
        self == .standardIA || self == .glacierInstantRetrieval || self == .oneZoneIA
    }

    package var description: String { rawValue }
}

/// What the store says about a temporary copy of an archived object (S3 API, header `x-amz-restore`).
package enum RestoreState: Hashable, Sendable {
    /// Never asked for, or the copy has expired.
    case none
    case inProgress
    /// Readable until the given moment, where the store tells one.
    case restored(until: Date?)
}

extension RestoreState {
    /// At a moment. A copy whose time is over is none, though a ledger or a store may tell of it still.
    package func asOf(_ time: Date) -> RestoreState {
        if case .restored(let until?) = self, until <= time { .none } else { self }
    }

    /// Whether the bytes can be read without another restore. Whoever was told of it a while ago asks for the
    /// ``asOf(_:)`` of now first; what a store tells at this moment counts by its own clock.
    /// - Parameter isArchived: whether what holds them is an archive, a class or a tier of one.
    package func allowsReading(ofArchived isArchived: Bool) -> Bool {
        if case .restored = self { true } else { !isArchived }
    }
}
