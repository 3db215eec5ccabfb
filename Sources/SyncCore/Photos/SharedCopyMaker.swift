package import SystemPackage

/// Makes what may leave for others: copies of photos that tell nothing but the picture. Its calls block and burn CPU: the
/// caller gives them a thread.
///
/// Promise, for every copy: no GPS, maker note, serial number, name of a person, text, embedded preview, XMP, IPTC or
/// comment is in it, and nothing behind the picture's end; colours (ICC profile, colour space), orientation and times are
/// as they were. A copy was decoded to its end: a damaged photo is an error. The same photo gives the same bytes.
package protocol SharedCopyMaker: Sendable {
    /// The copy of a JPEG that is shared.
    ///
    /// A photo beyond the policy's size gives the same bytes from its file and from its stored copy. A photo that is
    /// shared as it is stored, because it tells nothing and is small enough, gives the stored copy's bytes.
    /// - Returns: a copy whose content is `.reduced`, also when nothing had to be changed; width and height as it is seen.
    /// - Throws: ``PhotoError``; `.notAPhoto` for other types, of which nothing could be left out; `.changed` when the
    ///   file was written to meanwhile.
    func sharedCopy(of photo: PhotoSource, size: SharedSize) throws(PhotoError) -> StoredCopy

    /// A small upright JPEG for pages, without any metadata but its ICC profile. It is never enlarged.
    /// - Parameter side: the longer side at most, in pixels.
    func thumbnail(of photo: PhotoSource, side: Int) throws(PhotoError) -> StoredCopy
}

/// Where the bytes of a photo are.
package enum PhotoSource: Hashable, Sendable {
    case file(FilePath)
    /// A whole file's bytes, in memory.
    case bytes([UInt8])
}

/// What a recipient gets.
package enum SharedSize: Hashable, Sendable {
    /// Reduced as ``ReducePolicy`` says. A JPEG that is within the limit, and that encoding anew would not make clearly
    /// smaller, keeps its picture's data.
    case reduced(ReducePolicy)
    /// The picture's data byte for byte, with what must not leave cut out around it.
    case full(PhotoLimits)
}
