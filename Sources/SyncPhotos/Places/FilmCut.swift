import SyncCore

/// Takes out of an MP4 or QuickTime film what is not known to tell nothing. Its length stays, so that nothing that is
/// kept has to move: boxes become `free` ones of zeros, and so do the data of tracks that go. What remains is held
/// against ``MovieCheck``.
///
/// Only the index is in memory; the film itself is changed on its way (``FilePatches``).
struct FilmCut {
    private let rules: FilmRules
    /// The body of `moov`.
    private var index: [UInt8]
    private var dropped: Set<DroppedPart> = [.position]

    /// - Throws: ``PhotoError``, `.tellsPlace` where that cannot be done, or where what remains may tell a place still.
    static func make(_ film: FilmBytes, _ rules: FilmRules) throws(PhotoError) -> FilePatches {
        try run(film, rules).patches
    }

    /// - Returns: also what went that players show, and `.position`.
    static func run(
        _ film: FilmBytes, _ rules: FilmRules
    ) throws(PhotoError) -> (patches: FilePatches, dropped: Set<DroppedPart>) {
        var patches: [FilePatches.Patch] = []
        var (data, movie): ([Range<Int>], Box?) = ([], nil)
        for box in try film.boxes() {
            switch box.type {
            case "ftyp": try FilmRules.requireBrands(box)
            case "mdat": data.append(box.body)
            case "moov":
                guard movie == nil, box.body.count <= FilmRules.largestIndex else { throw .unclear(FilmRules.name) }
                movie = box
            // A film in fragments: what they hold is told in each of them.
            case "moof": throw FilmRules.refusal(box.type)
            case _ where FilmRules.padding.contains(box.type): patches.append(.zeros(box.body))
            default: patches += [.name(box), .zeros(box.body)]
            }
        }
        guard let movie, !data.isEmpty else { throw .unclear(FilmRules.name) }
        let before = try film.read(movie.body)
        var cut = FilmCut(rules: rules, index: before)
        try cut.clean(before.indices, of: nil, depth: 0)
        let strays = try FilmSamples.strayData(beside: cut.index.indices, of: cut.index, in: data)
        patches += strays.map { .zeros($0) }
        patches += cut.index.changes(of: before, at: movie.body.lowerBound)
        let made = FilePatches(patches)
        try MovieCheck.require(film.patched(by: made), rules)
        return (made, cut.dropped)
    }

    /// - Parameter handler: what the track is of, within one.
    private mutating func clean(_ range: Range<Int>, of handler: String?, depth: Int) throws(PhotoError) {
        guard depth < FilmRules.deepest else { throw .unclear(FilmRules.name) }
        for box in try index.boxes(in: range, of: FilmRules.name) {
            switch box.type {
            case "udta": try cleanNotes(box.body)
            case "meta": try cleanMeta(box.body)
            case "trak":
                let handler = try index.handler(ofTrack: box.body)
                if handler.map(FilmRules.handlers.contains) == true {
                    try clean(box.body, of: handler, depth: depth + 1)
                } else {
                    if handler != "meta" { dropped.insert(.tracks) }
                    free(box)
                }
            case "hdlr", "stsd", "dref": try cleanNames(box, of: handler)
            case _ where FilmRules.padding.contains(box.type): zero(box.body)
            case _ where FilmRules.folders.contains(box.type): try clean(box.body, of: handler, depth: depth + 1)
            case _ where FilmRules.tellNothing.contains(box.type): break
            default: free(box)
            }
        }
    }

    private mutating func cleanNotes(_ body: Range<Int>) throws(PhotoError) {
        for box in try index.boxes(ofNotes: body) {
            if box.type == "meta" {
                try cleanMeta(box.body)
            } else if !rules.notes.contains(box.type) {
                free(box)
            }
        }
    }

    private mutating func cleanMeta(_ body: Range<Int>) throws(PhotoError) {
        let boxes = try index.boxes(ofMeta: body)
        let kept = try rules.keptNumbers(of: boxes, in: index)
        for box in boxes {
            switch box.type {
            case "hdlr": try cleanNames(box, of: nil)
            case "keys":
                for (number, key) in try index.boxes(in: box.body.dropFirst(8), of: FilmRules.name).enumerated()
                where !kept.contains(number + 1) { blank(key) }
            case "ilst": break
            default: free(box)
            }
        }
        for list in boxes where list.type == "ilst" {
            for note in try index.boxes(in: list.body, of: FilmRules.name) {
                // A number stands for one of the keys.
                let number = note.number(in: index)
                let stays = note.isNumbered ? kept.contains(number) : rules.notes.contains(note.type)
                if !stays { free(note) }
            }
        }
    }

    private mutating func cleanNames(_ box: Box, of handler: String?) throws(PhotoError) {
        for name in try rules.names(in: box, of: handler, index) { zero(name) }
        for part in try rules.unknownParts(of: box, handler, index) { free(part) }
    }

    private mutating func free(_ box: Box) {
        let start = box.all.lowerBound + 4
        index.replaceSubrange(start..<start + 4, with: Array("free".utf8))
        zero(box.body)
    }

    /// An entry of `keys` loses its name and keeps its kind: ffmpeg before 6.0 reads on at a wrong place behind one of
    /// another kind (mov_read_keys), and takes the whole film for damaged.
    private mutating func blank(_ key: Box) {
        let start = key.all.lowerBound + 4
        index.replaceSubrange(start..<start + 4, with: FilmRules.keyType.utf8)
        zero(key.body)
    }

    private mutating func zero(_ range: Range<Int>) {
        for place in range { index[place] = 0 }
    }
}

extension FilePatches.Patch {
    fileprivate static func zeros(_ range: Range<Int>) -> Self {
        Self(Int64(range.lowerBound)..<Int64(range.upperBound))
    }

    /// A box that is padding from now on.
    fileprivate static func name(_ box: Box) -> Self {
        let start = Int64(box.all.lowerBound) + 4
        return Self(start..<start + 4, head: Array("free".utf8))
    }
}

extension Box {
    /// Of an entry in `ilst`: whether its type is the number of a key.
    var isNumbered: Bool { type.unicodeScalars.first == "\0" }
    func number(in bytes: [UInt8]) -> Int { bytes.big(at: all.lowerBound + 4) ?? 0 }
}

extension [UInt8] {
    /// Equal bytes between two changes, up to which they are one: a patch takes more room than they do.
    private static let shortestGap = 64

    /// Runs of bytes that are others than before; both are equally long.
    fileprivate func changes(of before: [UInt8], at offset: Int) -> [FilePatches.Patch] {
        var patches: [FilePatches.Patch] = []
        var at = 0
        while let start = (at..<count).first(where: { self[$0] != before[$0] }) {
            var end = start + 1
            at = end
            while at < count, at - end < Self.shortestGap {
                if self[at] != before[at] { end = at + 1 }
                at += 1
            }
            let first = Int64(offset + start)
            patches.append(FilePatches.Patch(first..<first + Int64(end - start), head: Array(self[start..<end])))
        }
        return patches
    }
}
