/// What it costs to look at stored objects, where somebody bills it.
package struct VerificationCost: Hashable, Sendable {
    private let prices: PriceTable?

    /// - Parameter prices: `nil` where nobody bills.
    package init(prices: PriceTable?) {
        self.prices = prices
    }

    package var isBilled: Bool { prices != nil }

    /// US dollars for one object. An archived one is only asked for; the others are read, and leave the store.
    /// - Parameter storageClass: one without prices here is taken for STANDARD.
    package func usd(bytes: Int64, in storageClass: StorageClass) -> Double {
        usd(objects: 1, bytes: bytes, in: storageClass)
    }

    package func usd(objects: Int, bytes: Int64, in storageClass: StorageClass) -> Double {
        guard let prices else { return 0 }
        let known = prices.classes[storageClass] ?? prices.classes[.standard]
        let requests = Double(objects) * (known?.getPer1000 ?? ClassPrices.usualGetPer1000) / 1_000
        if storageClass.isArchive { return requests }
        let gigabytes = Double(bytes) / PriceTable.gigabyte
        return requests + gigabytes * (prices.egressPerGB + (known?.readPerGB ?? 0))
    }
}
