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
            ClassLoad(storageClass: $0.storageClass, objects: $0.objects, bytes: $0.bytes)
        }
        fullRestore = RestoreOption.all(for: archived, days: restoreDays, prices: prices)
    }

    /// The class's smallest billable size is held against the mean: sums do not tell how many objects are below it.
    static func monthly(_ own: ClassPrices, _ objects: Int, _ bytes: Int64, _ prices: PriceTable) -> Double {
        let count = Double(objects)
        let billed = max(Double(bytes), count * Double(own.minimumBytes)) + count * Double(own.overheadBytes)
        let named = count * Double(own.overheadStandardBytes)
        return (billed * own.perGBMonth + named * (prices.storage(.standard) ?? 0)) / PriceTable.gigabyte
    }
}

/// From which size on it pays to move an object from STANDARD to another class.
package enum ArchiveBreakEven: Hashable, Sendable {
    /// Objects of so many bytes and more.
    case from(Int64)
    /// At no size within that time.
    case never
    /// The table has no price for one of the two classes.
    case unknown

    /// Weighs the one move and the overheads of an archived object against what a month saves. Restores are not
    /// counted.
    /// - Parameters:
    ///   - months: the time within which it has to pay. An object that goes earlier than the class's minimum of days is
    ///     billed for all of them.
    package init(of storageClass: StorageClass, months: Int, prices: PriceTable) {
        guard let archive = prices.classes[storageClass], let standard = prices.storage(.standard) else {
            self = .unknown
            return
        }
        let billedMonths = max(Double(months), Double(archive.minimumDays) / PriceTable.daysInMonth)
        // Dollars: for a byte over the whole time, and for an object whatever its size.
        let byteInStandard = standard * Double(months) / PriceTable.gigabyte
        let byteInArchive = archive.perGBMonth * billedMonths / PriceTable.gigabyte
        let object =
            archive.putPer1000 / 1_000 + Double(archive.overheadBytes) * byteInArchive
            + Double(archive.overheadStandardBytes) * standard * billedMonths / PriceTable.gigabyte

        // Below the smallest billable size the archive's part is fixed.
        let minimum = Double(archive.minimumBytes)
        let small = (object + minimum * byteInArchive) / byteInStandard
        if byteInStandard > 0, small <= minimum {
            self = .from(Int64(small.rounded(.up)))
        } else if byteInStandard > byteInArchive {
            let size = (object / (byteInStandard - byteInArchive)).rounded(.up)
            self = size < Double(Int64.max) ? .from(Int64(size)) : .never
        } else {
            self = .never
        }
    }
}

/// What it costs to look at stored objects, where somebody bills it.
package struct VerificationCost: Hashable, Sendable {
    private let prices: PriceTable?

    /// - Parameter prices: `nil` where nobody bills.
    package init(prices: PriceTable?) {
        self.prices = prices
    }

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

/// What it costs to keep originals beside the copies, in US dollars.
package struct OriginalsCost: Hashable, Sendable {
    /// Of the bytes of JPEG files, what JPEG XL leaves on average (docs/performance.md).
    package static let recompressed = 0.78

    /// Bytes that are stored for them.
    package var bytes: Int64
    /// To put them into the store, and move them to their class.
    package var onceUSD: Double
    package var monthlyUSD: Double

    /// - Parameters:
    ///   - bytes: of the files.
    ///   - storageClass: where they come to lie.
    /// - Returns: `nil` when the class has no price.
    package init?(objects: Int, bytes: Int64, policy: OriginalsPolicy, storageClass: StorageClass, prices: PriceTable) {
        guard let own = prices.classes[storageClass], let standard = prices.classes[.standard] else { return nil }
        self.bytes = policy == .jxl ? Int64(Double(bytes) * Self.recompressed) : bytes
        let moves = storageClass == .standard ? 0 : own.putPer1000
        onceUSD = Double(objects) / 1_000 * (standard.putPer1000 + moves)
        monthlyUSD = StorageCost.monthly(own, objects, self.bytes, prices)
    }
}

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
