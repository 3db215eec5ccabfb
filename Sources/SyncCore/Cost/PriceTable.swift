/// What Amazon asks for in one region: list prices in US dollars, good for estimates only.
///
/// Everywhere in `Cost/`, a gigabyte is 2^30 bytes and a month has 30 days. Amazon bills by the byte-hour and the real
/// month (S3 User Guide, "Billing and usage reporting"), which differs by at most 7 %.
package struct PriceTable: Hashable, Sendable {
    package static let gigabyte = Double(1 << 30)
    package static let daysInMonth = 30.0

    package var region: String
    /// When the prices held, such as `2026-07`.
    package var asOf: String
    /// Where they were read.
    package var source: String
    /// A class without prices here is no error: what it costs is not known.
    package var classes: [StorageClass: ClassPrices]
    /// For a gigabyte that leaves the store for the internet.
    package var egressPerGB: Double
    /// Gigabytes a month that leave for nothing, for the whole account.
    package var freeEgressGB: Double

    package init(
        region: String, asOf: String, source: String, classes: [StorageClass: ClassPrices], egressPerGB: Double,
        freeEgressGB: Double = 0
    ) {
        self.region = region
        self.asOf = asOf
        self.source = source
        self.classes = classes
        self.egressPerGB = egressPerGB
        self.freeEgressGB = freeEgressGB
    }

    /// What one gigabyte costs for a month in a class, by its bytes alone; `nil` when the class has no price.
    package func storage(_ storageClass: StorageClass) -> Double? { classes[storageClass]?.perGBMonth }
}

/// The prices of one storage class, in US dollars.
package struct ClassPrices: Hashable, Sendable {
    package var perGBMonth: Double
    /// A thousand objects put, copied or moved by a rule into the class.
    package var putPer1000: Double
    /// What leaves the class earlier is billed for so many days.
    package var minimumDays: Int
    /// A smaller object is billed as if it had so many bytes.
    package var minimumBytes: Int64
    /// Bytes of index that every object adds at this class's price (S3 User Guide, "Lifecycle transition general
    /// considerations": 32 KiB for GLACIER and DEEP_ARCHIVE).
    package var overheadBytes: Int64
    /// Bytes of its name and metadata that every object adds at the price of STANDARD (by the same page 8 KiB).
    package var overheadStandardBytes: Int64
    /// A thousand objects read or asked for.
    package var getPer1000: Double
    /// A gigabyte that is read, besides what its way out costs.
    package var readPerGB: Double
    /// Empty for a class that is read at once.
    package var retrieval: [RestoreTier: RetrievalPrices]

    package init(
        perGBMonth: Double, putPer1000: Double, minimumDays: Int = 0, minimumBytes: Int64 = 0,
        overheadBytes: Int64 = 0, overheadStandardBytes: Int64 = 0, getPer1000: Double = usualGetPer1000,
        readPerGB: Double = 0, retrieval: [RestoreTier: RetrievalPrices] = [:]
    ) {
        self.perGBMonth = perGBMonth
        self.putPer1000 = putPer1000
        self.minimumDays = minimumDays
        self.minimumBytes = minimumBytes
        self.overheadBytes = overheadBytes
        self.overheadStandardBytes = overheadStandardBytes
        self.getPer1000 = getPer1000
        self.readPerGB = readPerGB
        self.retrieval = retrieval
    }

    /// Of STANDARD, for a table that does not tell it.
    package static let usualGetPer1000 = 0.0004
}

/// What a restore costs in one tier, in US dollars, besides its temporary copy.
package struct RetrievalPrices: Hashable, Sendable {
    package var perGB: Double
    /// A thousand objects asked for.
    package var per1000Requests: Double

    package init(perGB: Double, per1000Requests: Double) {
        self.perGB = perGB
        self.per1000Requests = per1000Requests
    }
}
