import SyncCore
import SyncLedger
import SystemPackage

extension StatusReport {
    /// What is told of a vacation. The fields that are encoded are a contract (docs/commands.md).
    ///
    /// Nothing is put into words before it is asked for: people see twenty of thousands.
    struct Vacation: Encodable {
        private let record: VacationRecord
        /// By how many photos what others see differs from the folder as it was seen last; `nil` where nobody sees it, or
        /// nobody can tell.
        let shareChangedBy: Int?
        private let isShared: Bool
        private let days: ClosedRange<CalendarDay>?

        let location: String
        /// `nil` while no date is known: neither the folder's name nor a stored photo tells one.
        var cacheKey: String? { record.cacheKey }
        var startDate: String? { days?.lowerBound.description }
        var endDate: String? { days?.upperBound.description }
        var photoCount: Int { record.memberCount }
        var state: VacationState { record.state(isShared: isShared, isShownAsItIs: (shareChangedBy ?? 0) == 0) }
        /// Of `photoCount`.
        var uploaded: Int { record.isOnDisk ? record.uploaded : record.memberCount }
        var failed: Int { record.failed }
        var isOnDisk: Bool { record.isOnDisk }

        private enum CodingKeys: CodingKey {
            case cacheKey, location, startDate, endDate, photoCount, state, shareChangedBy
        }

        /// - Parameter share: of those who can see it; `nil` when nobody can.
        init(_ record: VacationRecord, share: SharedVacation?) {
            self.record = record
            isShared = share != nil
            shareChangedBy = share?.changedBy
            location = record.location
            days = record.days
        }

        /// What has no value is `null`.
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(cacheKey, forKey: .cacheKey)
            try container.encode(location, forKey: .location)
            try container.encode(startDate, forKey: .startDate)
            try container.encode(endDate, forKey: .endDate)
            try container.encode(photoCount, forKey: .photoCount)
            try container.encode(state.rawValue, forKey: .state)
            try container.encode(shareChangedBy, forKey: .shareChangedBy)
        }

        /// The latest first; where no date is known yet, before the others.
        fileprivate static func isListed(_ one: Vacation, before other: Vacation) -> Bool {
            switch (one.days?.lowerBound, other.days?.lowerBound) {
            case (let day?, let otherDay?) where day != otherDay: day > otherDay
            case (nil, .some): true
            case (.some, nil): false
            default: one.location < other.location
            }
        }
    }

    /// Those that people know as vacations, in their order.
    /// What others see of a vacation.
    struct SharedVacation: Hashable {
        /// Of all its shares, the most; `nil` when that cannot be told.
        var changedBy: Int?
    }

    /// - Parameter shared: those that others can see now, by their folders.
    static func vacations(_ records: [VacationRecord], shared: [FilePath: SharedVacation]) -> [Vacation] {
        let vacations = records.lazy.filter(\.isKnown).map { record in
            Vacation(record, share: shared.isEmpty ? nil : shared[record.folder])
        }
        let all = Array(vacations)
        // Positions are cheaper to move about than what they stand for.
        return all.indices.sorted { Vacation.isListed(all[$0], before: all[$1]) }.map { all[$0] }
    }
}
