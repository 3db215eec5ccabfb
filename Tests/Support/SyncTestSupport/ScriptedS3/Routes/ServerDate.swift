import FoundationEssentials

/// Dates as S3 writes them.
enum ServerDate {
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// `Fri, 21 Dec 2012 00:00:00 GMT` (RFC 9110, 5.6.7). For moments from 1970 on, a Thursday.
    static func http(_ date: Date) -> String {
        let days = Int(date.timeIntervalSince1970 / 86_400)
        let text = date.formatted(.iso8601)
        let parts = text.dropLast().split { $0 == "-" || $0 == "T" }
        let month = months[(Int(parts[1]) ?? 1) - 1]
        return "\(weekdays[days % 7]), \(parts[2]) \(month) \(parts[0]) \(parts[3]) GMT"
    }

    /// `2012-12-21T00:00:00.000Z`.
    static func xml(_ date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
