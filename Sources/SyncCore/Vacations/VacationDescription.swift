package import FoundationEssentials

/// What `vacation.json` in a vacation's folder says. Every field may be missing; one that makes no sense is told and is as
/// one that is missing.
package struct VacationDescription: Hashable, Sendable {
    package static let fileName = "vacation.json"
    /// Bytes. A larger file is not read.
    package static let maximumSize = 65_536

    package var locationName: String?
    package var startDate: CalendarDay?
    package var endDate: CalendarDay?
    package var sharedBy: String?
    /// What of the file is ignored, and why, for people.
    package var problems: [String] = []

    package init(
        locationName: String? = nil, startDate: CalendarDay? = nil, endDate: CalendarDay? = nil,
        sharedBy: String? = nil, problems: [String] = []
    ) {
        self.locationName = locationName
        self.startDate = startDate
        self.endDate = endDate
        self.sharedBy = sharedBy
        self.problems = problems
    }

    /// Reads the file's text. Dates are `YYYY-MM-DD`, alone or at the head of an ISO 8601 time, or a moment as a number: in
    /// seconds or in milliseconds since 1970, told apart by its size.
    package init(parsing bytes: [UInt8]) {
        let text = bytes.dropFirst(bytes.utf8MarkLength)
        let fields: Fields
        do {
            fields = try JSONDecoder().decode(Fields.self, from: Data(text))
        } catch {
            self.init(problems: ["it is not a JSON object"])
            return
        }
        self.init(
            locationName: fields.locationName?.value?.asLine, startDate: fields.startDate?.value?.day,
            endDate: fields.endDate?.value?.day, sharedBy: fields.sharedBy?.value?.asLine, problems: fields.problems)
    }

    private struct Fields: Decodable {
        var locationName: Field<String>?
        var startDate: Field<WrittenDay>?
        var endDate: Field<WrittenDay>?
        var sharedBy: Field<String>?

        var problems: [String] {
            var problems: [String] = []
            if locationName?.value == nil, locationName != nil { problems.append("locationName is no text") }
            if startDate?.value == nil, startDate != nil { problems.append("startDate is no date (YYYY-MM-DD)") }
            if endDate?.value == nil, endDate != nil { problems.append("endDate is no date (YYYY-MM-DD)") }
            if sharedBy?.value == nil, sharedBy != nil { problems.append("sharedBy is no text") }
            return problems
        }
    }
}

/// A field that may be of the wrong type without any harm to the others.
private struct Field<Value: Decodable>: Decodable {
    /// `nil` when it makes no sense.
    let value: Value?

    init(from decoder: any Decoder) throws {
        value = try? decoder.singleValueContainer().decode(Value.self)
    }
}

private struct WrittenDay: Decodable {
    let day: CalendarDay

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            let text = text.asLine ?? ""
            let rest = text.dropFirst(10).first
            if let day = CalendarDay(String(text.prefix(10))), rest == nil || rest == "T" || rest == " " {
                self.day = day
                return
            }
        } else if let number = try? container.decode(Double.self), abs(number) < Self.lastMoment * 1_000 {
            // As JavaScript's Date gives it; seconds of this size lie after the year 5100.
            let seconds = abs(number) >= 100_000_000_000 ? number / 1_000 : number
            let day = CalendarDay(Date(timeIntervalSince1970: seconds))
            if (1...9_999).contains(day.year) {
                self.day = day
                return
            }
        }
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "no date")
    }

    /// 9999-12-31, in seconds since 1970.
    private static let lastMoment = 253_402_300_799.0
}

extension String {
    private static let maximumLength = 200

    /// As a name of one line, of bounded length; `nil` when nothing is left.
    fileprivate var asLine: String? {
        let words = unicodeScalars.split { $0.properties.isWhitespace || $0.properties.generalCategory == .control }
        let line = words.map { String($0) }.joined(separator: " ").prefix(Self.maximumLength)
        return line.isEmpty ? nil : String(line)
    }
}

