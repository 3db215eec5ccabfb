import SyncCore

/// Whether an MP4 or QuickTime film can be shown to tell no place.
///
/// It is read and not changed: its boxes are held against lists of those that are known to tell nothing
/// (``FilmRules``), and all of its data must belong to pictures and sound, or be zeros. What is not known is refused.
struct MovieCheck {
    private let film: FilmBytes
    private let rules: FilmRules

    /// - Throws: ``PhotoError``, `.tellsPlace` when it tells a place, or when that cannot be ruled out.
    static func require(_ film: FilmBytes, _ rules: FilmRules = .stored) throws(PhotoError) {
        try MovieCheck(film: film, rules: rules).run()
    }

    private func run() throws(PhotoError) {
        var index: [UInt8]?
        var data: [Range<Int>] = []
        for box in try film.boxes() {
            switch box.type {
            case "ftyp": try FilmRules.requireBrands(box)
            case "mdat": data.append(box.body)
            case "moov":
                guard index == nil, box.body.count <= FilmRules.largestIndex else { throw .unclear(FilmRules.name) }
                let bytes = try film.read(box.body)
                try check(bytes, bytes.indices)
                index = bytes
            case _ where FilmRules.padding.contains(box.type):
                try film.readAll(of: box.body) { bytes throws(PhotoError) in try Self.requireEmpty(bytes[...]) }
            default: throw FilmRules.refusal(box.type)
            }
        }
        guard let index else { throw .unclear(FilmRules.name) }
        // What no track needs was left behind by a program, or is read in a way of its own.
        for stray in try FilmSamples.strayData(beside: index.indices, of: index, in: data) {
            try film.readAll(of: stray) { bytes throws(PhotoError) in
                guard bytes.allSatisfy({ $0 == 0 }) else { throw FilmRules.strayData }
            }
        }
    }

    /// - Parameter kind: what the track is of, within one.
    private func check(
        _ bytes: [UInt8], _ range: Range<Int>, of kind: String? = nil, depth: Int = 0
    ) throws(PhotoError) {
        guard depth < FilmRules.deepest else { throw .unclear(FilmRules.name) }
        for box in try bytes.boxes(in: range, of: FilmRules.name) {
            try requireNamesBlank(in: box, of: kind, bytes)
            switch box.type {
            case "trak":
                try check(bytes, box.body, of: try bytes.handler(ofTrack: box.body), depth: depth + 1)
            case "udta": try checkNotes(bytes, box.body)
            case "meta": try checkKeys(bytes, box.body)
            case "hdlr":
                guard let handler = bytes.text(at: box.body.lowerBound + 8), FilmRules.handlers.contains(handler) else {
                    throw .place("it is a film with a track of data, which may tell the way that it was carried")
                }
            case _ where FilmRules.padding.contains(box.type): try Self.requireEmpty(bytes[box.body])
            case let type where FilmRules.folders.contains(type):
                try check(bytes, box.body, of: kind, depth: depth + 1)
            case let type where FilmRules.tellNothing.contains(type): break
            default: throw FilmRules.refusal(box.type)
            }
        }
    }

    private func requireNamesBlank(in box: Box, of kind: String?, _ bytes: [UInt8]) throws(PhotoError) {
        for name in try rules.names(in: box, of: kind, bytes) {
            guard bytes[name].allSatisfy({ $0 == 0 }) else { throw FilmRules.refusal(box.type) }
        }
        if let part = try rules.unknownParts(of: box, kind, bytes).first { throw FilmRules.refusal(part.type) }
    }

    private func checkNotes(_ bytes: [UInt8], _ body: Range<Int>) throws(PhotoError) {
        for box in try bytes.boxes(ofNotes: body) {
            if box.type == "meta" {
                try checkKeys(bytes, box.body)
            } else if FilmRules.padding.contains(box.type) {
                try Self.requireEmpty(bytes[box.body])
            } else if !rules.notes.contains(box.type) {
                throw FilmRules.refusal(box.type)
            }
        }
    }

