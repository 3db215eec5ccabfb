package import FoundationEssentials
import GRDB
package import SyncCore

/// The objects of one storage class below one prefix.
package struct TierShare: Hashable, Sendable {
    /// What a lifecycle rule would be made for: `users/ana/photos/`, `gallery-archive/ana/`, `shares/`; empty for objects
    /// without a folder.
    package let prefix: String
    package let storageClass: StorageClass
    package var objects: Int
    /// Stored bytes.
    package var bytes: Int64
    /// Of these, what is in the class for less than its minimum of days.
    package var youngObjects: Int
    package var youngBytes: Int64
}

extension Ledger {
    /// What is stored where, by prefix, then by class. It is read from counts that are kept for each day, however many
    /// objects there are.
    /// - Parameter minimumDays: for how long a class bills at least. Days are those of UTC, and an object counts from the
    ///   one in which it was put, or was first reported to be in the class.
    package func tierReport(
        at time: Date, minimumDays: (StorageClass) -> Int
    ) throws(LedgerError) -> [TierShare] {
        try read("sum up the objects") { db in
            let today = Int(time.timeIntervalSince1970 / 86_400)
            var shares: [TierShare] = []
            try db.forEachRow(LedgerQuery.objectAges, []) { (age: ObjectAge) in
                if shares.last?.prefix != age.prefix || shares.last?.storageClass != age.storageClass {
                    shares.append(
                        TierShare(
                            prefix: age.prefix, storageClass: age.storageClass, objects: 0, bytes: 0, youngObjects: 0,
                            youngBytes: 0))
                }
                let minimum = minimumDays(age.storageClass)
                // To the end of the day on which the minimum is over: at which hour of it an object came is not known.
                shares[shares.count - 1].add(age, isYoung: minimum > 0 && age.day + minimum >= today)
            }
            return shares
        }
    }
}

/// What came into one class on one day.
private struct ObjectAge: FetchableRecord {
    let prefix: String
    let storageClass: StorageClass
    /// Days since 1970, UTC.
    let day: Int
    let objects: Int
    let bytes: Int64

    init(row: Row) {
        prefix = row[0]
        storageClass = StorageClass(rawValue: row[1])
        day = row[2]
        objects = row[3]
        bytes = row[4]
    }
}

extension TierShare {
    fileprivate mutating func add(_ age: ObjectAge, isYoung: Bool) {
        objects += age.objects
        bytes += age.bytes
        guard isYoung else { return }
        youngObjects += age.objects
        youngBytes += age.bytes
    }
}
