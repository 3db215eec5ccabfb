import CSyncExif
import SyncCore

/// The EXIF block of a photo, from its TIFF header on.
struct ExifBlock {
    private(set) var bytes: [UInt8]

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
        let date = String(array: summary.gps_date)
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
        self.init(
            time: String(array: time.time), offset: String(array: time.offset), fraction: String(array: time.fraction))
    }
}

extension String {
    /// - Parameter characters: an array of C, of which those before the first NUL are read.
    init<Characters>(array characters: Characters) {
        self = withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

extension ExifBlock.Summary {
    /// A new block that tells the times, the colour space and what a reader needs to show the picture, and nothing else.
    ///
    /// Nothing of the photo's own block is copied but numbers and the digits of times: a text could say anything.
    /// - Parameters:
    ///   - size: of the pixels as they lie in the file.
    ///   - orientation: of those pixels.
    /// - Returns: `nil` when there is nothing to tell.
    func sharedBlock(size: PixelSize, orientation: Int) -> ExifBlock? {
        guard taken ?? digitized ?? changed != nil || orientation > 1 || colourSpace != nil || isAdobeRGB else {
            return nil
        }
        func text(_ text: String?) -> TIFFDirectory.Value? { text.map { .text($0) } }
        // EXIF 2.32, 4.6: the tags in ascending order.
        let exif = TIFFDirectory([
            0x9000: .bytes(Array("0232".utf8)),
            0x9003: text(taken?.text),
            0x9004: text(digitized?.text),
            0x9010: text(changed?.offset),
            0x9011: text(taken?.offset),
            0x9012: text(digitized?.offset),
            0x9290: text(changed?.fraction),
            0x9291: text(taken?.fraction),
            0x9292: text(digitized?.fraction),
            0xA001: colourSpace.map { .short($0) },
            0xA002: .long(size.width),
            0xA003: .long(size.height),
            0xA005: isAdobeRGB ? .directory(TIFFDirectory([0x0001: .text("R03")])) : nil,
        ])
        let image = TIFFDirectory([
            0x0112: orientation > 1 ? .short(orientation) : nil,
            0x0132: text(changed?.text),
            0x8769: .directory(exif),
        ])
        return ExifBlock(bytes: image.block)
    }
}

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

/// A directory of a TIFF block while it is written (TIFF 6.0, section 2).
struct TIFFDirectory {
    enum Value {
        case short(Int)
        case long(Int)
        /// ASCII, without its final NUL.
        case text(String)
        case bytes([UInt8])
        /// In the byte order of the block.
        case written([UInt8], type: Int, count: Int)
        case directory(TIFFDirectory)
    }

    private let entries: [(tag: Int, value: Value)]
    private let isBigEndian: Bool

    /// Big-endian. Entries without a value are left out. They are given in the order of their tags.
    init(_ entries: KeyValuePairs<Int, Value?>) {
        self.entries = entries.compactMap { entry in entry.value.map { (entry.key, $0) } }
        isBigEndian = true
    }

    init(_ entries: [Int: Value], isBigEndian: Bool) {
        self.entries = entries.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        self.isBigEndian = isBigEndian
    }

    /// A whole block, big-endian: header and directories.
    var block: [UInt8] {
        let header = Array("MM\0*".utf8) + 8.bigEndianBytes
        return header + bytes(at: header.count)
    }

    func bytes(at start: Int) -> [UInt8] {
        func number(_ value: Int, _ size: Int) -> [UInt8] { value.bytes(size, isBigEndian: isBigEndian) }
        var directory = number(entries.count, 2)
        var data: [UInt8] = []
        let dataStart = start + 2 + entries.count * 12 + 4
        for (tag, value) in entries {
            let (type, count, content) = value.encoded(at: dataStart + data.count, isBigEndian: isBigEndian)
            directory += number(tag, 2) + number(type, 2) + number(count, 4)
            if content.count <= 4 {
                directory += content + [UInt8](repeating: 0, count: 4 - content.count)
            } else {
                directory += number(dataStart + data.count, 4)
                data += content
            }
            // Values begin at even offsets.
            data += data.count.isMultiple(of: 2) ? [] : [0]
        }
        return directory + number(0, 4) + data
    }
}

extension TIFFDirectory.Value {
    /// Type, count and bytes of the value; a directory's bytes are for this offset.
    fileprivate func encoded(at offset: Int, isBigEndian: Bool) -> (type: Int, count: Int, bytes: [UInt8]) {
        switch self {
        case .short(let value): (3, 1, value.bytes(2, isBigEndian: isBigEndian))
        case .long(let value): (4, 1, value.bytes(4, isBigEndian: isBigEndian))
        case .text(let text): (2, text.utf8.count + 1, Array(text.utf8) + [0])
        case .bytes(let bytes): (7, bytes.count, bytes)
        case .written(let bytes, let type, let count): (type, count, bytes)
        case .directory(let directory): (4, 1, directory.bytes(at: offset))
        }
    }
}
