/// Archived objects of one class, whatever the tier.
package struct ArchivedLoad: Hashable, Sendable {
    package var storageClass: StorageClass
    package var objects: Int
    package var bytes: Int64

    package init(storageClass: StorageClass, objects: Int, bytes: Int64) {
        self.storageClass = storageClass
        self.objects = objects
        self.bytes = bytes
    }
}

/// One tier that a restore could take as a whole.
package struct RestoreOption: Hashable, Sendable {
    package var tier: RestoreTier
    package var estimate: RestoreEstimate

    /// The tiers that every one of the classes has, from the slowest to the fastest; none when one class has none.
    package static func all(for loads: [ArchivedLoad], days: Int, prices: PriceTable) -> [RestoreOption] {
        let present = loads.filter { $0.objects > 0 }
        guard !present.isEmpty else { return [] }
        return RestoreTier.allCases.filter { tier in
            present.allSatisfy { $0.storageClass.offeredTiers.contains(tier) }
        }.map { tier in
            let loads = present.map {
                RestoreLoad(storageClass: $0.storageClass, tier: tier, objects: $0.objects, bytes: $0.bytes)
            }
            return RestoreOption(tier: tier, estimate: RestoreEstimate(of: loads, days: days, prices: prices))
        }
    }
}

/// A slower tier that is worth the wait.
package struct WaitingHint: Hashable, Sendable {
    /// A smaller saving is not worth a line: dollars, and a part of the whole.
    package static let smallestSavingUSD = 0.01
    package static let smallestShare = 0.1

    package var tier: RestoreTier
    /// At most; `nil` when not known.
    package var hours: Double?
    package var totalUSD: Double
    /// Against what was asked for.
    package var savedUSD: Double

    /// The slower tiers by which a restore in `tier` would cost noticeably less, the cheapest first. None where a price
    /// is missing: a sum without it compares with nothing.
    package static func hints(for estimate: RestoreEstimate, tier: RestoreTier, among options: [RestoreOption])
        -> [Self]
    {
        guard estimate.unpriced.isEmpty else { return [] }
        return options.filter { $0.tier < tier && $0.estimate.unpriced.isEmpty }.map { option in
            WaitingHint(
                tier: option.tier, hours: option.estimate.hours, totalUSD: option.estimate.totalUSD,
                savedUSD: estimate.totalUSD - option.estimate.totalUSD)
        }.filter {
            $0.savedUSD >= smallestSavingUSD && $0.savedUSD >= smallestShare * estimate.totalUSD
        }.sorted { $0.totalUSD < $1.totalUSD }
    }
}
