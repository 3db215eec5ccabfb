import SyncCore
import SyncDigest

/// Makes the stored copy of a JPEG: reduced, or the file itself where that is as good, or what is left of it without its
/// place.
struct JPEGCopy {
    /// Encoding anew must make a picture smaller by a tenth to be worth it: it costs sharpness each time. A stored copy
    /// that comes back, encoded once more at its own quality, would lose some for about one percent.
    private static let worthwhile = 0.9
    /// Bytes of a file from which on its tables tell that it would not become smaller. They are too large a part of a smaller
    /// one themselves.
    static let worthACheck = 8 << 10

    /// The photo from its first byte on.
    let photo: ByteStream
    /// The copy that is the photo itself.
    let unchanged: StoredCopy
    let policy: ReducePolicy

    /// - Parameter open: reads the photo's header.
    func make(_ open: () throws(PhotoError) -> JPEGReader) throws(PhotoError) -> StoredCopy {
        do throws(PhotoError) {
            return try reduced(open)
        } catch {
            guard error.code == .unsupported else { throw error }
            return try undecoded(error)
        }
    }

    private func reduced(_ open: () throws(PhotoError) -> JPEGReader) throws(PhotoError) -> StoredCopy {
        let reader = try open()
        let exif = reader.exif
        let summary = exif?.summary
        let plan = JPEGReduction(policy: policy, orientation: summary?.orientation)
        let target = reader.reducedSize(plan)
        let isWithin = reader.isWithin(policy.maximumDimension)
        let size = reader.size.turned(by: summary?.orientation)
        if policy.stripLocation, isWithin {
            let kept = try JPEGCut.cut(
                photo, of: reader, exif: exif?.withoutPlace(size: reader.size) ?? timeBlock(size: reader.size),
                tellsNothing: false)
            let block = exif?.withoutPlace(size: target, orientation: 1) ?? timeBlock(size: target)
            let anew = try Self.smaller(than: kept, policy) { (reader) throws(PhotoError) in
                try reader.reduce(plan, exif: block)
            } count: {
                $0.bytes.count
            }
            guard let anew else { return try copy(kept, size, exif, keeping: exif) }
            return try copy(anew.bytes, anew.size, exif, keeping: block)
        }
        let own =
            policy.stripLocation
            ? exif?.withoutPlace(size: target, orientation: 1)
            : exif?.corrected(size: target) ?? exif?.shortened(size: target, orientation: 1)
        // A new block with the capture time is none of the photo's.
        let block = own ?? timeBlock(size: target)
        guard isWithin else {
            let output = try reader.reduce(plan, exif: block)
            return try copy(output.bytes, output.size, exif, keeping: own)
        }
        guard let output = try smaller(reader, plan, exif: block, open) else {
            var copy = unchanged
            (copy.width, copy.height) = (size.width, size.height)
            return copy
        }
        return try copy(output.bytes, output.size, exif, keeping: own)
    }

    /// What `encode` makes of a picture that stands alone in its bytes, or `nil` where that would not be worth it. The picture
    /// is decoded to its end either way: only a decoder that came there can tell that it is whole.
    static func smaller<Encoded>(
        than bytes: [UInt8], _ policy: ReducePolicy,
        _ encode: (borrowing JPEGReader) throws(PhotoError) -> Encoded, count: (Encoded) -> Int
    ) throws(PhotoError) -> Encoded? {
        try bytes.decoded(within: policy.limits) { (reader) throws(PhotoError) in
            if bytes.count >= Self.worthACheck, reader.isAsCoarse(as: policy) {
                try reader.requireWhole()
                return nil
            }
            let anew = try encode(reader)
            return isWorthwhile(count(anew), insteadOf: bytes.count) ? anew : nil
        }
    }

