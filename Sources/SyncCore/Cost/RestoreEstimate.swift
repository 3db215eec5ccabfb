/// Objects of one class that are to be restored in one tier.
package struct RestoreLoad: Hashable, Sendable {
    package var storageClass: StorageClass
    package var tier: RestoreTier
    package var objects: Int
    package var bytes: Int64
    /// `false` where a copy that is there only stays for longer: S3 charges no retrieval for it.
    package var isRetrieved: Bool

    package init(storageClass: StorageClass, tier: RestoreTier, objects: Int, bytes: Int64, isRetrieved: Bool = true) {
        self.storageClass = storageClass
        self.tier = tier
        self.objects = objects
        self.bytes = bytes
        self.isRetrieved = isRetrieved
    }
}

/// What a restore and the way home would cost at most, in US dollars, and how long it takes.
///
/// Left out is what stays below 2 % of the rest: listings, and the GET of each object ($0.0004 for a thousand).
package struct RestoreEstimate: Hashable, Sendable {
    package var objects = 0
    package var bytes: Int64 = 0
    /// By the gigabyte.
    package var retrievalUSD = 0.0
    /// By the object.
    package var requestsUSD = 0.0
    /// The readable copies: STANDARD for as long as they stay, beside the archived objects.
    package var temporaryCopyUSD = 0.0
    /// Everything downloaded once. The monthly gigabytes that are free are not taken off: others of the account may
    /// have used them up.
    package var egressUSD = 0.0
    /// Whether ``bytes`` fit into the free gigabytes of a month, so that the egress may cost nothing.
    package var egressMayBeFree = true
    /// At most, until the last object is readable; `nil` when that is known of none.
    package var hours: Double?
    /// Classes whose objects are not in the sums, because the table has no price for them or for the tier. Sorted.
    package var unpriced: [StorageClass] = []

    package var totalUSD: Double { retrievalUSD + requestsUSD + temporaryCopyUSD + egressUSD }

    /// - Parameter days: how long the copies stay. It is counted from the request, so that it covers the restore too.
    package init(of loads: [RestoreLoad], days: Int, prices: PriceTable) {
        var unpriced: Set<StorageClass> = []
        for load in loads where load.objects > 0 {
            objects += load.objects
            bytes += load.bytes
            let wait = load.isRetrieved ? load.storageClass.restoreHours(load.tier) : 0
            hours = [hours, wait].compactMap(\.self).max()
            guard let tier = prices.classes[load.storageClass]?.retrieval[load.tier],
                let standard = prices.storage(.standard)
            else {
                unpriced.insert(load.storageClass)
                continue
            }
            let gigabytes = Double(load.bytes) / PriceTable.gigabyte
            if load.isRetrieved { retrievalUSD += gigabytes * tier.perGB }
            requestsUSD += Double(load.objects) / 1_000 * tier.per1000Requests
            if load.storageClass.makesTemporaryCopies {
                temporaryCopyUSD += gigabytes * standard * Double(days) / PriceTable.daysInMonth
            }
            egressUSD += gigabytes * prices.egressPerGB
        }
        egressMayBeFree = Double(bytes) <= prices.freeEgressGB * PriceTable.gigabyte
        self.unpriced = unpriced.sorted { $0.rawValue < $1.rawValue }
    }
}

/// Objects of one storage class.
package struct ClassLoad: Hashable, Sendable {
    package var storageClass: StorageClass
    package var objects: Int
    /// Stored bytes.
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
    package static func all(for loads: [ClassLoad], days: Int, prices: PriceTable) -> [RestoreOption] {
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
