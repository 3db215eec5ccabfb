package import FoundationEssentials
package import SyncCore
import SyncDigest

/// The `SharedCopyMaker` for JPEGs: the codec of the stored copies, and one cut that every copy goes through.
///
/// Holds no state: one value serves any number of threads. A call holds its copy in memory once, and what decoding takes
/// (`PhotoLimits.memory` at most).
package struct SharedPhotoMaker: SharedCopyMaker {
    /// JPEG quality of thumbnails. At 320 pixels most photos take 10 to 20 KiB.
    private static let thumbnailQuality = 70

    private let now: @Sendable () -> Date

    /// - Parameter now: a capture time that is still to come is none.
    package init(now: @escaping @Sendable () -> Date = { Date() }) {
        self.now = now
    }

    package func sharedCopy(of photo: PhotoSource, size: SharedSize) throws(PhotoError) -> StoredCopy {
        let takenAt = try photo.captureTime(at: now())
        let picture = try photo.read(within: size.limits) { (reader, stream) throws(PhotoError) in
            let summary = reader.exif?.summary.telling(takenAt) ?? ExifBlock.Summary().telling(takenAt)
            switch size {
            case .reduced(let policy) where !reader.isWithin(policy.maximumDimension):
                return try SharedPicture(encoding: reader, policy, summary, takenAt)
            case .reduced(let policy):
                let kept = try SharedPicture(keeping: stream, of: reader.size, summary, takenAt)
                // Only a decoder that came to the end of what leaves can tell that it is whole.
                let anew = try kept.bytes.decoded(within: policy.limits) { (reader) throws(PhotoError) in
                    try SharedPicture(encoding: reader, policy, summary, takenAt)
                }
                return Double(anew.bytes.count) < Double(kept.bytes.count) * JPEGCopy.worthwhile ? anew : kept
            case .full(let limits):
                let kept = try SharedPicture(keeping: stream, of: reader.size, summary, takenAt)
                try kept.bytes.decoded(within: limits) { (reader) throws(PhotoError) in try reader.requireWhole() }
                return kept
            }
        }
        return picture.storedCopy
    }

    package func thumbnail(of photo: PhotoSource, side: Int) throws(PhotoError) -> StoredCopy {
        let policy = ReducePolicy(maximumDimension: side, quality: Self.thumbnailQuality)
        let picture = try photo.read(within: policy.limits) { (reader, _) throws(PhotoError) in
            try SharedPicture(encoding: reader, policy, reader.exif?.summary, nil, tellsNothing: true)
        }
        return picture.storedCopy
    }
}

extension SharedSize {
    fileprivate var limits: PhotoLimits {
        switch self {
        case .reduced(let policy): policy.limits
        case .full(let limits): limits
        }
    }
}
