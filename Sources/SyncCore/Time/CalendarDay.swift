package import FoundationEssentials

/// A day of the calendar, without a time or a zone: `2024-06-15` (ISO 8601, proleptic Gregorian).
package struct CalendarDay: Hashable, Sendable, Comparable, LosslessStringConvertible {
    /// 1 to 9999.
    package let year: Int
    package let month: Int
    package let day: Int

    /// `nil` unless the text is exactly `YYYY-MM-DD` and names a day that exists.
    package init?(_ description: String) {
        self.init(utf8: description.utf8)
    }

    /// Byte by byte, without a copy: an overview of 10,000 vacations reads 20,000 days.
    package init?(utf8 text: some Collection<UInt8>) {
        guard text.count == 10 else { return nil }
        var fields = (year: 0, month: 0, day: 0)
        for (place, byte) in text.enumerated() {
            if place == 4 || place == 7 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard byte.isDigit else { return nil }
            let digit = Int(byte - UInt8(ascii: "0"))
            switch place {
            case ..<4: fields.year = fields.year * 10 + digit
            case ..<7: fields.month = fields.month * 10 + digit
            default: fields.day = fields.day * 10 + digit
            }
        }
        self.init(year: fields.year, month: fields.month, day: fields.day)
    }

    /// `nil` unless there is such a day, in the years 1 to 9999.
    package init?(year: Int, month: Int, day: Int) {
        guard (1...9_999).contains(year), (1...12).contains(month), (1...Self.days(of: month, in: year)).contains(day)
        else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// The day of a moment in UTC.
    package init(_ date: Date) {
        // Days since 0000-03-01: the leap day is then the last of its year (Howard Hinnant, "chrono-Compatible
        // Low-Level Date Algorithms").
        let shifted = Int((date.timeIntervalSince1970 / 86_400).rounded(.down)) + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// As ``init(_:)`` counts them, the other way round.
    package var daysSince1970: Int {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = shiftedYear / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    package var description: String {
        String(unsafeUninitializedCapacity: 10) { text in
            Self.write(year, to: text, at: 0..<4)
            text[4] = UInt8(ascii: "-")
            Self.write(month, to: text, at: 5..<7)
            text[7] = UInt8(ascii: "-")
            Self.write(day, to: text, at: 8..<10)
            return 10
        }
    }

    package static func < (left: CalendarDay, right: CalendarDay) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }

    private static func days(of month: Int, in year: Int) -> Int {
        switch month {
        case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func write(_ number: Int, to text: UnsafeMutableBufferPointer<UInt8>, at places: Range<Int>) {
        var rest = number
        for place in places.reversed() {
            text[place] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
    }
}

extension CalendarDay: CodedAsText {
    package static let form = "a day as YYYY-MM-DD"
}

/// A value that JSON has as its text.
package protocol CodedAsText: Codable, LosslessStringConvertible {
    /// What the text has to be, for errors: "a day as YYYY-MM-DD".
    static var form: String { get }
}

extension CodedAsText {
    package init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let value = Self(text) else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "not \(Self.form)"))
        }
        self = value
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
