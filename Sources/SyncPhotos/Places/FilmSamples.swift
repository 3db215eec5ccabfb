import SyncCore
import SyncDigest
import SyncSystem

/// Where the pictures and the sound of a film lie in its file (ISO 14496-12, 8.7).
struct FilmSamples {
    private static let mostChunks = 2_000_000
    /// Above all files, and far below what a sum may come to.
    private static let mostBytes = 1 << 50

    private var chunks: [Range<Int>] = []

    /// - Parameters:
    ///   - index: the body of `moov` in `bytes`.
    ///   - data: bodies of `mdat`.
    /// - Returns: what of the data belongs to no track, in its order.
    /// - Throws: `.tellsPlace` where a track's tables do not fit each other or the data, or there is no track at all.
    static func strayData(
        beside index: Range<Int>, of bytes: [UInt8], in data: [Range<Int>]
    ) throws(PhotoError) -> [Range<Int>] {
        var samples = FilmSamples()
        for track in try bytes.boxes(in: index, of: FilmRules.name) where track.type == "trak" {
            try samples.note(track.body, of: bytes)
        }
        let (all, used) = (RangeList(data), RangeList(samples.chunks))
        guard !used.ranges.isEmpty || all.ranges.isEmpty, all.holds(used) else { throw .unclear(FilmRules.name) }
        var strays: [Range<Int>] = []
        var next = 0
        for piece in all.ranges {
            var at = piece.lowerBound
            while next < used.ranges.count, used.ranges[next].lowerBound < piece.upperBound {
                if at < used.ranges[next].lowerBound { strays.append(at..<used.ranges[next].lowerBound) }
                at = used.ranges[next].upperBound
                next += 1
            }
            if at < piece.upperBound { strays.append(at..<piece.upperBound) }
        }
        return strays
    }

    private mutating func note(_ track: Range<Int>, of bytes: [UInt8]) throws(PhotoError) {
        var body = track
        for name in ["mdia", "minf", "stbl"] {
            guard let box = try bytes.boxes(in: body, of: FilmRules.name).first(where: { $0.type == name }) else {
                throw .unclear(FilmRules.name)
            }
            body = box.body
        }
        var tables: [String: Range<Int>] = [:]
        for box in try bytes.boxes(in: body, of: FilmRules.name) {
            guard tables.updateValue(box.body, forKey: box.type) == nil || box.type == "sgpd" || box.type == "sbgp"
            else {
                throw .unclear(FilmRules.name)
            }
        }
        guard let sizes = tables["stsz"] else { throw .unclear(FilmRules.name) }
        let offsets = try Table(tables["stco"] ?? tables["co64"], of: bytes, width: tables["stco"] == nil ? 8 : 4)
        let runs = try Table(tables["stsc"], of: bytes, width: 12)
        let samples = try SampleSizes(sizes, of: bytes)
        // Writers of QuickTime give samples of plain sound one byte, whatever they have: nobody knows where it ends.
        if samples.areAlike, try bytes.handler(ofTrack: track) == "soun" {
            throw .place("it is a film with sound of which its tables do not tell where it lies")
        }
        try note(samples, offsets, runs)
    }

    /// - Parameter runs: from which chunk on each has how many samples.
    private mutating func note(_ sizes: SampleSizes, _ offsets: Table, _ runs: Table) throws(PhotoError) {
        guard chunks.count + offsets.count <= Self.mostChunks else { throw .unclear(FilmRules.name) }
        var (sample, run) = (0, 0)
        for chunk in 0..<offsets.count where sample < sizes.count {
            while run + 1 < runs.count, runs.number(run + 1, at: 0) <= chunk + 1 { run += 1 }
            guard run < runs.count, runs.number(run, at: 0) <= chunk + 1 else { throw .unclear(FilmRules.name) }
            let count = runs.number(run, at: 4)
            guard count > 0, count <= sizes.count - sample else { throw .unclear(FilmRules.name) }
            let (start, length) = (offsets.number(chunk, at: 0), sizes.sum(sample, count))
            guard start >= 0, start < Self.mostBytes, length < Self.mostBytes else { throw .unclear(FilmRules.name) }
            chunks.append(start..<start + length)
            sample += count
        }
        guard sample == sizes.count else { throw .unclear(FilmRules.name) }
    }

