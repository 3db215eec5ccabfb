package import SyncCore

/// How long restores take.
package enum RestoreTimes {
    /// The upper ends of what Amazon states (S3 User Guide, "Archive retrieval options").
    package static func amazon(_ storageClass: StorageClass, _ tier: RestoreRecord.Tier) -> Duration {
        let minutes =
            switch (storageClass == .deepArchive, tier) {
            case (_, .expedited): 5
            case (false, .standard): 5 * 60
            case (false, .bulk): 12 * 60
            case (true, .standard): 12 * 60
            case (true, .bulk): 48 * 60
            }
        return .seconds(60 * minutes)
    }
}
