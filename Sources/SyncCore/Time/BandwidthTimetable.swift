package import FoundationEssentials

/// How much of the line may be taken, by the time of the week, in the words of `rclone --bwlimit`: one rate for always, or
/// entries such as `08:00,512k` and `Mon-09:00,1M:off`, each until the next one. What holds at the end of the week holds on
/// at its beginning.
///
/// Source: rclone documentation, "--bwlimit BANDWIDTH_SPEC". Other than there, a rate without `:` is about uploads alone.
package struct BandwidthTimetable: Hashable, Sendable, CustomStringConvertible {
    /// The reason, in words that say what to write.
    package struct Invalid: Error, Hashable, Sendable {
        package let reason: String
    }

    /// Bytes a second, for all transfers of a kind together; `nil` for no limit.
    package struct Rates: Hashable, Sendable {
        package var upload: Int?
        package var download: Int?

        package init(upload: Int? = nil, download: Int? = nil) {
            self.upload = upload
            self.download = download
        }
    }

    private struct Slot: Hashable, Sendable {
        /// Of the week, from Monday's midnight on.
        var minute: Int
        var rates: Rates
    }

    private static let days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
    private static let minutesOfDay = 1_440
    private static let units: [(names: Set<String>, size: Int)] = [
        (["b"], 1), (["k", "ki", "kib"], 1 << 10), (["m", "mi", "mib"], 1 << 20), (["g", "gi", "gib"], 1 << 30),
    ]
    private static let mostBytes = 1 << 40

    /// As it was written.
    package let description: String
    /// In the order of the week; never empty.
    private let slots: [Slot]

    /// One rate for always.
    package init(upload bytesPerSecond: Int) {
        description = "\(bytesPerSecond)"
        slots = [Slot(minute: 0, rates: Rates(upload: bytesPerSecond))]
    }

    /// - Parameter minimum: bytes a second that a rate has at least.
    package init(_ text: String, atLeast minimum: Int) throws(Invalid) {
        description = text
        let words = text.split(separator: " ")
        if words.count == 1, !text.contains(",") {
            slots = [Slot(minute: 0, rates: try Self.rates(words[0], atLeast: minimum))]
            return
        }
        var slots: [Slot] = []
        for word in words {
            let halves = word.split(separator: ",", omittingEmptySubsequences: false)
            guard halves.count == 2 else { throw Invalid(reason: "an entry is a time and a rate, such as 08:00,512k") }
            let rates = try Self.rates(halves[1], atLeast: minimum)
            slots += try Self.minutes(halves[0]).map { Slot(minute: $0, rates: rates) }
        }
        slots.sort { $0.minute < $1.minute }
        if zip(slots, slots.dropFirst()).contains(where: { $0.minute == $1.minute }) {
            throw Invalid(reason: "two entries are about the same time")
        }
        guard !slots.isEmpty else { throw Invalid(reason: "there is no rate in it") }
        self.slots = slots
    }

    /// What holds at a moment, by the clocks of a time zone.
    package func rates(at date: Date, in zone: TimeZone) -> Rates {
        guard slots.count > 1 else { return slots[0].rates }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let parts = calendar.dateComponents([.weekday, .hour, .minute], from: date)
        // Sunday is 1 there.
        let day = ((parts.weekday ?? 2) + 5) % 7
        let minute = day * Self.minutesOfDay + (parts.hour ?? 0) * 60 + (parts.minute ?? 0)
        return (slots.last { $0.minute <= minute } ?? slots[slots.count - 1]).rates
    }

    /// The lowest limit of uploads; `nil` where there is never one.
    package var lowestUpload: Int? { slots.compactMap(\.rates.upload).min() }

    // MARK: Reading

    /// `HH:MM` of each day, or `Mon-HH:MM`.
    private static func minutes(_ text: Substring) throws(Invalid) -> [Int] {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        let digits = parts[parts.count - 1].split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count < 3, digits.count == 2, let hour = number(digits[0]), let minute = number(digits[1]),
            hour < 24,
            minute < 60
        else { throw Invalid(reason: "a time is 08:00, or Mon-08:00") }
        let time = hour * 60 + minute
        guard parts.count == 2 else { return (0..<7).map { $0 * minutesOfDay + time } }
        let name = parts[0].lowercased()
        guard let day = days.firstIndex(where: { $0 == name || $0.prefix(3) == name }) else {
            throw Invalid(reason: "a day of the week is Mon, Tue, Wed, Thu, Fri, Sat or Sun")
        }
        return [day * minutesOfDay + time]
    }

    private static func number(_ text: Substring) -> Int? {
        text.count == 2 && text.allSatisfy { $0.isASCII && $0.isNumber } ? Int(text) : nil
    }

    private static func rates(_ text: Substring, atLeast minimum: Int) throws(Invalid) -> Rates {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        switch parts.count {
        case 1: return Rates(upload: try rate(parts[0], atLeast: minimum))
        case 2:
            return Rates(upload: try rate(parts[0], atLeast: minimum), download: try rate(parts[1], atLeast: minimum))
        default: throw Invalid(reason: "a rate is 512k, or 512k:2M for uploads and downloads")
        }
    }

    private static func rate(_ text: Substring, atLeast minimum: Int) throws(Invalid) -> Int? {
        if text.lowercased() == "off" { return nil }
        let digits = text.prefix { $0.isASCII && $0.isNumber || $0 == "." }
        let unit = text.dropFirst(digits.count).lowercased()
        if !digits.isEmpty, unit.isEmpty {
            // rclone takes such a number for KiB, and this configuration has always taken one for bytes.
            throw Invalid(reason: "a rate has a unit: B, k, M or G, such as 512k; off is for no limit")
        }
        guard let number = Double(digits), let size = units.first(where: { $0.names.contains(unit) })?.size else {
            throw Invalid(reason: "a rate is a number with B, k, M or G, or off")
        }
        let bytes = number * Double(size)
        guard bytes <= Double(mostBytes), bytes >= Double(minimum) else {
            throw Invalid(reason: "a rate is at least \(minimum >> 10)k, or off")
        }
        return Int(bytes)
    }
}
