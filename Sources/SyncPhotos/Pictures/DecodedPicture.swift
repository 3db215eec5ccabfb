import CSyncDecoder
import CSyncJPEG
import FoundationEssentials
import SyncCore
import SyncDigest
import SyncSystem
import SystemPackage

/// A picture that a worker has decoded: its samples in memory that both share, and what its file tells beside them.
struct DecodedPicture {
    private enum Content {
        /// Of the profile, nothing is filled in.
        case samples(CSyncJPEG_Samples, in: MemoryFile)
        /// The preview of a camera's raw file.
        case jpeg([UInt8])
    }

    private let content: Content
    /// Of the samples as they lie, or of the raw picture.
    let size: PixelSize
    /// Of EXIF, 1 to 8: by which the samples are still to be turned.
    let orientation: Int
    private let profile: [UInt8]
    let exif: ExifBlock?
    /// What the file has, and samples have not.
    let beside: Set<DroppedPart>
    /// Bytes of its file up to the picture's end; `nil` where that is not known.
    let end: Int64?

    /// Hands out a reader of the picture, from which a JPEG can be made.
    func read<Result>(
        within limits: PhotoLimits, _ body: (borrowing JPEGReader) throws(PhotoError) -> Result
    ) throws(PhotoError) -> Result {
        switch content {
        case .jpeg(let bytes):
            return try bytes.withUnsafeBufferPointer { (buffer) throws(PhotoError) in
                try body(try JPEGReader(reading: buffer, limits: limits, memory: nil))
            }
        case .samples(let samples, let memory):
            let reader = try JPEGReader(reading: samples, in: memory, profile: profile, limits: limits)
            return try body(reader)
        }
    }

    var isPreview: Bool {
        if case .jpeg = content { true } else { false }
    }
}

extension WorkerAnswer<DecodedPicture?> {
    /// Bytes; larger profiles and blocks are no use in a JPEG.
    private static var mostProfile: UInt64 { 4 << 20 }
    private static var mostExif: UInt64 { 1 << 20 }
    fileprivate static var mostPreview: UInt64 { 128 << 20 }

    /// - Parameters:
    ///   - samples: what the worker was given to fill. It may still write to it.
    ///   - pixels: that it was allowed.
    static func picture(
        _ reply: CSyncDecoder_Reply, in samples: MemoryFile, format: PictureFormat, pixels: Int64
    ) -> Self {
        if let failure = Self.failure(reply) { return failure }
        guard let size = try? samples.size() else {
            return .failure(PhotoError(.outOfResources, "its samples cannot be read"))
        }
        let (width, height) = (Int64(reply.width), Int64(reply.height))
        guard width > 0, height > 0, width * height <= pixels else {
            return .nonsense("a picture of \(width) × \(height) pixels")
        }
        guard (1...8).contains(reply.orientation) else { return .nonsense("orientation \(reply.orientation)") }
        for (offset, count) in [
            (reply.samples_offset, reply.samples_bytes), (reply.icc_offset, reply.icc_bytes),
            (reply.exif_offset, reply.exif_bytes),
        ] {
            let (end, isOver) = offset.addingReportingOverflow(count)
            guard !isOver, end <= UInt64(max(size, 0)) else { return .nonsense("bytes behind the end of its memory") }
        }
        do throws(Errno) {
            let picture = try DecodedPicture(
                reply, samples, format, profile: bytes(of: samples, reply.icc_offset, reply.icc_bytes, mostProfile),
                exif: bytes(of: samples, reply.exif_offset, reply.exif_bytes, mostExif))
            guard let picture else { return .nonsense("samples of an unknown kind or of another size") }
            return .content(picture)
        } catch {
            return .failure(PhotoError(.outOfResources, "its samples cannot be read: \(error)"))
        }
    }

