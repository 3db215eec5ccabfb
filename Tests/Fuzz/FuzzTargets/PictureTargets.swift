import CSyncExif
import CSyncJPEG
import FoundationEssentials
import SyncDigest

@testable import SyncCore
@testable import SyncPhotos

/// Readers of pictures.
enum PictureTargets {
    /// Small, so that a picture that asks for much is refused and not decoded.
    private static let limits = PhotoLimits(fileSize: 1 << 20, pixels: 1 << 20, memory: 64 << 20)
    private static let reducer = PhotoFileReducer(now: { Date(timeIntervalSince1970: 4_000_000_000) })

    /// Decoded within the limits and encoded anew, the shim itself: what comes out can be read, has the size that was told
    /// and asked for, and is the same each time.
    static func jpeg(_ bytes: [UInt8]) -> Bool {
        var choice = Choice(bytes)
        var options = CSyncJPEG_Options(
            max_dimension: Int32([1, 7, 64, 300, 65_500][choice.number(below: 5)]),
            quality: Int32(1 + choice.number(below: 100)), orientation: Int32(choice.number(below: 10)),
            keep_iptc: choice.number(below: 2) == 0)
        var exif: [UInt8] = []
        guard let once = reduced(bytes, &options, &exif) else { return false }
        guard let again = reduced(bytes, &options, &exif) else {
            promise(false, "what was decoded once is not decoded again")
            return false
        }
        promise(once.bytes == again.bytes, "one picture gives two")
        promise(max(once.width, once.height) <= options.max_dimension, "a copy is larger than asked for")
        promise(once.peak <= 64 << 20, "decoding took \(once.peak) bytes")
        guard let info = information(once.bytes) else {
            promise(false, "our own decoder does not read our own copy")
            return false
        }
        promise(info.width == once.width && info.height == once.height, "a copy has another size than was told")
        promise(!info.progressive && !info.arithmetic, "a copy is not baseline")
        return true
    }

    private static func reduced(
        _ bytes: [UInt8], _ options: inout CSyncJPEG_Options, _ exif: inout [UInt8]
    ) -> (bytes: [UInt8], width: Int32, height: Int32, peak: Int64)? {
        var (limits, failure) = (shimLimits, CSyncJPEG_Failure())
        guard let reader = CSyncJPEG_openBytes(bytes, bytes.count, &limits, &failure) else {
            requireReason(failure)
            return nil
        }
        defer { CSyncJPEG_close(reader) }
        let info = CSyncJPEG_info(reader)
        promise(info.width > 0 && info.height > 0, "a picture without a size was opened")
        promise(Int64(info.width) * Int64(info.height) <= limits.pixels, "more pixels than the limit were let in")
        promise(info.coefficient_bytes <= limits.memory_bytes, "more coefficients than the limit were let in")
        // What it says is no matter here: it looks at a header that no decoder has judged.
        _ = CSyncJPEG_isAsCoarse(reader, options.quality)
        var count = 0
        if let block = CSyncJPEG_exif(reader, &count) {
            exif = Array(UnsafeBufferPointer(start: block, count: min(count, 65_527)))
        }
        var output = CSyncJPEG_Output()
        guard CSyncJPEG_reduce(reader, &options, exif, exif.count, &output, &failure) == CSYNC_JPEG_OK else {
            promise(output.bytes == nil, "a failure has an output")
            requireReason(failure)
            return nil
        }
        defer { CSyncJPEG_freeOutput(&output) }
        return (
            Array(UnsafeBufferPointer(start: output.bytes, count: output.count)), output.width, output.height,
            output.peak_bytes
        )
    }

    private static var shimLimits: CSyncJPEG_Limits {
        CSyncJPEG_Limits(
            file_bytes: limits.fileSize, pixels: limits.pixels, memory_bytes: limits.memory, scans: 20)
    }

    private static func requireReason(_ failure: CSyncJPEG_Failure) {
        promise(failure.status != CSYNC_JPEG_OK, "a failure without a status")
        promise(failure.status != CSYNC_JPEG_INTERNAL, "a picture is called a mistake of the shim")
        let words = withUnsafeBytes(of: failure.message) { $0.firstIndex(of: 0) }
        promise(words.map { $0 > 0 } ?? false, "a failure without words, or without their end")
    }

    private static func information(_ bytes: [UInt8]) -> CSyncJPEG_Info? {
        var (limits, failure) = (shimLimits, CSyncJPEG_Failure())
        limits.file_bytes = 1 << 30
        guard let reader = CSyncJPEG_openBytes(bytes, bytes.count, &limits, &failure) else { return nil }
        defer { CSyncJPEG_close(reader) }
        return CSyncJPEG_info(reader)
    }

    /// What is made of a block tells no place, is made once, and keeps the times.
    static func exif(_ bytes: [UInt8]) -> Bool {
        guard !bytes.isEmpty else { return false }
        let block = ExifBlock(bytes: bytes)
        let summary = block.summary
        if let corrected = block.corrected(size: PixelSize(width: 40, height: 30)) {
            promise(corrected.bytes.count <= bytes.count, "a corrected block has grown")
            promise((corrected.summary.orientation ?? 1) == 1, "a corrected block is not upright")
            let twice = corrected.corrected(size: PixelSize(width: 40, height: 30))
            promise(twice?.bytes == corrected.bytes, "a block is corrected twice")
        }
        if let shared = summary.sharedBlock(size: PixelSize(width: 40, height: 30), orientation: 6) {
            let read = shared.summary
            promise(read.position == nil && shared.partsThatTellPlaces.isEmpty, "a shared block tells a place")
            promise(read.taken?.text == summary.taken?.text, "a shared block tells another time")
            promise(read.orientation == 6, "a shared block tells another orientation")
        }
        guard let kept = block.withoutPlace() else { return false }
        requireNoPlace(kept)
        promise(kept.withoutPlace()?.bytes == kept.bytes, "a place is taken out twice")
        promise(kept.bytes.count <= ExifBlock.largest, "a block without its place fits into no segment")
        return true
    }

