package import FoundationEssentials

/// That a machine does, on a day, what one machine does for all of the user's: `users/{user}/jobs/{day}.json`, put where
/// nothing is.
package struct JobClaim: Hashable, Sendable, Codable {
    package private(set) var version = 1
    /// Its id.
    package var machine: String
    package var startedAt: Date

    package init(machine: String, startedAt: Date) {
        self.machine = machine
        self.startedAt = startedAt
    }

    package func encoded() throws -> [UInt8] { try NoteJSON.text(self) }
}

extension KeyLayout {
    /// The beginning of the keys of claims.
    package var jobs: String { "users/\(user)/jobs/" }

    package func jobClaim(_ day: CalendarDay) throws(InvalidName) -> ObjectKey {
        try ObjectKey(segments: ["users", user, "jobs", "\(day).json"])
    }

    /// Of which day a claim is; `nil` for other keys.
    package func day(ofJobClaim key: ObjectKey) -> CalendarDay? {
        guard key.rawValue.hasPrefix(jobs), key.rawValue.hasSuffix(".json") else { return nil }
        return CalendarDay(String(key.rawValue.dropFirst(jobs.count).dropLast(".json".count)))
    }
}