    private static func bytes(
        of memory: MemoryFile, _ offset: UInt64, _ count: UInt64, _ most: UInt64
    ) throws(Errno) -> [UInt8] {
        guard count > 0, count <= most else { return [] }
        return try memory.bytes(from: Int64(offset), Int(count))
    }
}

extension DecodedPicture {
    /// `nil` when the samples are none that a picture of this size has.
    fileprivate init?(
        _ reply: CSyncDecoder_Reply, _ memory: MemoryFile, _ format: PictureFormat, profile: [UInt8], exif: [UInt8]
    ) throws(Errno) {
        size = PixelSize(width: Int(reply.width), height: Int(reply.height))
        orientation = Int(reply.orientation)
        self.exif = exif.isEmpty ? nil : ExifBlock(bytes: exif)
        beside = Self.parts(reply.dropped, format)
        end = Int64(exactly: reply.picture_end).flatMap { $0 > 0 ? $0 : nil }
        if format == .raw, reply.colour == 0 {
            guard reply.samples_bytes > 0, reply.samples_bytes <= WorkerAnswer<DecodedPicture?>.mostPreview else {
                return nil
            }
            content = .jpeg(try memory.bytes(from: Int64(reply.samples_offset), Int(reply.samples_bytes)))
            self.profile = []
            return
        }
        let (width, height) = (UInt64(reply.width), UInt64(reply.height))
        var (across, down): (UInt64, UInt64) = (1, 1)
        let colour: CSyncJPEG_Colour
        switch reply.colour {
        case 1: colour = CSYNC_JPEG_GRAY
        case 2 where (1...2).contains(reply.horizontal) && (1...2).contains(reply.vertical):
            colour = CSYNC_JPEG_YCBCR
            (across, down) = (UInt64(reply.horizontal), UInt64(reply.vertical))
        case 3: colour = CSYNC_JPEG_RGB
        default: return nil
        }
        let chroma = (width + across - 1) / across * ((height + down - 1) / down)
        guard reply.samples_bytes == width * height + (colour == CSYNC_JPEG_GRAY ? 0 : 2 * chroma) else { return nil }
        let samples = CSyncJPEG_Samples(
            colour: colour, width: reply.width, height: reply.height, across: Int32(across), down: Int32(down),
            offset: Int64(reply.samples_offset), icc: nil, icc_count: 0)
        content = .samples(samples, in: memory)
        self.profile = Self.isProfile(profile, ofGray: colour == CSYNC_JPEG_GRAY) ? profile : []
    }

    /// Whether an ICC profile is one for such samples (ICC.1:2022, 7.2): readers show others wrong, or not at all.
    private static func isProfile(_ profile: [UInt8], ofGray isGray: Bool) -> Bool {
        profile.count >= 128 && profile.has("acsp", at: 36) && profile.has(isGray ? "GRAY" : "RGB ", at: 16)
            && profile.big(at: 0) == profile.count
    }

    private static func parts(_ bits: UInt32, _ format: PictureFormat) -> Set<DroppedPart> {
        let known: [(CSyncDecoder_Dropped, DroppedPart)] = [
            (CSYNC_DECODER_DROPPED_ALPHA, .alpha), (CSYNC_DECODER_DROPPED_GAIN_MAP, .gainMap),
            (CSYNC_DECODER_DROPPED_AUXILIARY, .secondPicture), (CSYNC_DECODER_DROPPED_PICTURES, format.furtherPictures),
            (CSYNC_DECODER_DROPPED_XMP, .xmp), (CSYNC_DECODER_DROPPED_DEPTH, .depth),
        ]
        let parts = Set(known.filter { bits & $0.0.rawValue != 0 }.map(\.1))
        return format == .raw ? parts.union([.raw]) : parts
    }
}

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

    private func copy(of picture: DecodedPicture, _ reader: borrowing JPEGReader) throws(PhotoError) -> StoredCopy {
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
                ExifBlock.Summary().withTime($0).sharedBlock(size: target, orientation: 1)
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
