package import FoundationEssentials
package import SyncCore
import SyncDigest
import SyncSystem
package import SystemPackage

/// The `SharedCopyMaker`: the codec of the stored copies, and one cut that every copy goes through. Pictures that are no
/// JPEG are decoded by workers, and become one.
///
/// One value serves any number of threads. A call holds its copy in memory once, and what decoding takes
/// (`PhotoLimits.memory` at most).
package struct SharedPhotoMaker: SharedCopyMaker {
    /// JPEG quality of thumbnails. At 320 pixels most photos take 10 to 20 KiB.
    private static let thumbnailQuality = 70
    /// JPEG quality at full size of what was no JPEG: there are no data of a picture that could be kept.
    private static let fullQuality = 90
    /// The longest side that a JPEG of ours may have.
    private static let fullDimension = 65_500

    private let pictures: PictureWorkers
    private let frames: FilmFrames?
    private let now: @Sendable () -> Date

    /// - Parameters:
    ///   - pictures: decode what is no JPEG. They stay the caller's.
    ///   - frames: makes pictures of films, where a program for that is installed.
    ///   - now: a capture time that is still to come is none.
    package init(
        pictures: PictureWorkers = .none, frames: FilmFrames? = nil, now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.pictures = pictures
        self.frames = frames
        self.now = now
    }

    package func sharedCopy(of photo: PhotoSource, size: SharedSize) throws(PhotoError) -> StoredCopy {
        let told = try photo.captureTime(at: now())
        let picture = try photo.read(within: size.limits, by: pictures) { (reader, photo) throws(PhotoError) in
            let takenAt = told ?? CaptureTimeClues(exif: photo.summary).captureTime(at: now())
            let summary = (photo.summary ?? ExifBlock.Summary()).withTime(takenAt)
            switch (size, photo.stream) {
            case (.reduced(let policy), let stream?) where reader.isWithin(policy.maximumDimension):
                let kept = try SharedPicture(keeping: stream, of: reader, summary, takenAt)
                let anew = try JPEGCopy.smaller(than: kept.bytes, policy) { (reader) throws(PhotoError) in
                    try SharedPicture(encoding: reader, policy, summary, takenAt)
                } count: {
                    $0.bytes.count
                }
                return anew ?? kept
            case (.reduced(let policy), _):
                return try SharedPicture(encoding: reader, policy, summary, takenAt)
            case (.full(let limits), let stream?):
                let kept = try SharedPicture(keeping: stream, of: reader, summary, takenAt)
                _ = try kept.bytes.decoded(within: limits) { (reader) throws(PhotoError) in try reader.requireWhole() }
                return kept
            case (.full(let limits), nil):
                let policy = ReducePolicy(
                    maximumDimension: Self.fullDimension, quality: Self.fullQuality, limits: limits)
                return try SharedPicture(encoding: reader, policy, summary, takenAt)
            }
        }
        return picture.storedCopy
    }

    package func thumbnail(of photo: PhotoSource, side: Int) throws(PhotoError) -> StoredCopy {
        let policy = ReducePolicy(maximumDimension: side, quality: Self.thumbnailQuality)
        let picture = try photo.read(within: policy.limits, by: pictures) { (reader, photo) throws(PhotoError) in
            try SharedPicture(encoding: reader, policy, photo.summary, nil, tellsNothing: true)
        }
        return picture.storedCopy
    }
}

/// Films.
extension SharedPhotoMaker {
    /// The longer side of a poster, in pixels.
    private static let posterSide = 2_048

    package func sharedFilm(_ film: PhotoSource, as type: FilmType) throws(PhotoError) -> StoredCopy {
        switch film {
        case .bytes(let bytes):
            var copy = try sharedFilm(
                FilmBytes(bytes), as: type, try BoxFile(MetadataBytes(bytes)).film(),
                takenAt: try film.captureTime(at: now()))
            guard case .patched(let patches) = copy.content else { return copy }
            var bytes = bytes
            bytes.withUnsafeMutableBytes { patches.apply(to: $0, at: 0) }
            copy.content = .reduced(bytes)
            return copy
        case .file(let path):
            let file = try PhotoFile(opening: path)
            let stamp = try file.stamp()
            let copy = try sharedFilm(
                FilmBytes(MetadataBytes(file, size: stamp.size)), as: type,
                try file.filmFacts(of: type.mediaType, size: stamp.size),
                takenAt: try file.captureTime(size: stamp.size, at: now()))
            try file.require(stamp)
            return copy
        }
    }

    package func requireSharable(film path: FilePath, as type: FilmType) throws(PhotoError) {
        let file = try PhotoFile(opening: path)
        let stamp = try file.stamp()
        do {
            let facts = try file.filmFacts(of: type.mediaType, size: stamp.size)
            _ = try sharedPatches(of: FilmBytes(MetadataBytes(file, size: stamp.size)), facts)
        } catch {
            try file.require(stamp)
            throw error
        }
        try file.require(stamp)
    }

    private func sharedPatches(of film: FilmBytes, _ facts: FilmFacts) throws(PhotoError) -> FilePatches {
        let patches: FilePatches
        do throws(PhotoError) {
            patches = try FilmCut.make(film, .shared)
        } catch {
            guard error.code == .tellsPlace else { throw error }
            throw PhotoError(.tellsPlace, "what it tells of you besides its pictures cannot be taken out of this film")
        }
        guard facts.width != nil, facts.height != nil else {
            throw PhotoError(.unsupported, "its width and height cannot be read")
        }
        return patches
    }

    private func sharedFilm(
        _ film: FilmBytes, as type: FilmType, _ facts: FilmFacts, takenAt: CaptureTime?
    ) throws(PhotoError) -> StoredCopy {
        let patches = try sharedPatches(of: film, facts)
        return StoredCopy(
            content: .patched(patches), type: type.mediaType, digest: try film.patched(by: patches).digest(),
            width: facts.width, height: facts.height, duration: facts.duration, takenAt: takenAt)
    }