/// What the name of a vacation's folder tells: `{location}_{YYYY-MM-DD}_{YYYY-MM-DD}`, or with one date for a day trip, or
/// any name at all, which then is the location.
package struct VacationName: Hashable, Sendable {
    /// Underscores are spaces. Empty when the name has nothing but dates.
    package let location: String
    package let startDate: CalendarDay?
    /// Never before ``startDate``; `nil` exactly when that is.
    package let endDate: CalendarDay?

    package init(_ folderName: String) {
        var rest = Substring(folderName)
        let last = Self.cutDate(off: &rest)
        let first = last == nil ? nil : Self.cutDate(off: &rest)
        location = String(rest).asLocation
        startDate = [first, last].compactMap(\.self).min()
        endDate = last.map { max($0, first ?? $0) }
    }

    /// Cuts a date off the end, and what separates it from the text before it.
    private static func cutDate(off text: inout Substring) -> CalendarDay? {
        let bytes = text.utf8
        guard let day = CalendarDay(utf8: bytes.suffix(10)) else { return nil }
        var rest = bytes.dropLast(10)
        if let separator = rest.last, !isSeparator(separator) { return nil }
        while let separator = rest.last, isSeparator(separator) { rest.removeLast() }
        text = Substring(rest)
        return day
    }

    private static func isSeparator(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "_") || byte == UInt8(ascii: " ") }
}

extension String {
    /// As the name of a place is shown: on one line, with underscores as spaces, and no two spaces side by side.
    fileprivate var asLocation: String {
        let words = unicodeScalars.split { scalar in
            if scalar.isASCII { return scalar == "_" || scalar.value <= 0x20 || scalar.value == 0x7F }
            return scalar.properties.isWhitespace || scalar.properties.generalCategory == .control
        }
        return words.map { String($0) }.joined(separator: " ")
    }
}

/// What a vacation is called and when it was.
package struct VacationDetails: Hashable, Sendable {
    package var location: String
    package var startDate: CalendarDay
    /// Never before ``startDate``.
    package var endDate: CalendarDay
    package var sharedBy: String?

    package init(location: String, startDate: CalendarDay, endDate: CalendarDay, sharedBy: String? = nil) {
        self.location = location
        self.startDate = startDate
        self.endDate = endDate
        self.sharedBy = sharedBy
    }

    /// Each field comes from the first that has it: the description, the name of the folder, the photos. Where a start and
    /// an end from two of them contradict each other, the stronger one is both.
    /// - Parameter photoDays: when the photos were taken, see ``photoDays(taken:modified:)``.
    /// - Returns: `nil` when nobody knows a date.
    package init?(name: VacationName, description: VacationDescription, photoDays: ClosedRange<CalendarDay>?) {
        let starts = [description.startDate, name.startDate, photoDays?.lowerBound]
        let ends = [description.endDate, name.endDate, photoDays?.upperBound]
        guard let start = Self.first(of: starts), let end = Self.first(of: ends) else { return nil }
        var days = (start: start.day, end: end.day)
        if days.end < days.start {
            if start.rank < end.rank {
                days.end = days.start
            } else if start.rank > end.rank {
                days.start = days.end
            } else {
                days = (days.end, days.start)
            }
        }
        let named = name.location.isEmpty ? "vacation" : name.location
        self.init(
            location: description.locationName ?? named, startDate: days.start, endDate: days.end,
            sharedBy: description.sharedBy)
    }

    package var days: ClosedRange<CalendarDay> { startDate...endDate }

    package func cacheKey(photoCount: Int) -> String {
        VacationCacheKey.text(location: location, days: days, photoCount: photoCount)
    }

    /// The first and the last day of capture, each on the clock of its place; where no photo knows its own, of modification.
    /// - Parameters:
    ///   - modified: when files were last written.
    ///   - zone: the machine's, for those.
    package static func photoDays(
        taken: [CaptureTime], modified: [Date], zone: MachineZone
    ) -> ClosedRange<CalendarDay>? {
        let days = taken.isEmpty ? modified.map { zone.day(of: $0) } : taken.map(\.day)
        guard let first = days.min(), let last = days.max() else { return nil }
        return first...last
    }

    private static func first(of days: [CalendarDay?]) -> (day: CalendarDay, rank: Int)? {
        for (rank, day) in days.enumerated() {
            if let day { return (day, rank) }
        }
        return nil
    }
}
