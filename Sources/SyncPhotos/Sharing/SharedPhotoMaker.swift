package import FoundationEssentials
package import SyncCore
import SyncDigest
import SyncSystem

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

/// A JPEG that went through the cut.
struct SharedPicture {
    let bytes: [UInt8]
    /// As it is seen.
    let size: PixelSize
    let takenAt: CaptureTime?

    /// The picture reduced and upright.
    /// - Parameter tellsNothing: without its times too.
    init(
        encoding reader: borrowing JPEGReader, _ policy: ReducePolicy, _ summary: ExifBlock.Summary?,
        _ takenAt: CaptureTime?, tellsNothing: Bool = false
    ) throws(PhotoError) {
        var policy = policy
        policy.stripLocation = true
        let plan = JPEGReduction(policy: policy, orientation: summary?.orientation)
        let output = try reader.reduce(plan, exif: nil)
        let exif = tellsNothing ? nil : summary?.sharedBlock(size: output.size, orientation: 1)
        bytes = try JPEGCut.cut(ByteStream(output.bytes), exif: exif)
        size = output.size
        self.takenAt = takenAt
    }

    /// The picture's data as it is, which may be damaged.
    /// - Parameter size: of the pixels as they lie in the file.
    init(
        keeping photo: ByteStream, of size: PixelSize, _ summary: ExifBlock.Summary?, _ takenAt: CaptureTime?
    ) throws(PhotoError) {
        let orientation = summary?.orientation ?? 1
        bytes = try JPEGCut.cut(photo, exif: summary?.sharedBlock(size: size, orientation: orientation))
        self.size = orientation < 5 ? size : PixelSize(width: size.height, height: size.width)
        self.takenAt = takenAt
    }

    var storedCopy: StoredCopy {
        StoredCopy(
            content: .reduced(bytes), type: .jpeg, digest: ContentDigest(of: bytes), width: size.width,
            height: size.height, takenAt: takenAt)
    }
}

extension PhotoSource {
    /// Hands out the photo as a JPEG whose header was read, and as bytes.
    /// - Throws: what `body` throws; `.notAPhoto` when it is no JPEG; `.changed` when its file was written to meanwhile.
    func read<Result>(
        within limits: PhotoLimits,
        _ body: (borrowing JPEGReader, ByteStream) throws(PhotoError) -> Result
    ) throws(PhotoError) -> Result {
        try PooledWork.step { () throws(PhotoError) in try readAsStep(within: limits, body) }
    }

    private func readAsStep<Result>(
        within limits: PhotoLimits,
        _ body: (borrowing JPEGReader, ByteStream) throws(PhotoError) -> Result
    ) throws(PhotoError) -> Result {
        switch self {
        case .bytes(let bytes):
            try Self.requireJPEG(bytes[...])
            return try bytes.decoded(within: limits) { (reader) throws(PhotoError) in
                try body(reader, ByteStream(bytes))
            }
        case .file(let path):
            let file = try PhotoFile(opening: path)
            let stamp = try file.stamp()
            let result: Swift.Result<Result, PhotoError>
            do {
                var stream = ByteStream(file.descriptor, size: stamp.size)
                try Self.requireJPEG(try stream.peek())
                let reader = try JPEGReader(reading: file.descriptor, limits: limits)
                result = .success(try body(reader, stream))
            } catch {
                result = .failure(error)
            }
            // Before the outcome counts: what was read while it was written may look damaged, and is not.
            try file.require(stamp)
            return try result.get()
        }
    }

    private static func requireJPEG(_ head: ArraySlice<UInt8>) throws(PhotoError) {
        let head = Array(head.prefix(4_096))
        guard !head.isEmpty else { throw PhotoError(.truncated, "the file is empty") }
        let type = MediaType(sniffing: head) ?? .unknown
        guard type.kind == .jpeg else {
            throw PhotoError(.notAPhoto, "only JPEG photos can be shared; this file is \(type), and may tell the place")
        }
    }
}

extension [UInt8] {
    /// Hands out a JPEG in memory whose header was read.
    func decoded<Result>(
        within limits: PhotoLimits, _ body: (borrowing JPEGReader) throws(PhotoError) -> Result
    ) throws(PhotoError) -> Result {
        try borrowed { (buffer) throws(PhotoError) in
            try body(try JPEGReader(reading: buffer, limits: limits))
        }
    }

    /// Hands out the bytes where they lie.
    func borrowed<Result>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(PhotoError) -> Result
    ) throws(PhotoError) -> Result {
        try withUnsafeBufferPointer(body)
    }
}
