/// How fast an archived object is brought back (S3 API, `GlacierJobParameters`, `Tier`). The slower, the cheaper.
package enum RestoreTier: String, Hashable, Sendable, CaseIterable, Comparable {
    // From the slowest to the fastest.
    case bulk, standard, expedited

    package static func < (left: RestoreTier, right: RestoreTier) -> Bool {
        left.speed < right.speed
    }

    private var speed: Int {
        switch self {
        case .bulk: 0
        case .standard: 1
        case .expedited: 2
        }
    }
}

extension StorageClass {
    /// The tiers that an archive class has, from the slowest to the fastest; none for a class that is read at once.
    /// DEEP_ARCHIVE has no expedited one (S3 User Guide, "Understanding archive retrieval options").
    package var restoreTiers: [RestoreTier] {
        switch self {
        case .deepArchive: [.bulk, .standard]
        case .glacier: [.bulk, .standard, .expedited]
        default: []
        }
    }

    /// How many hours a restore takes at most, by the same page; `nil` where the class has no such tier.
    package func restoreHours(_ tier: RestoreTier) -> Double? {
        switch (self, tier) {
        case (.deepArchive, .bulk): 48
        case (.deepArchive, .standard): 12
        case (.glacier, .bulk): 12
        case (.glacier, .standard): 5
        case (.glacier, .expedited): 5.0 / 60
        default: nil
        }
    }
}
