package import FoundationEssentials
package import SystemPackage

/// When a photo was taken: what the camera's clock showed at that place, with the offset from UTC where it is known.
///
/// As a text it is ISO 8601: `2024-06-15T07:30:00+09:00`, or `2024-06-15T07:30:00` where no offset is known. Two photos
/// are compared by their instants, which ``CaptureOffsets`` has; two of these values are no more than equal or not.
package struct CaptureTime: Hashable, Sendable {
    /// Milliseconds since 1970-01-01T00:00 on the clock of the place.
    package let clock: Int64
    /// Minutes by which that clock was ahead of UTC; -1,439 to 1,439.
    package let offset: Int?

    package init(clock: Int64, offset: Int?) {
        self.clock = clock
        self.offset = offset
    }

    /// A moment on a clock that is so many minutes ahead of UTC.
    package init(_ instant: Date, offset: Int) {
        let milliseconds = Int64((instant.timeIntervalSince1970 * 1_000).rounded())
        self.init(clock: milliseconds + Int64(offset) * 60_000, offset: offset)
    }

    /// The day on the clock of the place.
    package var day: CalendarDay { CalendarDay(clockAsUTC) }

    /// Hour and minute on the clock of the place: `07:30`.
    package var hourAndMinute: String {
        let minutes = Int((Double(clock) / 60_000).rounded(.down))
        let ofDay = (minutes % 1_440 + 1_440) % 1_440
        return "\((ofDay / 60).padded(to: 2)):\((ofDay % 60).padded(to: 2))"
    }

    /// Where the offset is known.
    package var instant: Date? { offset.map { instant(offset: $0) } }

    /// The moment on a clock that is so many minutes ahead of UTC, whatever ``offset`` says.
    package func instant(offset: Int) -> Date { clockAsUTC.addingTimeInterval(Double(-offset) * 60) }

    /// The same clock; the offset of the other where this one has none and both show the same second.
    package func completed(by other: CaptureTime?) -> CaptureTime {
        guard offset == nil, let other, other.offset != nil else { return self }
        let seconds = [clock, other.clock].map { (Double($0) / 1_000).rounded(.down) }
        return seconds[0] == seconds[1] ? CaptureTime(clock: clock, offset: other.offset) : self
    }

    fileprivate var clockAsUTC: Date { Date(timeIntervalSince1970: Double(clock) / 1_000) }
}

// MARK: Whether it can be true

extension CaptureTime {
    /// 1826: the year of the first photograph.
    private static let firstYear = 1826
    /// Days on which clocks start that were never set, or that writers of files mean nothing by: those of Macintosh and
    /// QuickTime, Unix and DOS. No other day is doubted: people date their scans.
    private static let starts = ["1904-01-01", "1970-01-01", "1980-01-01"].compactMap { CalendarDay($0) }

    /// Whether a camera can have meant it: nothing before photography, no clock that was never set, and nothing that is
    /// still to come (with a day for clocks of other zones).
    package func isPlausible(at now: Date) -> Bool {
        day.year >= Self.firstYear && !Self.starts.contains(day)
            && clockAsUTC < now.addingTimeInterval(2 * 86_400)
    }
}

// MARK: As a text

extension CaptureTime: LosslessStringConvertible {
    /// Reads ISO 8601 and what cameras write: `2024-06-15T07:30:00.25+09:00`, `2024:06:15 07:30:00`, `…Z`, `…+0900`. Without
    /// a time of day it is that day's beginning, without seconds the full minute.
    ///
    /// `nil` for what is no date of the calendar or goes on behind it.
    package init?(_ description: String) {
        self.init(utf8: Array(description.utf8)[...])
    }

    /// As ``init(_:)``, of a text in UTF-8.
    package init?(utf8 bytes: ArraySlice<UInt8>) {
        var text = CaptureTimeText(utf8: bytes)
        guard let year = text.number(4...4), text.skip(":-"), let month = text.number(1...2), text.skip(":-"),
            let dayOfMonth = text.number(1...2),
            let day = CalendarDay(year: year, month: month, day: dayOfMonth)
        else { return nil }
        var milliseconds: Int64 = 0
        var offset: Int?
        if text.skip(" Tt:") {
            guard let hour = text.number(1...2), hour < 24, text.skip(":"), let minute = text.number(1...2), minute < 60
            else { return nil }
            var second = 0
            if text.skip(":") {
                // A leap second is the first of the next minute.
                guard let number = text.number(1...2), number < 61 else { return nil }
                second = number
                if text.skip(".,") {
                    guard let fraction = text.fraction() else { return nil }
                    milliseconds = fraction
                }
            }
            milliseconds += Int64(hour * 3_600 + minute * 60 + second) * 1_000
            text.skipSpaces()
            if !text.isAtEnd {
                guard let read = text.offset() else { return nil }
                offset = read
            }
        }
        text.skipSpaces()
        guard text.isAtEnd else { return nil }
        self.init(clock: Int64(day.daysSince1970) * 86_400_000 + milliseconds, offset: offset)
    }

