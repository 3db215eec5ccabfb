import CSyncDecoder
import SyncCore

/// What a worker is told to decode a picture with: it calls one library, and tries no other.
enum PictureFormat {
    case heif, png, webP, tiff, gif, bmp, raw

    /// `nil` for what is no picture, for JPEG, which this process decodes, and for kinds that no decoder is here for.
    init?(_ type: MediaType) {
        guard type.kind == .image else { return nil }
        switch type.name {
        case "image/heic", "image/heif", "image/avif": self = .heif
        case "image/png": self = .png
        case "image/webp": self = .webP
        case "image/tiff": self = .tiff
        case "image/gif": self = .gif
        case "image/bmp": self = .bmp
        case let name where MediaType.rawNames.contains(name): self = .raw
        default: return nil
        }
    }

    var code: CSyncDecoder_Format {
        switch self {
        case .heif: CSYNC_DECODER_HEIF
        case .png: CSYNC_DECODER_PNG
        case .webP: CSYNC_DECODER_WEBP
        case .tiff: CSYNC_DECODER_TIFF
        case .gif: CSYNC_DECODER_GIF
        case .bmp: CSYNC_DECODER_BMP
        case .raw: CSYNC_DECODER_RAW
        }
    }

    /// What further pictures in such a file are.
    var furtherPictures: DroppedPart {
        switch self {
        case .gif, .webP, .png: .motion
        case .heif, .tiff, .bmp, .raw: .secondPicture
        }
    }
}
