/// What is stored in one class, as the ledger sums it up.
package struct StoredLoad: Hashable, Sendable {
    package var storageClass: StorageClass
    package var objects: Int
    package var bytes: Int64
    /// Of these, what may have come into the class less than its minimum of days ago.
    package var youngObjects: Int
    package var youngBytes: Int64

    package init(storageClass: StorageClass, objects: Int, bytes: Int64, youngObjects: Int = 0, youngBytes: Int64 = 0) {
        self.storageClass = storageClass
        self.objects = objects
        self.bytes = bytes
        self.youngObjects = youngObjects
        self.youngBytes = youngBytes
    }
}

/// What the stored objects cost, in US dollars.
package struct StorageCost: Hashable, Sendable {
    package struct ClassCost: Hashable, Sendable {
        package var load: StoredLoad
        /// Per-object overheads included; `nil` when the class has no price.
        package var monthlyUSD: Double?
        /// The same bytes in STANDARD.
        package var standardMonthlyUSD: Double
        /// What it would cost to delete or overwrite today what is inside the class's minimum of days: at most, as if
        /// all of it had come today.
        package var earlyDeletionUSD: Double
    }

    /// In the order they were given.
    package var classes: [ClassCost]
    /// All archived objects brought back at once.
    package var fullRestore: [RestoreOption]

    /// Of the classes that have a price.
    package var monthlyUSD: Double { classes.reduce(0) { $0 + ($1.monthlyUSD ?? 0) } }
    /// What a month costs less than if all had stayed in STANDARD; below 0 where archiving costs more than it saves.
    package var savedMonthlyUSD: Double {
        classes.reduce(0) { sum, cost in sum + (cost.monthlyUSD.map { cost.standardMonthlyUSD - $0 } ?? 0) }
    }
    package var earlyDeletionUSD: Double { classes.reduce(0) { $0 + $1.earlyDeletionUSD } }
    package var unpriced: [StorageClass] { classes.filter { $0.monthlyUSD == nil }.map(\.load.storageClass) }

    /// - Parameter restoreDays: how long the copies of a full restore stay.
    package init(of loads: [StoredLoad], restoreDays: Int, prices: PriceTable) {
        classes = loads.map { load in
            let own = prices.classes[load.storageClass]
            return ClassCost(
                load: load,
                monthlyUSD: own.map { Self.monthly($0, load.objects, load.bytes, prices) },
                standardMonthlyUSD: Double(load.bytes) / PriceTable.gigabyte * (prices.storage(.standard) ?? 0),
                earlyDeletionUSD: own.map {
                    Self.monthly($0, load.youngObjects, load.youngBytes, prices)
                        * Double($0.minimumDays) / PriceTable.daysInMonth
                } ?? 0)
        }
        let archived = loads.filter(\.storageClass.isArchive).map {
            ArchivedLoad(storageClass: $0.storageClass, objects: $0.objects, bytes: $0.bytes)
        }
        fullRestore = RestoreOption.all(for: archived, days: restoreDays, prices: prices)
    }

    /// The class's smallest billable size is held against the mean: sums do not tell how many objects are below it.
    private static func monthly(_ own: ClassPrices, _ objects: Int, _ bytes: Int64, _ prices: PriceTable) -> Double {
        let count = Double(objects)
        let billed = max(Double(bytes), count * Double(own.minimumBytes)) + count * Double(own.overheadBytes)
        let named = count * Double(own.overheadStandardBytes)
        return (billed * own.perGBMonth + named * (prices.storage(.standard) ?? 0)) / PriceTable.gigabyte
    }
}
