package import SyncCore
package import SystemPackage

/// A restore job that is about to be made.
package struct RestoreJobDraft: Hashable, Sendable {
    package struct Item: Hashable, Sendable {
        package var key: ObjectKey
        /// Absolute, as the person named or knows it.
        package var path: FilePath?
        /// Where it is saved, below the job's output.
        package var destination: FilePath?
        /// Stored bytes.
        package var size: Int64
        /// Of the stored bytes.
        package var sha256: SHA256Digest?
        package var storageClass: StorageClass
        package var tier: RestoreTier
        /// What became of it already, where nothing has to be asked for.
        package var outcome: RestoreOutcome?

        package init(
            key: ObjectKey, path: FilePath? = nil, destination: FilePath? = nil, size: Int64,
            sha256: SHA256Digest? = nil, storageClass: StorageClass, tier: RestoreTier, outcome: RestoreOutcome? = nil
        ) {
            self.key = key
            self.path = path
            self.destination = destination
            self.size = size
            self.sha256 = sha256
            self.storageClass = storageClass
            self.tier = tier
            self.outcome = outcome
        }
    }

    package var requestedBy: String
    package var tier: RestoreTier
    /// Whether each item has the fastest tier that there is for it.
    package var isRush: Bool
    /// 1 or more.
    package var days: Int
    package var output: FilePath?
    package var estimatedCostUSD: Double?
    package var estimatedHours: Double?
    /// Each key once.
    package var items: [Item]

    package init(
        requestedBy: String, tier: RestoreTier, isRush: Bool = false, days: Int, output: FilePath? = nil,
        estimatedCostUSD: Double? = nil,
        estimatedHours: Double? = nil, items: [Item]
    ) {
        self.requestedBy = requestedBy
        self.tier = tier
        self.isRush = isRush
        self.days = days
        self.output = output
        self.estimatedCostUSD = estimatedCostUSD
        self.estimatedHours = estimatedHours
        self.items = items
    }
}
