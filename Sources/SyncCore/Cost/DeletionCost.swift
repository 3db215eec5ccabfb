/// What is no longer paid when objects go, and what it costs that some of them go early. List prices: estimates.
package struct DeletionCost: Hashable, Sendable {
    package struct Item: Hashable, Sendable {
        package var storageClass: StorageClass
        package var bytes: Int64
        /// For how long it has been in its class.
        package var age: Duration

        package init(storageClass: StorageClass, bytes: Int64, age: Duration) {
            self.storageClass = storageClass
            self.bytes = bytes
            self.age = age
        }
    }

    /// US dollars that they cost each month as they are.
    package private(set) var monthlyUSD = 0.0
    /// US dollars that are billed for the rest of the days for which their classes are billed at least.
    package private(set) var earlyDeletionUSD = 0.0
    /// Objects of which that is so.
    package private(set) var earlyObjects = 0
    /// Classes without a price.
    package private(set) var unpriced: Set<StorageClass> = []

    package init(of items: some Sequence<Item>, prices: PriceTable) {
        for item in items {
            guard let own = prices.classes[item.storageClass] else {
                unpriced.insert(item.storageClass)
                continue
            }
            let monthly = StorageCost.monthly(own, 1, item.bytes, prices)
            monthlyUSD += monthly
            let rest = Double(own.minimumDays) - max(item.age / .seconds(86_400), 0)
            guard rest > 0 else { continue }
            earlyObjects += 1
            earlyDeletionUSD += monthly * rest / PriceTable.daysInMonth
        }
    }
}
