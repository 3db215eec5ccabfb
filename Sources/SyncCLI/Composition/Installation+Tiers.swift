import SyncConfig
import SyncCore
import SyncS3

extension Installation {
    /// What estimates are made from, whatever the store.
    /// - Throws: `ConfigError` when `cost.prices` names a file that is no price table.
    func prices() throws -> PriceTable {
        try PriceFile.table(for: settings.cost)
    }

    /// Those by which archiving has to pay; `nil` but at Amazon: elsewhere nobody knows what an archived object costs.
    func pricesThatCount() throws -> PriceTable? {
        isBilledByAmazon ? try prices() : nil
    }

    /// What is to become of objects as they grow old.
    func tierPolicy() throws -> TierPolicy {
        TierPolicy(
            user: settings.user, mode: settings.tiers.mode, archiveAfterDays: settings.tiers.archiveAfterDays,
            floor: ArchiveFloor(
                configured: Int64(settings.tiers.minimumArchiveBytes), prices: try pricesThatCount()),
            shareExpireDays: settings.share.expireDays)
    }

    /// `false` also where a setting of the store cannot be used: who opens the store says so.
    private var isBilledByAmazon: Bool {
        guard case .s3(let s3) = settings.store else { return false }
        return (try? S3Settings(s3).isAmazon(environment: environment)) ?? false
    }
}