    private static func requireNoPlace(_ block: ExifBlock) {
        promise(block.partsThatTellPlaces.isEmpty, "\(block.partsThatTellPlaces) are left in a block")
        promise(CSyncExif_read(block.bytes, block.bytes.count).has_gps == false, "a position is left in a block")
        promise(!CSyncExif_read(block.bytes, block.bytes.count).has_maker_note, "a maker note is left in a block")
    }

    /// Cut, a photo has nothing but the segments of the list, is cut once, and is a picture if it was one.
    static func cut(_ bytes: [UInt8]) -> Bool {
        guard bytes.starts(with: [0xFF, 0xD8, 0xFF]), let cut = try? JPEGCut.cut(ByteStream(bytes), exif: nil) else {
            return false
        }
        requireSegments(cut)
        promise((try? JPEGCut.cut(ByteStream(cut), exif: nil)) == cut, "a photo is cut twice")
        if let parts = try? JPEGParts(ByteStream(cut)) {
            promise(parts.beside.isEmpty, "\(parts.beside) are left beside a picture")
            promise(parts.header.exif == nil, "EXIF is left")
            promise(parts.end == nil || parts.end == Int64(cut.count), "something stands behind the picture's end")
        }
        guard isWhole(bytes) else { return false }
        promise(isWhole(cut), "a whole picture is damaged by the cut")
        return true
    }

    private static func isWhole(_ bytes: [UInt8]) -> Bool {
        let length = try? bytes.decoded(within: limits) { (reader) throws(PhotoError) in
            try reader.requireWhole()
        }
        return length != nil
    }

    /// A walk of its own over the segments in front of the first scan: what is there is on the list.
    private static func requireSegments(_ bytes: [UInt8]) {
        var at = 2
        while at + 4 <= bytes.count, bytes[at] == 0xFF, bytes[at + 1] != 0xDA, bytes[at + 1] != 0xD9 {
            let (marker, length) = (bytes[at + 1], Int(bytes[at + 2]) << 8 | Int(bytes[at + 3]))
            guard length >= 2, at + 2 + length <= bytes.count else { return promise(false, "a segment is cut off") }
            let body = Array(bytes[at + 4..<at + 2 + length])
            switch marker {
            case 0xE0: promise(body.count == 14 && body.has("JFIF\0"), "another APP0 than JFIF's is left")
            case 0xE2: promise(body.has("ICC_PROFILE\0"), "another APP2 than a profile is left")
            case 0xEE: promise(body.count == 12 && body.has("Adobe"), "another APP14 than Adobe's is left")
            case 0xC0...0xC7, 0xC9...0xCF, 0xDB...0xDF: break
            default: promise(false, "a segment \(String(marker, radix: 16)) is left")
            }
            at += 2 + length
        }
    }

    /// What a film tells of itself, and both of its cuts: what comes out is as long, passes the check, has pictures and sound
    /// where they were, and is not cut a second time.
    static func film(_ bytes: [UInt8]) -> Bool {
        if let facts = try? BoxFile(MetadataBytes(bytes)).film() {
            promise(facts.duration.map { $0 >= .milliseconds(1) } ?? true, "a film lasts for no time")
            promise((facts.width == nil) == (facts.height == nil), "a film has one side")
        }
        var isCut = false
        for rules in [FilmRules.stored, .shared] {
            guard let patches = try? FilmCut.make(FilmBytes(bytes), rules) else { continue }
            isCut = true
            var film = bytes
            film.withUnsafeMutableBytes { patches.apply(to: $0, at: 0) }
            do {
                try MovieCheck.require(FilmBytes(film), rules)
                var again = film
                try FilmCut.make(FilmBytes(film), rules).apply(to: &again)
                promise(again == film, "a film is cut twice")
            } catch {
                promise(false, "the cut of a film is refused: \(error)")
            }
        }
        return isCut
    }

    /// The whole way of a photo of any kind to a stored and to a shared copy, with its place left out. A copy tells no place:
    /// nothing of it has to go a second time.
    static func photo(_ bytes: [UInt8]) -> Bool {
        _ = try? reducer.reduce(bytes, policy: ReducePolicy(maximumDimension: 64, limits: limits))
        let policy = ReducePolicy(maximumDimension: 65_500, quality: 90, stripLocation: true, limits: limits)
        guard let copy = try? reducer.reduce(bytes, policy: policy) else { return false }
        let stored: [UInt8] = if case .reduced(let stored) = copy.content { stored } else { bytes }
        promise(copy.digest == ContentDigest(of: stored), "a copy has another digest")
        do {
            let twice = try reducer.reduce(stored, policy: policy)
            promise(twice.dropped.isEmpty, "\(twice.dropped) are left in a copy of \(copy.type)")
            if copy.type.kind == .image { promise(twice.content == .unchanged, "a place is taken out twice") }
        } catch {
            promise(false, "a stored copy of \(copy.type) is no photo: \(error)")
        }
        guard copy.type.kind == .jpeg,
            let shared = try? SharedPhotoMaker().sharedCopy(
                of: .bytes(bytes), size: .full(limits)), case .reduced(let left) = shared.content
        else { return true }
        let parts = try? JPEGParts(ByteStream(left))
        promise(parts.map(\.beside.isEmpty) ?? false, "a shared copy has more than its picture")
        if let exif = parts?.header.exif { requireNoPlace(exif) }
        return true
    }
}

extension FilePatches {
    fileprivate func apply(to bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { apply(to: $0, at: 0) }
    }
}
