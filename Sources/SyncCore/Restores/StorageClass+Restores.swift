extension StorageClass {
    /// The tiers to choose from for an object of this class that the store says is archived, from the slowest to the
    /// fastest. For INTELLIGENT_TIERING, those that both of its archive tiers have; the class does not tell which one
    /// an object is in. The same for names that are a store's own.
    package var offeredTiers: [RestoreTier] { isArchive ? restoreTiers : [.bulk, .standard] }

    /// Whether a restore makes a copy for some days. An object of INTELLIGENT_TIERING moves back for good, and S3
    /// refuses a number of days for it.
    package var makesTemporaryCopies: Bool { self != .intelligentTiering }
}
