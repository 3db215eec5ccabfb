import SyncCore
import SyncDigest

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
