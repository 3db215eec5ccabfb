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
