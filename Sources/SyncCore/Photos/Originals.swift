/// Whether the bytes of photos are kept beside their reduced copies: `photos.keep_originals`.
package enum OriginalsPolicy: String, Hashable, Sendable, CaseIterable {
    case off = "false"
    /// As they are.
    case on = "true"
    /// JPEG files as JPEG XL, where that is smaller and the way back gives the same bytes; others as they are.
    case jxl
}

/// How an original is stored.
package enum OriginalEncoding: String, Hashable, Sendable {
    /// The file's own bytes.
    case none
    /// A JPEG file as JPEG XL (ISO/IEC 18181-2, `jbrd`), from which its bytes come back.
    case jxl
}
