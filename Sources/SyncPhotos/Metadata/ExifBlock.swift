import CSyncExif
import SyncCore

/// The EXIF block of a photo, from its TIFF header on.
struct ExifBlock {
    private(set) var bytes: [UInt8]

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    struct Summary {
        /// 1 to 8.
        var orientation: Int?
        /// DateTimeOriginal.
        var taken: ExifTime?
        /// DateTimeDigitized.
        var digitized: ExifTime?
        /// DateTime: the last change.
        var changed: ExifTime?
        /// GPSDateStamp and GPSTimeStamp, which are UTC.
        var position: CaptureTime?
        /// 1 is sRGB, 0xFFFF is another.
        var colourSpace: Int?
        var isAdobeRGB = false
    }

    /// What can be read of the block; a damaged one tells less.
    var summary: Summary {
        // Of a longer block the beginning is read, where cameras put all of this.
        let summary = CSyncExif_read(bytes, min(bytes.count, Self.largest))
        return Summary(
            orientation: summary.orientation == 0 ? nil : Int(summary.orientation),
            taken: ExifTime(summary.taken), digitized: ExifTime(summary.digitized),
            changed: ExifTime(summary.changed), position: Self.position(summary),
            colourSpace: summary.colour_space == 0 ? nil : Int(summary.colour_space),
            isAdobeRGB: summary.is_adobe_rgb
        )
    }

    private static func position(_ summary: CSyncExif_Summary) -> CaptureTime? {
        let date = ExifTime.text(summary.gps_date)
        guard summary.gps_time >= 0, date.utf8.count == 10, let day = CaptureTime(date) else { return nil }
        return CaptureTime(clock: day.clock + Int64(summary.gps_time) * 1_000, offset: 0)
    }

    /// The block for a reduced copy: upright, of its size, without a thumbnail.
    /// - Returns: `nil` when the block is too long, or damaged such that it could say something false about the copy.
    func corrected(size: PixelSize) -> ExifBlock? {
        var changes = CSyncExif_Changes(width: Int32(clamping: size.width), height: Int32(clamping: size.height))
        var corrected = bytes
        let count = CSyncExif_correct(&corrected, corrected.count, &changes)
        return count == 0 ? nil : ExifBlock(bytes: Array(corrected.prefix(count)))
    }
}

extension ExifTime {
    /// Cameras whose clock was never set write blanks or zeros: no time.
    fileprivate init?(_ time: CSyncExif_Time) {
        self.init(time: Self.text(time.time), offset: Self.text(time.offset), fraction: Self.text(time.fraction))
    }

    fileprivate static func text<Tuple>(_ characters: Tuple) -> String {
        withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
