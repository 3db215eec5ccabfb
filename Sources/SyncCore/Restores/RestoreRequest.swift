package import FoundationEssentials

/// What is asked of a store for one archived object.
package struct RestoreRequest: Hashable, Sendable {
    /// How long the temporary copy stays, 1 or more; `nil` for a class that moves back for good (INTELLIGENT_TIERING).
    package var days: Int?
    package var tier: RestoreTier

    package init(days: Int?, tier: RestoreTier) {
        self.days = days
        self.tier = tier
    }

    /// When the temporary copy ends: so many days after the request, rounded up to the next midnight UTC (S3 User Guide,
    /// "Restoring an archived object"). `nil` without a number of days, 1 or more.
    package func end(askedAt now: Date) -> Date? {
        guard let days, days >= 1 else { return nil }
        let day = 86_400.0
        return Date(timeIntervalSince1970: ((now.timeIntervalSince1970 / day) + Double(days)).rounded(.up) * day)
    }
}

/// A store's answer to a ``RestoreRequest``. Whether the object can be read is told by its ``RestoreState`` alone.
package enum RestoreAnswer: Hashable, Sendable {
    /// Begun, made faster, or given another end.
    case accepted
    /// It is being restored, and the store changes nothing about that (S3: 409).
    case alreadyRetrieving
}

/// How fast an archived object is brought back (S3 API, `GlacierJobParameters`, `Tier`). The slower, the cheaper.
package enum RestoreTier: String, Hashable, Sendable, CaseIterable, Comparable {
    // From the slowest to the fastest.
    case bulk, standard, expedited

    package static func < (left: RestoreTier, right: RestoreTier) -> Bool {
        left.speed < right.speed
    }

    private var speed: Int { Self.allCases.firstIndex(of: self) ?? 0 }
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
