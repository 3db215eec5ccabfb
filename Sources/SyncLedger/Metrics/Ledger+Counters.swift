import GRDB

/// What went to the store for a photo or a file of events.
package struct SentCount: Hashable, Sendable {
    /// Whether it is stored by what was sent. What turned out to be there already is not.
    package var isStored: Bool
    /// Sent bytes, also those that turned out not to be needed.
    package var bytes: Int64

    package init(isStored: Bool = false, bytes: Int64 = 0) {
        self.isStored = isStored
        self.bytes = bytes
    }
}

/// What has happened since this ledger was made. A restart of the agent changes none of it.
package struct LedgerCounts: Hashable, Sendable {
    /// Photos and files of events that were sent.
    package var uploads: Int64 = 0
    package var uploadBytes: Int64 = 0
    /// By reason: ``Ledger/photoReason``, or a code of ``StoreError``.
    package var errors: [String: Int64] = [:]
    package var watchOverflows: Int64 = 0
    package var retentionFailures: Int64 = 0
    /// By result: `ok`, `damaged`, `missing`.
    package var verified: [String: Int64] = [:]
    /// Of this moment.
    package var restores: [RestoreItemState: Int] = [:]
}

extension Ledger {
    /// The reason of an error that lies in the photo itself.
    package static let photoReason = "photo"

    /// Its cost is that of some rows, however many photos there are.
    package func counts() throws(LedgerError) -> LedgerCounts {
        try read("read the counters") { db in
            var counts = LedgerCounts()
            for row in try db.rawRows(LedgerQuery.counters) {
                let (label, value): (String, Int64) = (row[1], row[2])
                switch Counter(rawValue: row[0]) {
                case .uploads: counts.uploads = value
                case .uploadBytes: counts.uploadBytes = value
                case .errors: counts.errors[label] = value
                case .watchOverflows: counts.watchOverflows = value
                case .retentionFailures: counts.retentionFailures = value
                case nil: break
                }
            }
            for row in try db.rawRows(LedgerQuery.verifiedObjects) {
                counts.verified[row[0]] = row[1]
            }
            counts.restores = try db.restoreCounts()
            return counts
        }
    }

    /// Counts how often the kernel's queue of changes overflowed.
    package func countOverflows(_ count: Int) throws(LedgerError) {
        try write("count overflows") { try $0.count(.watchOverflows, by: Int64(count)) }
    }
}

extension LedgerQuery {
    package static let counters = "SELECT name, label, value FROM counters"
    package static let verifiedObjects = "SELECT result, objects FROM verified_objects"
}
