package import FoundationEssentials
import SyncCore

/// Dates as S3 writes them.
package enum S3Date {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// RFC 9110, 5.6.7, in its fixed form: `Fri, 21 Dec 2012 00:00:00 GMT`.
    package static func http(_ text: String) -> Date? {
        let words = text.split(separator: " ")
        guard words.count == 6, words[5] == "GMT", let month = months.firstIndex(of: String(words[2])) else {
            return nil
        }
        let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        return iso8601("\(words[3])-\(number)-\(words[1])T\(words[4])Z")
    }

    /// `2012-12-21T00:00:00.000Z`, with or without the fraction. A listing has a thousand of them: Foundation's parser would
    /// cost more than all the rest of the page.
    package static func iso8601(_ text: String) -> Date? {
        CaptureTime(text)?.instant
    }
}
