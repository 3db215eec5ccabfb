import FoundationEssentials

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
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = bytes.starts(with: mark) ? bytes[mark.count...] : bytes[...]
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
