package import FoundationEssentials

/// What is known of the clocks of photos that belong together, such as those of a vacation.
///
/// A camera without offsets lies beside a phone with them: both show the clock of the place, so that a photo without an
/// offset has that of the photo whose clock showed the nearest time.
package struct CaptureOffsets: Sendable {
    /// By their clocks.
    private let known: [(clock: Int64, offset: Int)]

    package init(_ times: some Sequence<CaptureTime>) {
        known = times.compactMap { time in time.offset.map { (time.clock, $0) } }
            .sorted { ($0.clock, $0.offset) < ($1.clock, $1.offset) }
    }

    /// Minutes ahead of UTC: the photo's own, else its neighbour's; `nil` where no photo has one.
    package func offset(of time: CaptureTime) -> Int? {
        if let offset = time.offset { return offset }
        var (low, high) = (0, known.count)
        while low < high {
            let middle = (low + high) / 2
            if known[middle].clock < time.clock { low = middle + 1 } else { high = middle }
        }
        let (before, after) = (low > 0 ? known[low - 1] : nil, low < known.count ? known[low] : nil)
        guard let before, let after else { return (before ?? after)?.offset }
        return time.clock - before.clock <= after.clock - time.clock ? before.offset : after.offset
    }

    /// - Parameter zone: the machine's; it counts where no photo has an offset.
    package func instant(of time: CaptureTime, zone: MachineZone) -> Date {
        if let offset = offset(of: time) { return time.instant(offset: offset) }
        return zone.instant(of: time)
    }

    /// What photos are ordered by, in milliseconds. Where no photo has an offset that is their clock: in one zone it is
    /// the same order, and no machine's own zone gets into it.
    package func position(of time: CaptureTime) -> Int64 {
        time.clock - Int64(offset(of: time) ?? 0) * 60_000
    }
}

/// The time zone of the machine, as a parameter: tests have their own.
package struct MachineZone: Sendable {
    /// Minutes ahead of UTC when a clock there shows a time, in seconds since 1970-01-01T00:00 on that clock.
    private let offsetAtClock: @Sendable (Int64) -> Int
    /// Minutes ahead of UTC at a moment.
    private let offsetAtInstant: @Sendable (Date) -> Int

    package init(
        atClock: @escaping @Sendable (Int64) -> Int, atInstant: @escaping @Sendable (Date) -> Int
    ) {
        offsetAtClock = atClock
        offsetAtInstant = atInstant
    }

    /// - Parameter offset: minutes ahead of UTC, at all times.
    package static func fixed(_ offset: Int) -> MachineZone {
        MachineZone(atClock: { _ in offset }, atInstant: { _ in offset })
    }

    /// When a clock of this machine showed the time. The offset of the time itself does not count.
    package func instant(of time: CaptureTime) -> Date {
        time.instant(offset: offsetAtClock(Int64((Double(time.clock) / 1_000).rounded(.down))))
    }

    /// The day on this machine's clock.
    package func day(of instant: Date) -> CalendarDay {
        CaptureTime(instant, offset: offsetAtInstant(instant)).day
    }
}
