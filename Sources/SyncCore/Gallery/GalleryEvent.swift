package import FoundationEssentials
package import SystemPackage

/// What is known of one gallery event without its text: who, what, when, and where its photo is.
package struct GalleryEvent: Hashable, Sendable {
    package enum Photo: Hashable, Sendable {
        case none
        /// Base64 in the file itself: the bytes between the quotes, what comes before the data of a data URL left out.
        /// ``Base64Text`` reads them.
        case inline(Range<Int>)
        /// A file in the same folder.
        case beside(FilePath.Component)
    }

    /// Which element of the file it is, from 0.
    package var index: Int
    /// Can be a segment of an object key.
    package var id: String
    /// Whether the id stands outside of the element: it is its key, or the name of its file.
    package var hasOuterID = false
    /// `nil` where the event does not tell.
    package var userID: String?
    /// As it is written: an id, or a telephone number in any spelling. Where the event does not tell, that of its folder.
    package var profileID: String
    package var type: GalleryEventType
    package var createdAt: Date
    package var photo: Photo
    /// Whether it holds nothing beyond id, user, profile, type and time: its text was deleted already, or it had none.
    package var isBare: Bool
}

extension FilePath.Component {
    /// Whether it is the name of a file that is looked through for events.
    package var isOfEvents: Bool {
        guard let ending = self.extension else { return false }
        return ["json", "jsonl", "ndjson"].contains(ending.lowercased())
    }
}

/// What an event is about. Types that this version does not know are kept under their names.
package struct GalleryEventType: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: String

    /// `nil` unless the name has 1 to 64 ASCII letters, digits, `_`, `-` or `.`: a type is written down where text must
    /// not be.
    package init?(rawValue: String) {
        guard (1...64).contains(rawValue.utf8.count),
            rawValue.utf8.allSatisfy({ $0.isAlphanumeric || "_-.".utf8.contains($0) })
        else { return nil }
        self.rawValue = rawValue
    }

    private init(_ name: StaticString) {
        rawValue = "\(name)"
    }

    package static let taskResponse = GalleryEventType("taskResponse")
    package static let profileCreated = GalleryEventType("profileCreated")

    package var isKnown: Bool { self == .taskResponse || self == .profileCreated }
    package var description: String { rawValue }
}

/// An element of an event file that is no event, and why. The reason quotes nothing of the file: it may be text.
package struct MalformedEvent: Hashable, Sendable, CustomStringConvertible {
    /// Which element of the file it is, from 0.
    package let index: Int
    package let reason: String
    /// Whether it holds an image, or something that should be one: it is stored nowhere.
    package var holdsPhoto = false

    /// People count from 1.
    package var description: String { "#\(index + 1) \(reason)" }
}

/// When an event was created, as apps write it: ISO 8601, or seconds or milliseconds since 1970.
///
/// Only moments from 2000 to 2099 are taken. A number so tells by itself what it counts: what is such a moment in seconds
/// cannot be one in milliseconds. And a clock that was never set does not make an event 50 years old, and its text due for
/// deletion.
package struct EventTime: Hashable, Sendable {
    package let date: Date

    /// A number as JSON writes it.
    package init?(number: String) {
        guard let date = Double(number).flatMap(Self.date(counting:)) else { return nil }
        self.date = date
    }

    /// Seconds since 1970, and what is added to them.
    package init?(seconds: String, nanoseconds: String) {
        guard let seconds = Double(seconds), let nanoseconds = Double(nanoseconds), (0..<1e9).contains(nanoseconds),
            let date = Self.date(seconds: seconds + nanoseconds / 1e9)
        else { return nil }
        self.date = date
    }

    package init?(text: String) {
        var reader = ISO8601Reader(text)
        let isNumber = text.utf8.allSatisfy { $0.isDigit || $0 == UInt8(ascii: ".") }
        let date = isNumber ? Double(text).flatMap(Self.date(counting:)) : reader.moment().flatMap(Self.date(seconds:))
        guard let date else { return nil }
        self.date = date
    }

    private static func date(counting value: Double) -> Date? {
        date(seconds: value) ?? date(seconds: value / 1_000)
    }

    private static func date(seconds: Double) -> Date? {
        let (first, end) = (946_684_800.0, 4_102_444_800.0)
        return (first..<end).contains(seconds) ? Date(timeIntervalSince1970: seconds) : nil
    }
}

/// Reads `2025-10-20T08:15:30.5+02:00`: the extended format of ISO 8601 with a date; seconds, fraction and offset may be
/// missing, and a time without an offset is UTC.
private struct ISO8601Reader {
    private var rest: CaptureTimeText
    private let day: CalendarDay?

    init(_ text: String) {
        day = CalendarDay(String(text.prefix(10)))
        rest = CaptureTimeText(text.dropFirst(10))
    }

    /// Seconds since 1970; `nil` when it is no such time.
    mutating func moment() -> Double? {
        guard let day else { return nil }
        let midnight = Double(day.daysSince1970) * 86_400
        if rest.isAtEnd { return midnight }
        guard rest.skip("Tt "), let hour = number(below: 24), rest.skip(":"), let minute = number(below: 60)
        else { return nil }
        var seconds = 0.0
        if rest.skip(":") {
            guard let whole = number(below: 60) else { return nil }
            seconds = Double(whole)
            if rest.skip(".,") {
                guard let fraction = fraction() else { return nil }
                seconds += fraction
            }
        }
        guard let offset = offset(), rest.isAtEnd else { return nil }
        return midnight + Double(hour * 3_600 + minute * 60) + seconds - Double(offset)
    }

    /// Seconds east of UTC.
    private mutating func offset() -> Int? {
        if rest.isAtEnd || rest.skip("Zz") { return 0 }
        let sign = rest.skip("+") ? 1 : rest.skip("-") ? -1 : 0
        guard sign != 0, let hours = number(below: 24) else { return nil }
        if rest.isAtEnd { return sign * hours * 3_600 }
        _ = rest.skip(":")
        guard let minutes = number(below: 60) else { return nil }
        return sign * (hours * 3_600 + minutes * 60)
    }

    /// Two digits.
    private mutating func number(below limit: Int) -> Int? {
        rest.number(2...2).flatMap { $0 < limit ? $0 : nil }
    }

    private mutating func fraction() -> Double? {
        let digits = rest.digits()
        guard (1...18).contains(digits.count) else { return nil }
        return Double("0." + String(decoding: digits, as: UTF8.self))
    }
}
