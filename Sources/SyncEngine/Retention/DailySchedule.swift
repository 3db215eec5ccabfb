package import FoundationEssentials

/// A time of the day at which something is done once, by the clock on the wall of a time zone.
///
/// Where a change of the clock skips the time, its moment is the first one after the gap; where the time comes twice, the
/// first of the two. A day that a zone leaves out (Samoa, 30 December 2011) has no moment.
package struct DailySchedule: Hashable, Sendable {
    private static let day = 86_400

    private let zone: TimeZone
    /// Seconds after midnight, as the clock shows them.
    private let time: Int

    package init(hour: Int, minute: Int, in zone: TimeZone) {
        self.zone = zone
        time = hour * 3_600 + minute * 60
    }

    /// The last scheduled moment that is not after a date.
    package func last(upTo date: Date) -> Date {
        let now = date.timeIntervalSince1970
        var day = localDay(of: date) + 2
        while true {
            if let moment = moment(on: day), Double(moment) <= now { return Self.date(moment) }
            day -= 1
        }
    }

    /// The first scheduled moment after a date.
    package func next(after date: Date) -> Date {
        let now = date.timeIntervalSince1970
        var day = localDay(of: date) - 2
        while true {
            if let moment = moment(on: day), Double(moment) > now { return Self.date(moment) }
            day += 1
        }
    }

    /// - Parameter day: counted from 1 January 1970, by the calendar of the zone.
    /// - Returns: seconds since 1970; `nil` when the zone has no such day.
    private func moment(on day: Int) -> Int? {
        let midnight = day * Self.day
        let moment = first(at: midnight + time)
        // Only on a day of its own has the clock shown anything between its midnight and the next.
        if first(at: midnight) == first(at: midnight + Self.day) { return nil }
        return moment
    }

    /// The first moment at which the clock on the wall shows this, or more. Clocks are never changed twice within two days.
    /// - Parameter wall: what the clock shows, as the seconds since 1970 that it would be in UTC.
    private func first(at wall: Int) -> Int {
        let (before, after) = (offset(wall - Self.day), offset(wall + Self.day))
        let moments = [wall - before, wall - after].sorted()
        if let moment = moments.first(where: { $0 + offset($0) == wall }) { return moment }
        // The clock is put forward between the two, over what it was to show.
        var (early, late) = (moments[0], moments[1])
        while late - early > 1 {
            let middle = early + (late - early) / 2
            if middle + offset(middle) < wall { early = middle } else { late = middle }
        }
        return late
    }

    private func localDay(of date: Date) -> Int {
        let moment = Int(date.timeIntervalSince1970.rounded(.down))
        return Int((Double(moment + offset(moment)) / Double(Self.day)).rounded(.down))
    }

    /// Seconds east of UTC at a moment.
    private func offset(_ moment: Int) -> Int { zone.secondsFromGMT(for: Self.date(moment)) }

    private static func date(_ moment: Int) -> Date { Date(timeIntervalSince1970: Double(moment)) }
}
