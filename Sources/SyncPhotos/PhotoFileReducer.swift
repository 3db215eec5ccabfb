package import SyncCore
import SyncDigest
package import SystemPackage

/// The `PhotoReducer` for files on a disk: types by bytes, JPEG by libjpeg-turbo, EXIF by libexif.
///
/// Holds no state: one value serves any number of threads. A call holds 256 KiB while it examines a file; while it
/// reduces one, a few MiB for a baseline JPEG of any size, and up to `PhotoLimits.memory` for a progressive one.
package struct PhotoFileReducer: PhotoReducer {
    package init() {}

    package func examine(_ path: FilePath) throws(PhotoError) -> PhotoExamination {
        let file = try PhotoFile(opening: path)
        let stamp = try file.stamp()
        // Its beginning and its size first: a file of a terabyte that nobody wants is not read to its end.
        let type = try Self.type(of: file.read(0..<Self.headSize), named: path)
        try Self.requireWanted(type, size: stamp.size, named: path)
        let digest = try file.digest()
        guard try file.stamp() == stamp else {
            throw PhotoError(.changed, "the file was written to while it was read")
        }
        return PhotoExamination(stamp: stamp, type: type, digest: digest)
    }

    /// How many of a file's first bytes tell what it is.
    private static let headSize = 4_096
    /// Bytes of a JSON file. Those that are read for events or projects have bounds of their own below it.
    private static let largestJSON: Int64 = 1 << 30

    private static func requireWanted(_ type: MediaType, size: Int64, named path: FilePath) throws(PhotoError) {
        // A project's JSON is told by its name.
        if type == .unknown, !FileName(path).isJSON {
            throw PhotoError(.notStored, "neither a photo nor a video; it stays on this machine")
        }
        let limit =
            switch type.kind {
            case .jpeg: PhotoLimits().fileSize
            case .other: largestJSON
            case .image, .video: Int64.max
            }
        guard size <= limit else {
            throw PhotoError(.overLimit, "it has \(size) bytes, and the limit is \(limit)")
        }
    }

    package func reduce(
        _ path: FilePath, examined: PhotoExamination, policy: ReducePolicy
    ) throws(PhotoError) -> StoredCopy {
        let file = try PhotoFile(opening: path)
        try file.require(examined.stamp)
        let unchanged = StoredCopy(content: .unchanged, type: examined.type, digest: examined.digest)
        guard examined.type.kind == .jpeg else { return unchanged }

        let descriptor = file.descriptor
        let copy = try PooledWork.step { () throws(PhotoError) in
            let reader = try JPEGReader(reading: descriptor, limits: policy.limits)
            return try Self.reduce(reader, of: examined.stamp.size, unchanged: unchanged, policy: policy)
        }
        try file.require(examined.stamp)
        return copy
    }

    /// What the bytes are. A name that promises a photo or a video must be one.
    private static func type(of head: [UInt8], named path: FilePath) throws(PhotoError) -> MediaType {
        let name = FileName(path)
        if let type = MediaType(sniffing: head) {
            return name.refined(type)
        }
        if name.promisesMedia {
            guard !head.isEmpty else { throw PhotoError(.truncated, "the file is empty") }
            throw PhotoError(.notAPhoto, "the name says photo, but the file is \(UnknownBytes(head))")
        }
        return name.isJSON && UnknownBytes(head).looksLikeJSON ? .json : .unknown
    }

    /// - Parameters:
    ///   - size: bytes of the JPEG.
    ///   - unchanged: the copy that is the JPEG itself.
    static func reduce(
        _ reader: borrowing JPEGReader, of size: Int64, unchanged: StoredCopy, policy: ReducePolicy
    ) throws(PhotoError) -> StoredCopy {
        let exif = reader.exif
        let summary = exif?.summary
        let plan = JPEGReduction(policy: policy, orientation: summary?.orientation)
        let target = reader.reducedSize(plan)
        let corrected = exif?.corrected(size: target, stripLocation: policy.stripLocation)
        // Within the limit too: only a decoder that came to the end of a picture can tell that it is whole.
        let output = try reader.reduce(plan, exif: corrected)

        var copy = unchanged
        copy.takenAt = summary?.captureTime
        // A copy that must not tell the place is never the file itself: it may name it in XMP as well.
        if reader.isWithin(policy.maximumDimension), output.bytes.count >= size, !policy.stripLocation {
            copy.width = reader.size.width
            copy.height = reader.size.height
            return copy
        }
        copy.content = .reduced(output.bytes)
        copy.digest = ContentDigest(of: output.bytes)
        copy.width = output.size.width
        copy.height = output.size.height
        return copy
    }
}
