package import SystemPackage

/// An object that somebody wants back, as ledger and store know it.
package struct RestoreCandidate: Hashable, Sendable {
    package var key: ObjectKey
    package var storageClass: StorageClass
    /// Whether it has to be restored before it can be read. For INTELLIGENT_TIERING the class does not tell it (S3 API,
    /// `x-amz-archive-status` does).
    package var isArchived: Bool
    package var restoreState: RestoreState
    /// What is being restored by a job of ours, where it is: S3 does not report tier and days.
    package var running: RestoreRequest?
    /// Of the stored bytes.
    package var size: Int64
    package var sha256: SHA256Digest?
    /// As the person named or knows it.
    package var path: FilePath?
    /// Where the photo itself is, if that is where the copy was to be saved.
    package var original: FilePath?

    /// - Parameter isArchived: `nil` for what the class says.
    package init(
        key: ObjectKey, storageClass: StorageClass, isArchived: Bool? = nil, restoreState: RestoreState = .none,
        running: RestoreRequest? = nil, size: Int64, sha256: SHA256Digest? = nil,
        path: FilePath? = nil
    ) {
        self.key = key
        self.storageClass = storageClass
        self.isArchived = isArchived ?? storageClass.isArchive
        self.restoreState = restoreState
        self.running = running
        self.size = size
        self.sha256 = sha256
        self.path = path
    }
}

/// How fast the objects are wanted.
package enum TierChoice: Hashable, Sendable {
    case tier(RestoreTier)
    /// The fastest tier that each class has.
    case rush

    /// - Throws: ``TierNotOffered``.
    package func tier(for storageClass: StorageClass) throws(TierNotOffered) -> RestoreTier {
        switch self {
        case .tier(let tier):
            guard storageClass.offeredTiers.contains(tier) else {
                throw TierNotOffered(storageClass: storageClass, tier: tier)
            }
            return tier
        case .rush: return storageClass.offeredTiers.last ?? .standard
        }
    }
}

/// A tier was asked for that a class does not have. Nothing was sent.
package struct TierNotOffered: Error, Hashable, Sendable, CustomStringConvertible {
    package var storageClass: StorageClass
    package var tier: RestoreTier

    package init(storageClass: StorageClass, tier: RestoreTier) {
        self.storageClass = storageClass
        self.tier = tier
    }

    /// What the class has instead, from the slowest to the fastest, with the hours that it takes at most.
    package var offered: [(tier: RestoreTier, hours: Double?)] {
        storageClass.offeredTiers.map { ($0, storageClass.restoreHours($0)) }
    }

    package var description: String {
        let others = offered.map { tier, hours in
            hours.map { "\(tier.rawValue) (within \(Self.span(hours: $0)))" } ?? tier.rawValue
        }
        return "objects in \(storageClass) have no \(tier.rawValue) restore; choose \(others.joined(separator: " or "))"
    }

    private static func span(hours: Double) -> String {
        hours < 1 ? Int((hours * 60).rounded()).counted("minute") : Int(hours.rounded()).counted("hour")
    }
}
