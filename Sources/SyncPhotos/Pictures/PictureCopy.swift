import FoundationEssentials
import SyncCore
import SyncDigest
import SyncSystem
import SystemPackage

/// Makes the stored copy of a picture that is no JPEG: a reduced JPEG of it where it is beyond the limit, and otherwise
/// the file itself, or what is left of it without its place.
struct PictureCopy {
    let workers: PictureWorkers
    let photo: PictureSource
    /// The copy that is the photo itself.
    let unchanged: StoredCopy
    let policy: ReducePolicy
    let now: Date

    /// - Parameter kept: makes the copy that keeps the picture as it is.
    func make(_ kept: () throws(PhotoError) -> StoredCopy) throws(PhotoError) -> StoredCopy {
        guard let format = PictureFormat(unchanged.type) else { return try kept() }
        guard workers.program != nil else {
            do throws(PhotoError) {
                return try noted(kept(), PhotoError.noDecoder.message)
            } catch {
                guard error.code == .tellsPlace else { throw error }
                throw PhotoError(
                    .tellsPlace,
                    "\(error.message); \(PhotoError.noDecoder.message): with it, a copy can be made that does not (then "
                        + "sync-agent retry)")
            }
        }
        do throws(PhotoError) {
            let outcome = try workers.decoded(photo, as: format, within: policy.limits) {
                (picture) throws(PhotoError) -> Outcome in
                // Encoding is this process's, as that of a JPEG.
                try PooledWork.step { () throws(PhotoError) in try reduced(picture) }
            }
            switch outcome {
            case .copy(let copy): return copy
            case .within(let size):
                var copy = try kept()
                (copy.width, copy.height) = (size.width, size.height)
                return copy
            case .smallPreview(let size):
                return try noted(
                    kept(), "the largest picture in the raw file has only \(size.width) × \(size.height) pixels")
            }
        } catch {
            guard error.code == .unsupported else { throw error }
            return try noted(kept(), error.message)
        }
    }

    private enum Outcome {
        case copy(StoredCopy)
        /// As it is seen.
        case within(PixelSize)
        /// Of a raw file: less than what would be stored of it.
        case smallPreview(PixelSize)
    }

    private func noted(_ copy: StoredCopy, _ reason: String) -> StoredCopy {
        var copy = copy
        copy.note = "stored as it is and not reduced: \(reason)"
        return copy
    }

    private func reduced(_ picture: DecodedPicture) throws(PhotoError) -> Outcome {
        try picture.read(within: policy.limits) { (reader) throws(PhotoError) in
            if reader.isWithin(policy.maximumDimension) {
                if picture.isPreview { return .smallPreview(reader.size) }
                return .within(reader.size.turned(by: picture.orientation))
            }
            return .copy(try copy(of: picture, reader))
        }
    }

    private func copy(
        of picture: DecodedPicture, _ reader: borrowing JPEGReader
    ) throws(PhotoError) -> StoredCopy {
        let plan = JPEGReduction(policy: policy, orientation: picture.orientation)
        let target = reader.reducedSize(plan)
        let exif = picture.exif
        var copy = unchanged
        copy.takenAt = copy.takenAt ?? CaptureTimeClues(exif: exif?.summary).captureTime(at: now)
        let own =
            policy.stripLocation
            ? exif?.withoutPlace(size: target, orientation: 1)
            : exif?.corrected(size: target) ?? exif?.shortened(size: target, orientation: 1)
        // A capture time that only XMP tells would be lost.
        let block =
            own
            ?? copy.takenAt.flatMap {
                ExifBlock.Summary().telling($0).sharedBlock(size: target, orientation: 1)
            }
        let output = try reader.reduce(plan, exif: block)
        copy.content = .reduced(output.bytes)
        copy.type = .jpeg
        copy.digest = ContentDigest(of: output.bytes)
        (copy.width, copy.height) = (output.size.width, output.size.height)
        var dropped = picture.beside
        if let end = picture.end, let part = try photo.stream(from: end).partBehindPicture() { dropped.insert(part) }
        if policy.stripLocation {
            dropped.formUnion(exif?.partsThatTellPlaces ?? [])
        } else if exif != nil, own == nil {
            dropped.insert(.exif)
        }
        copy.dropped = dropped.inOrder
        return copy
    }
}
