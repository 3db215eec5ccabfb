import CSyncExif
import FoundationEssentials

/// The EXIF block of a photo, from its TIFF header on.
struct ExifBlock {
    private(set) var bytes: [UInt8]

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    struct Summary {
        /// 1 to 8.
        var orientation: Int?
        var captureTime: Date?
    }

    /// What can be read of the block; a damaged one tells less.
    var summary: Summary {
        let summary = CSyncExif_read(bytes, bytes.count)
        return Summary(
            orientation: summary.orientation == 0 ? nil : Int(summary.orientation),
            captureTime: CaptureTime(
                time: Self.text(summary.time), offset: Self.text(summary.offset), fraction: Self.text(summary.fraction)
            )?.date
        )
    }

    /// The block for a reduced copy: upright, of its size, without a thumbnail.
    /// - Parameter stripLocation: also without GPS and the maker note, in which some cameras name the place.
    /// - Returns: `nil` when the block is damaged such that it could say something false about the copy.
    func corrected(size: PixelSize, stripLocation: Bool) -> ExifBlock? {
        var changes = CSyncExif_Changes(
            width: Int32(clamping: size.width), height: Int32(clamping: size.height),
            remove_gps: stripLocation, remove_maker_note: stripLocation
        )
        var corrected = bytes
        let count = CSyncExif_correct(&corrected, corrected.count, &changes)
        return count == 0 ? nil : ExifBlock(bytes: Array(corrected.prefix(count)))
    }

    private static func text<Tuple>(_ characters: Tuple) -> String {
        withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
