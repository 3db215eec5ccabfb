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

    /// What others see of a vacation.
    struct SharedVacation: Hashable {
        /// Of all its shares, the most; `nil` when that cannot be told.
        var changedBy: Int?
    }

    /// Those that people know as vacations, in their order.
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

/// The vacations in the overview for people: where, when, how many photos, and how far they are.
struct VacationLines {
    private static let limit = 20
    /// Of a terminal on which there is room for a row.
    private static let columns = 76

    let lines: [String]

    init(_ vacations: [StatusReport.Vacation], terminal: Terminal, width: Int) {
        guard !vacations.isEmpty else {
            lines = []
            return
        }
        let (dateWidth, countWidth, stateWidth) = (25, 8, 24)
        let nameWidth = width - dateWidth - countWidth - stateWidth - 2
        let table = Table(.left(nameWidth - 1, gap: 1), .left(dateWidth), .right(countWidth, gap: 2), .left(stateWidth))
        let isNarrow = terminal.isNarrow(for: Self.columns)
        let head = isNarrow ? "Vacations" : table.row("Vacation", "", "photos", "state")
        var lines = ["", terminal.styled(head, .bold)]
        for vacation in vacations.prefix(Self.limit) {
            let (name, dates) = (vacation.location.escapingControls, Self.dates(vacation))
            let (count, state) = (vacation.photoCount, Self.state(vacation))
            if isNarrow {
                let parts = [dates, Quantities.counted(count, "photo"), state].filter { !$0.isEmpty }
                lines += terminal.wrapped(name) + terminal.wrapped(parts.joined(separator: ", "), indent: 2)
            } else {
                lines.append(table.row(name, dates, Quantities.count(count), state))
            }
        }
        if vacations.count > Self.limit {
            lines.append("and \(Quantities.count(vacations.count - Self.limit)) earlier ones")
        }
        self.lines = lines
    }

    private static func dates(_ vacation: StatusReport.Vacation) -> String {
        guard let start = vacation.startDate, let end = vacation.endDate else { return "" }
        return start == end ? start : "\(start) – \(end)"
    }

    private static func state(_ vacation: StatusReport.Vacation) -> String {
        let waiting = vacation.photoCount - vacation.uploaded
        switch vacation.state {
        case .uploading where waiting > 0:
            return "uploading \(Quantities.count(vacation.uploaded))/\(Quantities.count(vacation.photoCount))"
        case .changed where waiting > 0: return "changed: \(Quantities.count(waiting)) to store"
        case .changed where (vacation.shareChangedBy ?? 0) > 0:
            return "changed since shared: \(Quantities.count(vacation.shareChangedBy ?? 0))"
        case .incomplete where vacation.failed > 0: return "\(Quantities.count(vacation.failed)) failed"
        case .stored where !vacation.isOnDisk: return "stored, deleted here"
        default: return vacation.state.rawValue
        }
    }
}
