import FoundationEssentials

/// A time as EXIF writes it (EXIF 2.32, 4.6.5: DateTimeOriginal, OffsetTimeOriginal, SubSecTimeOriginal).
struct CaptureTime {
    let date: Date
    /// "YYYY:MM:DD HH:MM:SS", the digits of the camera's clock.
    let text: String
    /// "+HH:MM".
    let offset: String?
    /// Digits behind the second's decimal point, at most nine.
    let fraction: String?

    /// `nil` unless `time` is a date of the calendar, "YYYY:MM:DD HH:MM:SS".
    /// - Parameters:
    ///   - offset: "+HH:MM"; anything else counts as none, and the time is then taken as UTC.
    ///   - fraction: digits behind the second's decimal point; anything else counts as none.
    init?(time: String, offset: String = "", fraction: String = "") {
        let fields = time.split(omittingEmptySubsequences: false) { " :-T".contains($0) }
        let numbers = fields.prefix(6).compactMap { Self.digits($0) }
        guard numbers.count == 6, fields[0].count == 4 else { return nil }
        let (year, month, day) = (numbers[0], numbers[1], numbers[2])
        let (hour, minute, second) = (numbers[3], numbers[4], numbers[5])
        guard year > 0, (1...12).contains(month), (1...Self.days(of: month, in: year)).contains(day) else { return nil }
        guard hour < 24, minute < 60, second < 61 else { return nil }

        let days = Self.days(toYear: year) + (1..<month).reduce(0) { $0 + Self.days(of: $1, in: year) } + day - 1
        let offsetMinutes = Self.minutes(ofOffset: offset)
        let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second - (offsetMinutes ?? 0) * 60
        let fractionDigits = fraction.prefix(while: { $0 != " " }).prefix(9)
        let fractionValue = Self.digits(fractionDigits)
        date = Date(timeIntervalSince1970: Double(seconds) + Self.fraction(fractionValue ?? 0, fractionDigits.count))
        let padded = numbers.dropFirst().map(Self.twoDigits)
        text = "\(fields[0]):\(padded[0]):\(padded[1]) \(padded[2]):\(padded[3]):\(padded[4])"
        self.offset = offsetMinutes.map { minutes in
            let (hours, rest) = abs(minutes).quotientAndRemainder(dividingBy: 60)
            return "\(minutes < 0 ? "-" : "+")\(Self.twoDigits(hours)):\(Self.twoDigits(rest))"
        }
        self.fraction = fractionValue.map { _ in String(fractionDigits) }
    }

    private static func twoDigits(_ number: Int) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }

    private static func digits(_ text: some StringProtocol) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int(text)
    }

    private static func isLeap(_ year: Int) -> Bool {
        year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
    }

    private static func days(of month: Int, in year: Int) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days from 1970-01-01 to January 1st of a year.
    private static func days(toYear year: Int) -> Int {
        let before = year - 1
        return before * 365 + before / 4 - before / 100 + before / 400 - 719_162
    }

    private static func minutes(ofOffset text: String) -> Int? {
        let fields = text.dropFirst().split(separator: ":", omittingEmptySubsequences: false)
        guard let sign = text.first, "+-".contains(sign), fields.count == 2 else { return nil }
        guard let hours = digits(fields[0]), let minutes = digits(fields[1]), hours < 15, minutes < 60 else {
            return nil
        }
        return (sign == "-" ? -1 : 1) * (hours * 60 + minutes)
    }

    private static func fraction(_ value: Int, _ digits: Int) -> Double {
        (0..<digits).reduce(Double(value)) { value, _ in value / 10 }
    }
}