    /// A day as the time that was read last has it: most objects of a page of a listing are of few days.
    package struct WrittenDay: Sendable {
        /// Its ten bytes.
        fileprivate var text: (UInt64, UInt16) = (0, 0)
        /// Milliseconds since 1970.
        fileprivate var start: Int64 = 0

        package init() {}
    }

    /// As ``init(_:)``, of a text in UTF-8, where it stands. A listing has a time for each object, all in the one form that
    /// stores write.
    /// - Parameter last: what the time before was read with.
    package init?(utf8 bytes: UnsafeBufferPointer<UInt8>, after last: inout WrittenDay) {
        guard let time = Self.storeTime(bytes, &last) ?? CaptureTime(utf8: Array(bytes)[...]) else { return nil }
        self = time
    }

    /// `2024-06-15T07:30:00.250Z`, with the fraction or without it; `nil` for all else, whether it is a time or not.
    private static func storeTime(_ bytes: UnsafeBufferPointer<UInt8>, _ last: inout WrittenDay) -> CaptureTime? {
        guard let text = bytes.baseAddress, bytes.count == 20 || bytes.count == 24,
            text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"), text[10] == UInt8(ascii: "T"),
            text[13] == UInt8(ascii: ":"), text[16] == UInt8(ascii: ":"), text[bytes.count - 1] == UInt8(ascii: "Z"),
            bytes.count == 20 || text[19] == UInt8(ascii: ".")
        else { return nil }
        var isOfDigits = true
        func number(_ place: Range<Int>) -> Int {
            var number = 0
            for index in place {
                let digit = text[index] &- UInt8(ascii: "0")
                if digit > 9 { isOfDigits = false }
                number = number * 10 + Int(digit)
            }
            return number
        }
        let (hour, minute, second) = (number(11..<13), number(14..<16), number(17..<19))
        let milliseconds = bytes.count == 24 ? number(20..<23) : 0
        guard isOfDigits, hour < 24, minute < 60, second < 61 else { return nil }
        let start = UnsafeRawPointer(text)
        let written = (start.loadUnaligned(as: UInt64.self), start.loadUnaligned(fromByteOffset: 8, as: UInt16.self))
        if written != last.text {
            let (year, month, dayOfMonth) = (number(0..<4), number(5..<7), number(8..<10))
            guard isOfDigits, let day = CalendarDay(year: year, month: month, day: dayOfMonth) else { return nil }
            last.text = written
            last.start = Int64(day.daysSince1970) * 86_400_000
        }
        let ofDay = (hour * 3_600 + minute * 60 + second) * 1_000 + milliseconds
        return CaptureTime(clock: last.start + Int64(ofDay), offset: 0)
    }

    /// ISO 8601 with whole seconds.
    package var description: String {
        let seconds = Int((Double(clock) / 1_000).rounded(.down))
        let ofMinute = (seconds % 60 + 60) % 60
        return "\(day)T\(hourAndMinute):\(ofMinute.padded(to: 2))\(offset.map(Self.text) ?? "")"
    }

    /// `+09:00`.
    package static func text(ofOffset minutes: Int) -> String {
        let (hours, rest) = abs(minutes).quotientAndRemainder(dividingBy: 60)
        return "\(minutes < 0 ? "-" : "+")\(hours.padded(to: 2)):\(rest.padded(to: 2))"
    }

    /// Minutes of `+09:00`, `+0900`, `+09` or `Z`.
    package static func offset(of text: String) -> Int? {
        var text = CaptureTimeText(text)
        guard let offset = text.offset(), text.isAtEnd else { return nil }
        return offset
    }
}

/// A time's text while it is read, where its bytes are: a listing has a time for each object, and a part of the text that
/// is a value of its own costs more than to read it.
struct CaptureTimeText {
    private let bytes: ArraySlice<UInt8>
    private var next: Int

    init(utf8 bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        next = bytes.startIndex
    }

    init(_ text: some StringProtocol) {
        self.init(utf8: Array(text.utf8)[...])
    }

    var isAtEnd: Bool { next == bytes.endIndex }

    /// So many digits.
    mutating func number(_ count: ClosedRange<Int>) -> Int? {
        let place = skipDigits(atMost: count.upperBound)
        return count.contains(place.count) ? number(at: place) : nil
    }

    mutating func digits() -> ArraySlice<UInt8> {
        let place = skipDigits()
        return bytes[place]
    }

    /// Digits behind the point, as milliseconds.
    mutating func fraction() -> Int64? {
        let place = skipDigits()
        guard !place.isEmpty else { return nil }
        let first = place.prefix(3)
        return Int64((first.count..<3).reduce(number(at: first)) { number, _ in number * 10 })
    }

