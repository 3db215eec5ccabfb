package import FoundationEssentials
package import SyncCore
import SyncDigest
import SyncSystem
package import SystemPackage

/// The `PhotoReducer` for files on a disk: types by bytes, JPEG by libjpeg-turbo, EXIF by libexif, other pictures by
/// workers.
///
/// One value serves any number of threads. A call holds 256 KiB while it examines a file; while it
/// reduces one, a few MiB for a baseline JPEG of any size, and up to `PhotoLimits.memory` for a progressive one; where it
/// takes a place out of another image, the image twice (`PlaceCut.largest`).
package struct PhotoFileReducer: PhotoReducer {
    let pictures: PictureWorkers
    let now: @Sendable () -> Date

    /// - Parameters:
    ///   - pictures: decode what is no JPEG. They stay the caller's.
    ///   - now: a capture time that is still to come is none.
    package init(pictures: PictureWorkers = .none, now: @escaping @Sendable () -> Date = { Date() }) {
        self.pictures = pictures
        self.now = now
    }

    package func examine(_ path: FilePath) throws(PhotoError) -> PhotoFacts {
        let file = try PhotoFile(opening: path)
        let stamp = try file.stamp()
        // Its beginning and its size first: a file of a terabyte that nobody wants is not read to its end.
        let type = try Self.type(of: file.read(0..<Self.headSize), named: path)
        try Self.requireWanted(type, size: stamp.size, named: path)
        if type.kind == .sidecar { try Sidecar.requireWhole(file, size: stamp.size) }
        try file.requireWritten(size: stamp.size)
        let digest = try file.digest()
        guard try file.stamp() == stamp else { throw PhotoError(.changed, "the file was written to while it was read") }
        return PhotoFacts(stamp: stamp, type: type, digest: digest)
    }

    package func whyUnwanted(_ path: FilePath, stamp: FileStamp) -> String? {
        let name = FileName(path)
        guard !name.promisesMedia, !name.isJSON else { return nil }
        guard let head = try? read(path, 0..<Self.headSize, stamp: stamp),
            let type = try? Self.type(of: head, named: path)
        else { return nil }
        do throws(PhotoError) {
            try Self.requireWanted(type, size: stamp.size, named: path)
            return nil
        } catch {
            return error.code == .notStored ? error.message : nil
        }
    }

    /// How many of a file's first bytes tell what it is.
    private static let headSize = 4_096
    /// Bytes of a JSON file. Those that are read for events or projects have bounds of their own below it.
    private static let largestJSON: Int64 = 1 << 30
    /// Bytes of an object, beyond which no store goes: S3 takes 5 TiB, and what is larger would be read for hours first.
    private static let largestObject: Int64 = 5 << 40

    private static func requireWanted(_ type: MediaType, size: Int64, named path: FilePath) throws(PhotoError) {
        // A project's JSON is told by its name.
        if type == .unknown, !FileName(path).isJSON {
            throw PhotoError(
                .notStored,
                UnitName.isSidecar(path.lastComponent)
                    ? "it is named as a sidecar, and is none by its bytes; it stays on this machine"
                    : "neither a photo nor a video; it stays on this machine")
        }
        let limit =
            switch type.kind {
            case .jpeg: PhotoLimits().fileSize
            case .sidecar: largestObject
            case .other: largestJSON
            case .image, .video: largestObject
            }
        guard size <= limit else { throw PhotoError(.overLimit, "it has \(size) bytes, and the limit is \(limit)") }
    }

    package func reduce(
        _ path: FilePath, examined: PhotoFacts, policy: ReducePolicy
    ) throws(PhotoError) -> StoredCopy {
        let file = try PhotoFile(opening: path)
        try file.require(examined.stamp)
        var original = StoredCopy(content: .unchanged, type: examined.type, digest: examined.digest)
        original.takenAt = try PooledWork.step { () throws(PhotoError) in
            try file.captureTime(size: examined.stamp.size, at: now())
        }
        if examined.type.kind == .video {
            let facts = try PooledWork.step { () throws(PhotoError) in
                try file.filmFacts(of: examined.type, size: examined.stamp.size)
            }
            (original.width, original.height, original.duration) = (facts.width, facts.height, facts.duration)
            original.note = facts.damage.map { "stored as it is: \($0)" }
        }
        let unchanged = original
        let copy: StoredCopy
        if examined.type.kind == .jpeg {
            let descriptor = file.descriptor
            let photo = ByteStream(descriptor, size: examined.stamp.size)
            copy = try PooledWork.step { () throws(PhotoError) in
                try JPEGCopy(photo: photo, unchanged: unchanged, policy: policy).make { () throws(PhotoError) in
                    try JPEGReader(reading: descriptor, limits: policy.limits)
                }
            }
        } else {
            let size = examined.stamp.size
            let picture = PictureCopy(
                workers: pictures, photo: .file(file.descriptor, size: size), unchanged: unchanged, policy: policy,
                now: now())
            copy = try picture.make { () throws(PhotoError) in
                try Self.copy(of: file, size: size, unchanged, policy: policy)
            }
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
        if let type = Sidecar.type(of: head, named: path) { return type }
        if name.promisesMedia {
            guard !head.isEmpty else { throw PhotoError(.truncated, "the file is empty") }
            throw PhotoError(.notAPhoto, "the name says photo, but the file is \(UnknownBytes(head: head))")
        }
        return name.isJSON && UnknownBytes(head: head).looksLikeJSON ? .json : .unknown
    }
}

/// Photos that stand in files of gallery events, and those files.
extension PhotoFileReducer {
    package func reduce(
        _ photo: [UInt8], as known: MediaType?, policy: ReducePolicy
    ) throws(PhotoError) -> StoredCopy {
        var type = MediaType(sniffing: Array(photo.prefix(Self.headSize))) ?? .unknown
        if let known, type.name == "image/tiff", MediaType.rawNames.contains(known.name) { type = known }
        guard type.kind == .jpeg || type.kind == .image else {
            // Not said what it is instead: it may be somebody's words.
            throw PhotoError(.notAPhoto, "its photo is no picture")
        }
        var unchanged = StoredCopy(content: .unchanged, type: type, digest: ContentDigest(of: photo))
        unchanged.takenAt = try PooledWork.step { () throws(PhotoError) in
            try CaptureTimeReader(bytes: MetadataBytes(photo)).captureTime(at: now())
        }
        let original = unchanged
        guard type.kind == .jpeg else {
            let picture = PictureCopy(
                workers: pictures, photo: .bytes(photo), unchanged: original, policy: policy, now: now())
            return try picture.make { () throws(PhotoError) in
                try Self.copy(of: photo, original, policy: policy)
            }
        }
        return try PooledWork.step { () throws(PhotoError) in
            // The array is borrowed for as long as the reader lives.
            try photo.withUnsafeBufferPointer { (buffer) throws(PhotoError) in
                let copy = JPEGCopy(photo: ByteStream(photo), unchanged: original, policy: policy)
                return try copy.make { () throws(PhotoError) in
                    try JPEGReader(reading: buffer, limits: policy.limits)
                }
            }
        }
    }

    package func read(_ path: FilePath, _ range: Range<Int>, stamp: FileStamp) throws(PhotoError) -> [UInt8] {
        let file = try PhotoFile(opening: path)
        try file.require(stamp)
        let bytes = try file.read(range)
        try file.require(stamp)
        return bytes
    }
}

/// When photos were taken.
extension PhotoFileReducer: CaptureTimeSource {
    package func captureTime(of path: FilePath, stamp: FileStamp) throws(PhotoError) -> CaptureTime? {
        let file = try PhotoFile(opening: path)
        let found = try file.stamp()
        guard found.isUntouched(since: stamp) else {
            throw PhotoError(.changed, "the file changed after it was examined")
        }
        let time = try file.captureTime(size: found.size, at: now())
        try file.require(found)
        return time
    }
}
