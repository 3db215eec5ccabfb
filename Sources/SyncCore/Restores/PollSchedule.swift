package import FoundationEssentials

/// When to ask the store next how far a restore is: seldom while the tier's hours last, oftener near their end.
///
/// Regular looks begin at half of the shortest usual time. Then come eight, four and one poll interval, as half and nine
/// tenths of the longest usual time pass; after that one interval for good. With 15 minutes, a bulk restore from
/// DEEP_ARCHIVE that takes all of its 48 hours is asked for 43 times.
///
/// Before them come early looks, the first after two seconds, the next whenever the time since the request has doubled:
/// servers that are not Amazon's are done in seconds or minutes. One object is enough for an early look.
package struct PollSchedule: Hashable, Sendable {
    /// From the request until the object is readable, in seconds.
    private let shortest: Double
    private let longest: Double
    /// In seconds, as the configuration wants it.
    private let interval: Double
    /// Whether asking costs nothing, so that ``interval`` is no lower bound.
    private let isLocal: Bool

    /// The hours of a tier (S3 User Guide, "Understanding archive retrieval options").
    /// - Parameter interval: never less lies between two polls.
    package init(_ tier: RestoreTier, of storageClass: StorageClass, interval: Duration) {
        let hours = storageClass.usualRestoreHours(tier)
        shortest = hours.lowerBound * 3_600
        longest = hours.upperBound * 3_600
        self.interval = interval / .seconds(1)
        isLocal = false
    }

    /// A store on this machine, which says itself how long it takes.
    /// - Parameter interval: never more lies between two polls.
    package init(expected: Duration, interval: Duration) {
        shortest = expected / .seconds(1)
        longest = shortest
        self.interval = interval / .seconds(1)
        isLocal = true
    }

    /// - Parameter lastPolled: `nil` before the first poll of this restore.
    /// - Returns: a moment that may have passed already, after a sleep of the machine.
    package func nextPoll(requestedAt: Date, lastPolled: Date?, now: Date) -> Date {
        // A clock that was set back would stretch the wait by as much: what lies in the future tells nothing.
        guard requestedAt <= now else {
            guard let lastPolled, lastPolled <= now else { return now }
            return lastPolled.addingTimeInterval(interval)
        }
        guard let lastPolled, lastPolled >= requestedAt else {
            return requestedAt.addingTimeInterval(isLocal ? firstLook : min(Self.firstEarlyLook, firstLook))
        }
        guard lastPolled <= now else { return now }
        let elapsed = lastPolled.timeIntervalSince(requestedAt)
        if elapsed < firstLook, !isLocal {
            let doubled = min(max(elapsed, Self.firstEarlyLook) * 2, elapsed + interval * 8)
            return requestedAt.addingTimeInterval(min(doubled, firstLook))
        }
        return max(lastPolled.addingTimeInterval(step(after: elapsed)), requestedAt.addingTimeInterval(firstLook))
    }

    /// Whether a look at this moment is an early one: then one object tells enough.
    package func isEarly(_ now: Date, requestedAt: Date) -> Bool {
        !isLocal && now.timeIntervalSince(requestedAt) < firstLook
    }

    /// Whether it takes so much longer than usual that the store has to be asked whether it still knows of it.
    package func isOverdue(_ now: Date, requestedAt: Date) -> Bool {
        now.timeIntervalSince(requestedAt) > 2 * longest + 60
    }

    /// Seconds.
    private static let firstEarlyLook = 2.0

    /// A tier that is over within one interval is looked at when it should be.
    private var firstLook: Double { isLocal ? longest : max(shortest / 2, min(interval, longest)) }

    private func step(after elapsed: Double) -> Double {
        if isLocal { return min(interval, max(1, elapsed / 4)) }
        switch elapsed {
        case ..<(longest / 2): return interval * 8
        case ..<(longest * 0.9): return interval * 4
        default: return interval
        }
    }
}

extension StorageClass {
    /// From the fastest to the slowest that the page promises. It gives no lower bound for DEEP_ARCHIVE: half of the
    /// upper one is taken. INTELLIGENT_TIERING spans its two archive tiers, and so do classes that are not known.
    fileprivate func usualRestoreHours(_ tier: RestoreTier) -> ClosedRange<Double> {
        switch (self, tier) {
        case (.deepArchive, .bulk): 24...48
        case (.deepArchive, _): 6...12
        case (.glacier, .bulk): 5...12
        case (.glacier, .standard): 3...5
        case (_, .expedited): (1.0 / 60)...(5.0 / 60)
        case (_, .standard): 3...12
        case (_, .bulk): 5...48
        }
    }
}
