import CSyncJPEG
import SyncCore
import SystemPackage

extension PhotoError {
    /// What the codec's failure means for a photo; libjpeg's words are in brackets behind ours.
    init(_ failure: CSyncJPEG_Failure) {
        let words = withUnsafeBytes(of: failure.message) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        switch failure.status {
        case CSYNC_JPEG_TRUNCATED:
            self.init(.truncated, "the file ends before its picture does (\(words))")
        case CSYNC_JPEG_UNSUPPORTED:
            self.init(.unsupported, "a kind of JPEG that cannot be decoded (\(words))")
        case CSYNC_JPEG_OVER_LIMIT:
            self.init(.overLimit, "over the limits: \(words)")
        case CSYNC_JPEG_READ_FAILED:
            self.init(Errno(rawValue: failure.error_number), "read")
        case CSYNC_JPEG_OUT_OF_MEMORY:
            self.init(.outOfResources, words)
        default:
            self.init(.corrupt, "the picture's data is damaged (\(words))")
        }
    }
}
