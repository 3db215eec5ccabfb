extension TierRule: CustomStringConvertible {
    /// One line for people: `users/ana/photos/: to DEEP_ARCHIVE after 180 days, of 128 KiB or more`.
    package var description: String {
        var parts: [String] = []
        if let transition { parts.append("to \(transition.storageClass) after \(Self.days(transition.afterDays))") }
        if let expireAfterDays { parts.append("removed after \(Self.days(expireAfterDays))") }
        if let expireEarlierAfterDays {
            parts.append("earlier versions removed after \(Self.days(expireEarlierAfterDays))")
        }
        if let abortUploadsAfterDays {
            parts.append("unfinished uploads taken back after \(Self.days(abortUploadsAfterDays))")
        }
        if let largerThan { parts.append(Self.size(above: largerThan)) }
        return (prefix.isEmpty ? "all keys" : prefix.escapingControls) + ": " + parts.joined(separator: ", ")
    }

    private static func days(_ count: Int) -> String { count.counted("day") }

    /// A round number of KiB where one of both ways to say it gives one.
    private static func size(above limit: Int64) -> String {
        if limit < .max, (limit + 1).isMultiple(of: 1_024) { return "of \((limit + 1) / 1_024) KiB or more" }
        if limit > 0, limit.isMultiple(of: 1_024) { return "larger than \(limit / 1_024) KiB" }
        return "larger than \(limit) bytes"
    }
}
