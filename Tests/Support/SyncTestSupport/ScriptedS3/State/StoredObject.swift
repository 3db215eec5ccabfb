package import FoundationEssentials
package import SyncCore

/// An object as the server holds it, for tests to look at.
package struct StoredObject: Sendable {
    /// The archive tiers of INTELLIGENT_TIERING.
    package enum AccessTier: String, Sendable {
        case archive = "ARCHIVE_ACCESS"
        case deepArchive = "DEEP_ARCHIVE_ACCESS"
    }

    package internal(set) var bytes: [UInt8]
    /// Without quotes.
    package internal(set) var etag: String
    package internal(set) var modified: Date
    package internal(set) var storageClass: StorageClass
    /// What follows `x-amz-meta-`, in lower case, and the value.
    package internal(set) var metadata: [String: String]
    /// Content-Type and its like, by their names in lower case.
    package internal(set) var systemHeaders: [String: String]
    /// `AES256` or `aws:kms`.
    package internal(set) var encryption: String
    package internal(set) var restore: RestoreRecord?
    package internal(set) var accessTier: AccessTier?
    /// `sha256` or `crc32c` and so on, and its base64, as they were sent.
    package internal(set) var checksums: [String: String]
    /// How often something was stored under this key without a delete in between, this time included.
    package internal(set) var generation: Int

    /// Whether a read answers 403 at that moment.
    func isArchived(at now: Date) -> Bool {
        if storageClass == .intelligentTiering { return accessTier != nil }
        return storageClass.isArchive && restore?.isReadable(at: now) != true
    }

    /// Lets what happens with time happen: a restore that is done, a restored copy that expires.
    mutating func settle(at now: Date) {
        guard let restore else { return }
        if storageClass == .intelligentTiering {
            guard !restore.isOngoing(at: now) else { return }
            // It moved back to the frequent tier, and nothing remains of the job.
            accessTier = nil
            self.restore = nil
        } else if let expiry = restore.expiry, expiry <= now {
            self.restore = nil
        }
    }
}