    private func checkKeys(_ bytes: [UInt8], _ body: Range<Int>) throws(PhotoError) {
        let boxes = try bytes.boxes(ofMeta: body)
        let kept = try rules.keptNumbers(of: boxes, in: bytes)
        for box in boxes {
            switch box.type {
            case "hdlr": try requireNamesBlank(in: box, of: nil, bytes)
            case "keys":
                for key in try bytes.boxes(in: box.body.dropFirst(8), of: FilmRules.name) {
                    // One that was taken out keeps its place: the others are known by their numbers.
                    if key.type == FilmRules.keyType, bytes[key.body].allSatisfy({ $0 == 0 }) { continue }
                    let name = String(decoding: bytes[key.body], as: UTF8.self)
                    guard key.type == FilmRules.keyType, rules.keys.contains(name) else {
                        throw name.contains("location") ? FilmRules.position(name) : FilmRules.refusal(name)
                    }
                }
            case "ilst":
                for note in try bytes.boxes(in: box.body, of: FilmRules.name) {
                    if note.type == "free" {
                        try Self.requireEmpty(bytes[note.body])
                    } else if note.isNumbered
                        ? !kept.contains(note.number(in: bytes)) : !rules.notes.contains(note.type)
                    {
                        throw FilmRules.refusal(note.type)
                    }
                }
            case "free", "skip": try Self.requireEmpty(bytes[box.body])
            default: throw FilmRules.refusal(box.type)
            }
        }
    }

    private static func requireEmpty(_ bytes: ArraySlice<UInt8>) throws(PhotoError) {
        guard bytes.allSatisfy({ $0 == 0 }) else { throw FilmRules.emptyNeeded }
    }
}

/// A box of ISO 14496-12 (section 4.2).
struct Box {
    /// A character for each of its bytes (Mac Roman's © is one of them).
    let type: String
    /// With its header.
    let all: Range<Int>
    let body: Range<Int>

    /// Of what is in the box.
    var start: Int64 { Int64(body.lowerBound) }
    var end: Int64 { Int64(body.upperBound) }
    var size: Int64 { Int64(body.count) }
}

extension Box {
    /// - Parameters:
    ///   - head: bytes with its header, which begins at `start`.
    ///   - at: where it is in the file, or in the box around it, which end at `end`.
    /// - Returns: `nil` when it is without measure.
    init?(_ head: [UInt8], from start: Int, at place: Int, before end: Int) {
        guard var length = head.big(at: start), let type = head.text(at: start + 4) else { return nil }
        var header = 8
        if length == 1 {
            guard let long = head.big(at: start + 8, size: 8) else { return nil }
            (length, header) = (long, 16)
        } else if length == 0 {
            length = end - place
        }
        guard length >= header, length <= end - place else { return nil }
        self.init(type: type, all: place..<place + length, body: place + header..<place + length)
    }
}

extension [UInt8] {
    /// Boxes in one of a well-formed file are hundreds at most.
    private static let mostBoxes = 65_536

    /// The boxes in a range, one behind the other.
    /// - Throws: `.tellsPlace` when they do not fill it, or are without measure.
    func boxes(in range: Range<Int>, of type: String) throws(PhotoError) -> [Box] {
        var boxes: [Box] = []
        var at = range.lowerBound
        while at < range.upperBound {
            guard boxes.count < Self.mostBoxes, let box = Box(self, from: at, at: at, before: range.upperBound) else {
                throw .unclear(type)
            }
            boxes.append(box)
            at = box.all.upperBound
        }
        return boxes
    }
}

/// Ranges of a file, merged, so that walking over them costs what the file has, however often each was named.
struct RangeList {
    private(set) var ranges: [Range<Int>]

    init(_ ranges: [Range<Int>]) {
        self.ranges = ranges.filter { !$0.isEmpty }.sorted { $0.lowerBound < $1.lowerBound }
            .reduce(into: []) { merged, range in
                if let last = merged.last, range.lowerBound <= last.upperBound {
                    merged[merged.count - 1] = last.lowerBound..<Swift.max(last.upperBound, range.upperBound)
                } else {
                    merged.append(range)
                }
            }
    }

    func overlaps(_ other: RangeList) -> Bool {
        var (mine, theirs) = (0, 0)
        while mine < ranges.count, theirs < other.ranges.count {
            if ranges[mine].overlaps(other.ranges[theirs]) { return true }
            if ranges[mine].upperBound <= other.ranges[theirs].lowerBound { mine += 1 } else { theirs += 1 }
        }
        return false
    }

    /// Whether each of the other ranges lies within one of these.
    func holds(_ other: RangeList) -> Bool {
        var mine = 0
        for range in other.ranges {
            while mine < ranges.count, ranges[mine].upperBound < range.upperBound { mine += 1 }
            guard mine < ranges.count, ranges[mine].lowerBound <= range.lowerBound else { return false }
        }
        return true
    }
}