    /// The same for the photo, which may have much beside its picture: thumbnails, XMP, a film behind its end.
    private func smaller(
        _ reader: consuming JPEGReader, _ plan: JPEGReduction, exif: ExifBlock?,
        _ open: () throws(PhotoError) -> JPEGReader
    ) throws(PhotoError) -> (bytes: [UInt8], size: PixelSize)? {
        if photo.size >= Self.worthACheck, reader.isAsCoarse(as: policy) {
            let expected = Int(try reader.requireWhole()) + (exif?.bytes.count ?? 0)
            guard Self.isWorthwhile(expected, insteadOf: Int(photo.size)) else { return nil }
            // It has decoded the picture, which another one is to do again.
            reader = try open()
        }
        let anew = try reader.reduce(plan, exif: exif)
        return Self.isWorthwhile(anew.bytes.count, insteadOf: Int(photo.size)) ? anew : nil
    }

    private static func isWorthwhile(_ encoded: Int, insteadOf size: Int) -> Bool {
        Double(encoded) < Double(size) * worthwhile
    }

    /// XMP and IPTC do not come along: a capture time that only they tell would be lost.
    private func timeBlock(size: PixelSize) -> ExifBlock? {
        unchanged.takenAt.flatMap { ExifBlock.Summary().withTime($0).sharedBlock(size: size, orientation: 1) }
    }

    /// - Parameters:
    ///   - exif: of the photo.
    ///   - block: `nil` when the copy has none of it.
    private func copy(
        _ bytes: [UInt8], _ size: PixelSize, _ exif: ExifBlock?, keeping block: ExifBlock?
    ) throws(PhotoError) -> StoredCopy {
        var copy = unchanged
        (copy.width, copy.height) = (size.width, size.height)
        let digest = ContentDigest(of: bytes)
        // Nothing had to be cut.
        if digest == unchanged.digest { return copy }
        copy.content = .reduced(bytes)
        copy.digest = digest
        let parts = try JPEGParts(photo)
        var dropped = parts.beside
        // Of what Photoshop puts there the codec keeps the IPTC record.
        if dropped.contains(.iptc) {
            var stream = ByteStream(bytes)
            if try JPEGHeader(&stream).parts.contains(.iptc) { dropped.remove(.iptc) }
        }
        if policy.stripLocation {
            dropped.formUnion(exif?.partsThatTellPlaces ?? [])
        } else if exif != nil, block == nil {
            dropped.insert(.exif)
        }
        copy.dropped = dropped.inOrder
        return copy
    }

    /// The copy of a JPEG that our decoder does not know: the file as it is, when it has a beginning and an end.
    /// - Parameter reason: the decoder's.
    private func undecoded(_ reason: PhotoError) throws(PhotoError) -> StoredCopy {
        let parts = try JPEGParts(photo)
        guard parts.end != nil else { throw PhotoError(.truncated, "the file ends before its picture does") }
        guard parts.isSound, let frame = parts.header.frame else {
            throw PhotoError(.corrupt, "the picture's data is damaged (its frame header is none)")
        }
        let summary = parts.header.exif?.summary
        let size = frame.size.turned(by: summary?.orientation)
        var copy = unchanged
        if size.width > 0, size.height > 0 { (copy.width, copy.height) = (size.width, size.height) }
        copy.note = "stored as it is and not reduced: \(reason.message)"
        guard policy.stripLocation else { return copy }
        guard photo.size <= PlaceCut.largest else { throw .place("it is too large to take its position out") }
        let kept = try JPEGCut.cut(photo, exif: parts.header.exif?.withoutPlace(), tellsNothing: false)
        copy.content = .reduced(kept)
        copy.digest = ContentDigest(of: kept)
        let tellPlaces = parts.header.exif?.partsThatTellPlaces ?? []
        copy.dropped = parts.beside.union(tellPlaces).inOrder
        return copy
    }
}

extension PixelSize {
    /// As it is seen.
    /// - Parameter orientation: of EXIF, 1 to 8.
    func turned(by orientation: Int?) -> PixelSize {
        (orientation ?? 1) < 5 ? self : PixelSize(width: height, height: width)
    }
}
