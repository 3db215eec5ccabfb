package import FoundationEssentials

/// A moment as SigV4 writes it.
package struct SigningTime: Hashable, Sendable {
    /// `20130524T000000Z`, for `x-amz-date`.
    package let timestamp: String

    package init(_ date: Date) {
        timestamp = date.formatted(
            Date.ISO8601FormatStyle(
                dateSeparator: .omitted, dateTimeSeparator: .standard, timeSeparator: .omitted, timeZone: .gmt))
    }

    /// `20130524`, for the credential scope.
    package var day: Substring { timestamp.prefix(8) }
}
