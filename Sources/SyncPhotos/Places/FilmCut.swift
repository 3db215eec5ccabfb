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

    /// - Throws: ``PhotoError``, `.tellsPlace` where that cannot be done, or where what remains may tell a place still.
    static func make(_ film: FilmBytes, _ rules: FilmRules) throws(PhotoError) -> FilePatches {
        var patches: [FilePatches.Patch] = []
        var (data, movie): ([Range<Int>], Box?) = ([], nil)
        for box in try film.boxes() {
            switch box.type {
            case "ftyp": break
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
        try cut.clean(before.indices, depth: 0)
        let strays = try FilmSamples.strayData(beside: cut.index.indices, of: cut.index, in: data)
        patches += strays.map { .zeros($0) }
        patches += cut.index.changes(of: before, at: movie.body.lowerBound)
        let made = FilePatches(patches)
        try MovieCheck.require(film.patched(by: made), rules)
        return made
    }

    private mutating func clean(_ range: Range<Int>, depth: Int) throws(PhotoError) {
        guard depth < FilmRules.deepest else { throw .unclear(FilmRules.name) }
        for box in try index.boxes(in: range, of: FilmRules.name) {
            switch box.type {
            case "udta": try cleanNotes(box.body)
            case "meta": try cleanMeta(box.body)
            case "trak":
                let handler = try index.handler(ofTrack: box.body)
                if handler.map(FilmRules.handlers.contains) == true {
                    try clean(box.body, depth: depth + 1)
                } else {
                    free(box)
                }
            case "hdlr": if rules.blanksNames { zero(box.body.dropFirst(24)) }
            case "stsd": if rules.blanksNames { try cleanEncoders(box.body) }
            case "dref": if rules.blanksNames { try cleanReferences(box.body) }
            case _ where FilmRules.padding.contains(box.type): zero(box.body)
            case _ where FilmRules.folders.contains(box.type): try clean(box.body, depth: depth + 1)
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
            case "hdlr": if rules.blanksNames { zero(box.body.dropFirst(24)) }
            case "keys":
                for (number, key) in try index.boxes(in: box.body.dropFirst(8), of: FilmRules.name).enumerated()
                where !kept.contains(number + 1) { free(key) }
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

    /// The name of the encoder in an entry for pictures (ISO 14496-12, 12.1.3), which may be that of a camera.
    private mutating func cleanEncoders(_ body: Range<Int>) throws(PhotoError) {
        for entry in try index.boxes(in: body.dropFirst(8), of: FilmRules.name) where entry.body.count >= 78 {
            // An entry for sound has its channels and bits there, and lasts for less.
            guard index.big(at: entry.body.lowerBound + 28) == 0x0048_0000 else { continue }
            let start = entry.body.lowerBound
            // QuickTime's vendor, and the name itself.
            zero(start + 12..<start + 16)
            zero(start + 42..<start + 74)
        }
    }

    /// Where data lie in other files, their names would tell folders of this machine.
    private mutating func cleanReferences(_ body: Range<Int>) throws(PhotoError) {
        for reference in try index.boxes(in: body.dropFirst(8), of: FilmRules.name) {
            zero(reference.body.dropFirst(4))
        }
    }

    private mutating func free(_ box: Box) {
        let start = box.all.lowerBound + 4
        index.replaceSubrange(start..<start + 4, with: Array("free".utf8))
        zero(box.body)
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
