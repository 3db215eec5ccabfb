import SyncCore

/// A time as EXIF writes it (EXIF 2.32, 4.6.5: DateTimeOriginal, OffsetTimeOriginal, SubSecTimeOriginal).
struct ExifTime {
    let captured: CaptureTime
    /// Digits behind the second's decimal point, at most nine.
    let fraction: String?

    /// `nil` unless `time` begins with a date of the calendar and a time of day. Some cameras and editors write fraction
    /// and offset into it; those count before the fields of their own.
    /// - Parameters:
    ///   - offset: "+HH:MM"; anything else counts as none.
    ///   - fraction: digits behind the second's decimal point; anything else counts as none.
    init?(time: String, offset: String = "", fraction: String = "") {
        // Whatever some writers put behind the time is none of it.
        guard let read = CaptureTime(time) ?? CaptureTime(String(time.prefix(19))), time.utf8.count > 10 else {
            return nil
        }
        let digits = fraction.prefix { $0 != " " && $0 != "\0" }.prefix(9)
        let isFraction = !digits.isEmpty && digits.utf8.allSatisfy { (48...57).contains($0) }
        self.fraction = isFraction ? String(digits) : nil
        let isWhole = read.clock.quotientAndRemainder(dividingBy: 1_000).remainder == 0
        let added = isFraction && isWhole ? Int64((String(digits.prefix(3)) + "00").prefix(3)) ?? 0 : 0
        captured = CaptureTime(clock: read.clock + added, offset: read.offset ?? CaptureTime.offset(of: offset))
    }

    init(_ captured: CaptureTime, fraction: String? = nil) {
        self.captured = captured
        self.fraction = fraction
    }

    /// "YYYY:MM:DD HH:MM:SS", the digits of the camera's clock.
    var text: String {
        let text = captured.description.prefix(19)
        return text.prefix(10).replacing("-", with: ":") + " " + text.suffix(8)
    }

    /// "+HH:MM".
    var offset: String? { captured.offset.map(CaptureTime.text(ofOffset:)) }
}
