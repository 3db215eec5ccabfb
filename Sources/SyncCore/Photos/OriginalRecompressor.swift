package import SystemPackage

/// Recompresses JPEG files without loss, and gives them back byte for byte. Its calls block and burn CPU: the caller gives
/// them a thread.
package protocol OriginalRecompressor: Sendable {
    /// Makes the JPEG XL of a JPEG file.
    ///
    /// It is `smaller` only when the file was made from it again, and had this digest.
    /// - Parameters:
    ///   - file: readable; its own position is not used.
    ///   - size: of the file, in bytes.
    ///   - output: an empty file, open for writing. Only with `smaller` it is of use then; its end, and that it is on the disk,
    ///     are the caller's business.
    /// - Throws: ``PhotoError`` when it was not found out: `.stopped`, `.tooSlow`, `.corrupt` for a file at which the worker
    ///   died, `.outOfResources`, `.unreadable`.
    func recompressed(
        _ file: FileDescriptor, size: Int64, sha256: SHA256Digest, into output: FileDescriptor
    ) throws(PhotoError) -> RecompressedOriginal

    /// Writes the JPEG of a JPEG XL to an empty file, open for writing. Its digest is the caller's business.
    /// - Throws: ``PhotoError``; `.unsupported` for what is no JPEG XL of a JPEG, and where nothing is there that could
    ///   read one.
    func reconstruct(_ file: FileDescriptor, size: Int64, into output: FileDescriptor) throws(PhotoError)
}

/// What became of a JPEG file that was to be recompressed.
package enum RecompressedOriginal: Hashable, Sendable {
    /// Digests and bytes of the JPEG XL: at most 95 of 100 bytes of the file.
    case smaller(ContentDigest, size: Int64)
    /// The file's bytes are the best there is, for a reason in plain words: it would hardly be smaller, does not come back
    /// byte for byte, takes more memory than it may, is a JPEG of a kind that is not known, or the decoder is not there.
    case asItIs(reason: String)
}

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