    package func poster(of film: FilePath, lasting duration: Duration?) throws(PhotoError) -> StoredCopy? {
        guard let frames, let frame = try frames.frame(of: film, lasting: duration, within: Self.posterSide) else {
            return nil
        }
        do throws(PhotoError) {
            return try thumbnail(of: .bytes(frame), side: Self.posterSide)
        } catch {
            // The program made something else than a picture. That is no fault of the film.
            guard error.isPermanent else { throw error }
            frames.reportTrouble("\(error)")
            return nil
        }
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

    /// The picture's data as it is.
    /// - Parameter reader: of the photo; used up.
    init(
        keeping photo: ByteStream, of reader: borrowing JPEGReader, _ summary: ExifBlock.Summary?,
        _ takenAt: CaptureTime?
    ) throws(PhotoError) {
        let orientation = summary?.orientation ?? 1
        let exif = summary?.sharedBlock(size: reader.size, orientation: orientation)
        bytes = try JPEGCut.cut(photo, of: reader, exif: exif)
        size = reader.size.turned(by: orientation)
        self.takenAt = takenAt
    }

    var storedCopy: StoredCopy {
        StoredCopy(
            content: .reduced(bytes), type: .jpeg, digest: ContentDigest(of: bytes), width: size.width,
            height: size.height, takenAt: takenAt)
    }
}

/// What is known of a photo beside the reader of its picture.
struct SourcePhoto {
    /// The file of a JPEG; `nil` for other pictures, of which nothing can be kept.
    var stream: ByteStream?
    /// Its orientation is that of the reader's samples.
    var summary: ExifBlock.Summary?
}

extension PhotoSource {
    /// Hands out a reader of the photo's picture, and what else it tells.
    /// - Throws: what `body` throws; `.notAPhoto` when it is no picture; `.unsupported` when there is no decoder for it;
    ///   `.changed` when its file was written to meanwhile.
    func read<Result>(
        within limits: PhotoLimits, by pictures: PictureWorkers,
        _ body: (borrowing JPEGReader, SourcePhoto) throws(PhotoError) -> Result
    ) throws(PhotoError) -> Result {
        try PooledWork.step { () throws(PhotoError) in try readAsStep(within: limits, by: pictures, body) }
    }

    private func readAsStep<Result>(
        within limits: PhotoLimits, by pictures: PictureWorkers,
        _ body: (borrowing JPEGReader, SourcePhoto) throws(PhotoError) -> Result
    ) throws(PhotoError) -> Result {
        switch self {
        case .bytes(let bytes):
            if let format = try Self.format(of: bytes[...], named: nil) {
                return try pictures.read(.bytes(bytes), as: format, within: limits, body)
            }
            return try bytes.decoded(within: limits) { (reader) throws(PhotoError) in
                try body(reader, SourcePhoto(stream: ByteStream(bytes), summary: reader.exif?.summary))
            }
        case .file(let path):
            let file = try PhotoFile(opening: path)
            let stamp = try file.stamp()
            let result: Swift.Result<Result, PhotoError>
            do {
                var stream = ByteStream(file.descriptor, size: stamp.size)
                if let format = try Self.format(of: try stream.peek(), named: path) {
                    let source = PictureSource.file(file.descriptor, size: stamp.size)
                    result = .success(try pictures.read(source, as: format, within: limits, body))
                } else {
                    let reader = try JPEGReader(reading: file.descriptor, limits: limits)
                    let photo = SourcePhoto(stream: stream, summary: reader.exif?.summary)
                    result = .success(try body(reader, photo))
                }
            } catch {
                result = .failure(error)
            }
            // Before the outcome counts: what was read while it was written may look damaged, and is not.
            try file.require(stamp)
            return try result.get()
        }
    }

    /// - Returns: `nil` for a JPEG.
    private static func format(of head: ArraySlice<UInt8>, named path: FilePath?) throws(PhotoError) -> PictureFormat? {
        let head = Array(head.prefix(4_096))
        guard !head.isEmpty else { throw PhotoError(.truncated, "the file is empty") }
        let sniffed = MediaType(sniffing: head) ?? .unknown
        if sniffed.kind == .jpeg { return nil }
        let type = path.map { FileName($0).refined(sniffed) } ?? sniffed
        guard let format = PictureFormat(type) else {
            throw PhotoError(.notAPhoto, "only photos can be shared; this file is \(type), and may tell the place")
        }
        return format
    }
}

extension PictureWorkers {
    fileprivate func read<Result>(
        _ source: PictureSource, as format: PictureFormat, within limits: PhotoLimits,
        _ body: (borrowing JPEGReader, SourcePhoto) throws(PhotoError) -> Result
    ) throws(PhotoError) -> Result {
        guard program != nil else { throw .noDecoder }
        return try decoded(source, as: format, within: limits) { (picture) throws(PhotoError) -> Result in
            var summary = picture.exif?.summary ?? ExifBlock.Summary()
            summary.orientation = picture.orientation
            let photo = SourcePhoto(stream: nil, summary: summary)
            return try picture.read(within: limits) { (reader) throws(PhotoError) in try body(reader, photo) }
        }
    }
}

extension [UInt8] {
    /// Hands out a JPEG in memory whose header was read.
    func decoded<Result>(
        within limits: PhotoLimits, _ body: (borrowing JPEGReader) throws(PhotoError) -> Result
    ) throws(PhotoError) -> Result {
        try withUnsafeBufferPointer { (buffer) throws(PhotoError) in
            try body(try JPEGReader(reading: buffer, limits: limits))
        }
    }
}
