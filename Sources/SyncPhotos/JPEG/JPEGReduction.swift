import CSyncJPEG
import SyncCore

/// What the codec is asked for: a `ReducePolicy` in the codec's terms.
struct JPEGReduction {
    let options: CSyncJPEG_Options

    /// - Parameter orientation: of EXIF, 1 to 8; the pixels are turned by it.
    init(policy: ReducePolicy, orientation: Int?) {
        options = CSyncJPEG_Options(
            max_dimension: Int32(clamping: min(max(policy.maximumDimension, 1), 65_500)),
            quality: Int32(clamping: min(max(policy.quality, 1), 100)),
            orientation: Int32(clamping: orientation ?? 1),
            // IPTC names towns and streets.
            keep_iptc: !policy.stripLocation
        )
    }
}

/// Width and height in pixels.
struct PixelSize: Hashable {
    var width: Int
    var height: Int
}
