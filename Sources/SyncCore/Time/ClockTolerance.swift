package import FoundationEssentials

/// By how many seconds two clocks may differ, or one may be set back, before anybody makes something of it.
package enum ClockTolerance {
    /// Before people are told of it.
    package static let toTell: TimeInterval = 300
    /// Before anything is done, or left undone, because of it. Clocks without a battery go on after a start where they
    /// ended, and no zone and no leap makes one go back for longer.
    package static let toAct: TimeInterval = 86_400
}

extension Date {
    /// Whether something that has happened is noted as of a time that is still to come: the clock was wrong then, or is
    /// now. That it looks fresh says nothing.
    package func isAhead(of now: Date, by tolerance: TimeInterval = ClockTolerance.toTell) -> Bool {
        timeIntervalSince(now) > tolerance
    }
}