    /// `Z`, or a sign with hours and minutes: at most 14 hours, as no place has more.
    mutating func offset() -> Int? {
        if skip("Zz") { return 0 }
        let isNegative = skip("-")
        guard isNegative || skip("+"), let hours = number(2...2) else { return nil }
        _ = skip(":")
        guard let minutes = isAtEnd ? 0 : number(2...2), minutes < 60, hours < 15 else { return nil }
        return (isNegative ? -1 : 1) * (hours * 60 + minutes)
    }

    /// One of these characters.
    mutating func skip(_ characters: StaticString) -> Bool {
        guard next < bytes.endIndex else { return false }
        let byte = bytes[next]
        let isThere = characters.withUTF8Buffer { $0.contains(byte) }
        if isThere { next += 1 }
        return isThere
    }

    mutating func skipSpaces() {
        while next < bytes.endIndex, bytes[next] == UInt8(ascii: " ") || bytes[next] == 0 { next += 1 }
    }

    private mutating func skipDigits(atMost count: Int = .max) -> Range<Int> {
        let start = next
        while next < bytes.endIndex, next - start < count, bytes[next].isDigit { next += 1 }
        return start..<next
    }

    private func number(at place: Range<Int>) -> Int {
        place.reduce(0) { $0 * 10 + Int(bytes[$1] - UInt8(ascii: "0")) }
    }
}

extension CaptureTime: CodedAsText {
    package static let form = "a time in ISO 8601"
}

/// What is known of the clocks of photos that belong together, such as those of a vacation.
///
/// A camera without offsets lies beside a phone with them: both show the clock of the place, so that a photo without an
/// offset has that of the photo whose clock showed the nearest time.
package struct CaptureOffsets: Sendable {
    /// By their clocks.
    private let known: [(clock: Int64, offset: Int)]

    package init(_ times: some Sequence<CaptureTime>) {
        known = times.compactMap { time in time.offset.map { (time.clock, $0) } }
            .sorted { ($0.clock, $0.offset) < ($1.clock, $1.offset) }
    }

    /// Minutes ahead of UTC: the photo's own, else its neighbour's; `nil` where no photo has one.
    package func offset(of time: CaptureTime) -> Int? {
        if let offset = time.offset { return offset }
        var (low, high) = (0, known.count)
        while low < high {
            let middle = (low + high) / 2
            if known[middle].clock < time.clock { low = middle + 1 } else { high = middle }
        }
        let (before, after) = (low > 0 ? known[low - 1] : nil, low < known.count ? known[low] : nil)
        guard let before, let after else { return (before ?? after)?.offset }
        return time.clock - before.clock <= after.clock - time.clock ? before.offset : after.offset
    }

    /// - Parameter zone: the machine's; it counts where no photo has an offset.
    package func instant(of time: CaptureTime, zone: MachineZone) -> Date {
        if let offset = offset(of: time) { return time.instant(offset: offset) }
        return zone.instant(of: time)
    }

    /// What photos are ordered by, in milliseconds. Where no photo has an offset that is their clock: in one zone it is
    /// the same order, and no machine's own zone gets into it.
    package func position(of time: CaptureTime) -> Int64 {
        time.clock - Int64(offset(of: time) ?? 0) * 60_000
    }
}

/// The time zone of the machine, as a parameter: tests have their own.
package struct MachineZone: Sendable {
    /// Minutes ahead of UTC when a clock there shows a time, in seconds since 1970-01-01T00:00 on that clock.
    private let offsetAtClock: @Sendable (Int64) -> Int
    /// Minutes ahead of UTC at a moment.
    private let offsetAtInstant: @Sendable (Date) -> Int

    package init(atClock: @escaping @Sendable (Int64) -> Int, atInstant: @escaping @Sendable (Date) -> Int) {
        offsetAtClock = atClock
        offsetAtInstant = atInstant
    }

    /// When a clock of this machine showed the time. The offset of the time itself does not count.
    package func instant(of time: CaptureTime) -> Date {
        time.instant(offset: offsetAtClock(Int64((Double(time.clock) / 1_000).rounded(.down))))
    }

    /// The day on this machine's clock.
    package func day(of instant: Date) -> CalendarDay {
        CaptureTime(instant, offset: offsetAtInstant(instant)).day
    }
}

/// Reads when photos were taken, without their pictures. Its calls block: the caller gives them a thread.
package protocol CaptureTimeSource: Sendable {
    /// - Returns: `nil` when the file tells no time that a camera can have meant.
    /// - Throws: ``PhotoError``; `.changed` when the file is no longer the one that was examined.
    func captureTime(of file: FilePath, stamp: FileStamp) throws(PhotoError) -> CaptureTime?
}