    /// A table of numbers behind version and count.
    private struct Table {
        private let bytes: [UInt8]
        private let start: Int
        private let width: Int
        let count: Int

        init(_ body: Range<Int>?, of bytes: [UInt8], width: Int) throws(PhotoError) {
            guard let body, body.count >= 8, let count = bytes.big(at: body.lowerBound + 4),
                count <= (body.count - 8) / width
            else { throw .unclear(FilmRules.name) }
            (self.bytes, start, self.width, self.count) = (bytes, body.lowerBound + 8, width, count)
        }

        /// - Parameter place: of the number in its row.
        func number(_ row: Int, at place: Int) -> Int {
            bytes.big(at: start + row * width + place, size: width == 8 ? 8 : 4) ?? -1
        }
    }

    private struct SampleSizes {
        private let bytes: [UInt8]
        private let start: Int
        private let each: Int
        let count: Int

        init(_ body: Range<Int>, of bytes: [UInt8]) throws(PhotoError) {
            guard body.count >= 12, let each = bytes.big(at: body.lowerBound + 4),
                let count = bytes.big(at: body.lowerBound + 8),
                each > 0 ? count <= mostBytes / each : count <= (body.count - 12) / 4
            else { throw .unclear(FilmRules.name) }
            (self.bytes, start, self.each, self.count) = (bytes, body.lowerBound + 12, each, count)
        }

        var areAlike: Bool { each > 0 && count > 0 }

        func sum(_ first: Int, _ count: Int) -> Int {
            if each > 0 { return each * count }
            return (first..<first + count).reduce(0) { $0 + (bytes.big(at: start + 4 * $1) ?? 0) }
        }
    }
}

/// A film's bytes, read here and there, as they are or as patches make them.
struct FilmBytes {
    private static let windowSize = 256 << 10

    private let source: MetadataBytes
    private let patches: FilePatches

    init(_ source: MetadataBytes, patches: FilePatches = .none) {
        self.source = source
        self.patches = patches
    }

    init(_ bytes: [UInt8]) { self.init(MetadataBytes(bytes)) }

    var size: Int { Int(source.size) }

    func patched(by patches: FilePatches) -> FilmBytes { FilmBytes(source, patches: patches) }

    /// - Throws: `.changed` where the film ends before the range does.
    func read(_ range: Range<Int>) throws(PhotoError) -> [UInt8] {
        var bytes = try source.part(range)
        guard bytes.count == range.count else { throw PhotoError(.changed, "the film became shorter meanwhile") }
        bytes.withUnsafeMutableBytes { patches.apply(to: $0, at: Int64(range.lowerBound)) }
        return bytes
    }

    /// Hands out all bytes of a range, a window at a time.
    func readAll(of range: Range<Int>, _ body: ([UInt8]) throws(PhotoError) -> Void) throws(PhotoError) {
        var at = range.lowerBound
        while at < range.upperBound {
            try PhotoError.checkStopped()
            let end = min(at + Self.windowSize, range.upperBound)
            try body(try read(at..<end))
            at = end
        }
    }

    func digest() throws(PhotoError) -> ContentDigest {
        var hasher = ContentHasher()
        try readAll(of: 0..<size) { bytes in bytes.withUnsafeBytes { hasher.update($0) } }
        return hasher.finalize()
    }

    // MARK: Boxes

    private static let mostBoxes = 4_096

    /// The boxes at the top level.
    /// - Throws: `.tellsPlace` when they do not fill the film.
    func boxes() throws(PhotoError) -> [Box] {
        var boxes: [Box] = []
        var at = 0
        while at < size {
            let head = try read(at..<min(at + 16, size))
            guard boxes.count < Self.mostBoxes, let box = Box(head, from: 0, at: at, before: size) else {
                throw .unclear(FilmRules.name)
            }
            boxes.append(box)
            at = box.all.upperBound
        }
        return boxes
    }
}
