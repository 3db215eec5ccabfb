package import FoundationEssentials

/// What a vacation is called and when it was.
package struct VacationDetails: Hashable, Sendable {
    package var location: String
    package var startDate: CalendarDay
    /// Never before ``startDate``.
    package var endDate: CalendarDay
    package var sharedBy: String?

    package init(location: String, startDate: CalendarDay, endDate: CalendarDay, sharedBy: String? = nil) {
        self.location = location
        self.startDate = startDate
        self.endDate = endDate
        self.sharedBy = sharedBy
    }

    /// Each field comes from the first that has it: the description, the name of the folder, the photos. Where a start and
    /// an end from two of them contradict each other, the stronger one is both.
    /// - Parameter photoDays: when the photos were taken, see ``photoDays(taken:modified:)``.
    /// - Returns: `nil` when nobody knows a date.
    package init?(
        name: VacationName, description: VacationDescription, photoDays: ClosedRange<CalendarDay>?
    ) {
        let starts = [description.startDate, name.startDate, photoDays?.lowerBound]
        let ends = [description.endDate, name.endDate, photoDays?.upperBound]
        guard let start = Self.first(of: starts), let end = Self.first(of: ends) else { return nil }
        var days = (start: start.day, end: end.day)
        if days.end < days.start {
            if start.rank < end.rank {
                days.end = days.start
            } else if start.rank > end.rank {
                days.start = days.end
            } else {
                days = (days.end, days.start)
            }
        }
        let named = name.location.isEmpty ? "vacation" : name.location
        self.init(
            location: description.locationName ?? named, startDate: days.start, endDate: days.end,
            sharedBy: description.sharedBy)
    }

    package var days: ClosedRange<CalendarDay> { startDate...endDate }

    package func cacheKey(photoCount: Int) -> String {
        VacationCacheKey.text(location: location, days: days, photoCount: photoCount)
    }

    /// The first and the last day of capture, each on the clock of its place; where no photo knows its own, of modification.
    /// - Parameters:
    ///   - modified: when files were last written.
    ///   - zone: the machine's, for those.
    package static func photoDays(
        taken: [CaptureTime], modified: [Date], zone: MachineZone
    ) -> ClosedRange<CalendarDay>? {
        let days = taken.isEmpty ? modified.map { zone.day(of: $0) } : taken.map(\.day)
        guard let first = days.min(), let last = days.max() else { return nil }
        return first...last
    }

    private static func first(of days: [CalendarDay?]) -> (day: CalendarDay, rank: Int)? {
        for (rank, day) in days.enumerated() {
            if let day { return (day, rank) }
        }
        return nil
    }
}
