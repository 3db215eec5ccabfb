import SyncCore
import SyncDigest

/// A file that tells no place any more, and what went. ``PlaceCut/make(_:of:)`` knows which types can be cut.
///
/// Position means everything that says where: coordinates, names of places, captions in which people write them. A cut
/// keeps what is known to tell nothing, and leaves a picture's own data as it is. What is not understood is refused.
struct PlaceCut {
    var bytes: [UInt8]
    var dropped: Set<DroppedPart> = []

    /// - Parameter rest: what stands behind the picture's end, and goes.
    mutating func noteTrailer(_ rest: ArraySlice<UInt8>) throws(PhotoError) {
        if let part = try ByteStream(Array(rest)).partBehindPicture() { dropped.insert(part) }
    }

    /// Types of which a whole file is read into memory to be cut.
    static let types: Set<String> = [
        "image/png", "image/webp", "image/gif", "image/bmp", "image/tiff", "image/heic", "image/heif", "image/avif",
    ]
    /// Bytes of such a file. Two of them are in memory at once.
    static let largest: Int64 = 128 << 20

    /// - Throws: ``PhotoError``, `.tellsPlace` when a position cannot be left out or ruled out.
    static func make(_ bytes: [UInt8], of type: MediaType) throws(PhotoError) -> PlaceCut {
        switch type.name {
        case "image/png": try PNGCut.cut(bytes)
        case "image/webp": try WebPCut.cut(bytes)
        case "image/gif": try GIFCut.cut(bytes)
        case "image/bmp": try BMPCheck.cut(bytes)
        case "image/tiff": try TIFFCut.cut(bytes)
        case "image/heic", "image/heif", "image/avif": try HEIFCut.cut(bytes)
        default: throw refusal(of: type)
        }
    }

    /// Of a type that cannot be cut.
    static func refusal(of type: MediaType) -> PhotoError {
        .place("\(type) may tell where it was taken, in ways that cannot be taken out of it")
    }
}

extension PhotoError {
    /// A photo that stays here, since it tells or may tell a place.
    /// - Parameter reason: what was found, or cannot be ruled out.
    static func place(_ reason: String) -> PhotoError {
        PhotoError(
            .tellsPlace,
            reason + "; with photos.strip_location it stays on this machine. Remove the position from the file, or set "
                + "photos.strip_location: false and run sync-agent retry")
    }

    /// A file whose structure is not what its type promises.
    static func unclear(_ type: String) -> PhotoError {
        place("its \(type) data is damaged or of an unknown kind, so that a position in it cannot be ruled out")
    }
}

extension [UInt8] {
    /// A big-endian number; `nil` where the array ends before it.
    func big(at offset: Int, size: Int = 4) -> Int? {
        guard offset >= 0, size <= 8, offset <= count - size else { return nil }
        let value = self[offset..<offset + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int(exactly: value)
    }

    /// A little-endian number; `nil` where the array ends before it.
    func little(at offset: Int, size: Int = 4) -> Int? {
        guard offset >= 0, size < 8, offset <= count - size else { return nil }
        return self[offset..<offset + size].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}

extension Int {
    /// So many of its lowest bytes.
    func bytes(_ size: Int, isBigEndian: Bool) -> [UInt8] {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: self >> (8 * $0)) }
        return isBigEndian ? bytes.reversed() : bytes
    }

    /// Four bytes.
    var bigEndianBytes: [UInt8] { bytes(4, isBigEndian: true) }
    var littleEndianBytes: [UInt8] { bytes(4, isBigEndian: false) }
}

/// Copies of what is no JPEG: the bytes as they are, or with `strip_location` what is left of them without their place.
extension PhotoFileReducer {
    static func copy(of photo: [UInt8], _ unchanged: StoredCopy, policy: ReducePolicy) throws(PhotoError) -> StoredCopy
    {
        guard policy.stripLocation else { return unchanged }
        return try withoutPlace(photo, unchanged)
    }

    /// - Parameter size: bytes of the file.
    static func copy(
        of file: borrowing PhotoFile, size: Int64, _ unchanged: StoredCopy, policy: ReducePolicy
    ) throws(PhotoError) -> StoredCopy {
        // What is neither photo nor video is the list of a projects folder.
        guard policy.stripLocation, unchanged.type.kind != .other else { return unchanged }
        guard unchanged.type.kind != .sidecar else {
            throw PhotoError(
                .notStored, "with strip_location, sidecars stay on this machine: what they tell cannot be taken out")
        }
        if FilmRules.types.contains(unchanged.type.name) {
            let film = FilmBytes(MetadataBytes(file, size: size))
            return try withoutPlace(film, unchanged)
        }
        guard PlaceCut.types.contains(unchanged.type.name), size <= PlaceCut.largest else {
            throw PlaceCut.types.contains(unchanged.type.name)
                ? .place("it is too large to take its position out") : PlaceCut.refusal(of: unchanged.type)
        }
        return try withoutPlace(try file.read(0..<Int(size)), unchanged)
    }

    private static func withoutPlace(_ film: FilmBytes, _ unchanged: StoredCopy) throws(PhotoError) -> StoredCopy {
        do throws(PhotoError) {
            try MovieCheck.require(film)
            return unchanged
        } catch {
            guard error.code == .tellsPlace else { throw error }
            let (patches, dropped): (FilePatches, Set<DroppedPart>)
            do throws(PhotoError) {
                (patches, dropped) = try FilmCut.run(film, .stored)
            } catch let failure {
                // What was found first says more than what remains of it.
                throw failure.code == .tellsPlace ? error : failure
            }
            var copy = unchanged
            copy.content = .patched(patches)
            copy.digest = try film.patched(by: patches).digest()
            copy.dropped = dropped.inOrder
            return copy
        }
    }

    private static func withoutPlace(_ photo: [UInt8], _ unchanged: StoredCopy) throws(PhotoError) -> StoredCopy {
        let cut = try PlaceCut.make(photo, of: unchanged.type)
        if cut.bytes == photo { return unchanged }
        var copy = unchanged
        copy.content = .reduced(cut.bytes)
        copy.digest = ContentDigest(of: cut.bytes)
        copy.dropped = cut.dropped.inOrder
        return copy
    }
}
