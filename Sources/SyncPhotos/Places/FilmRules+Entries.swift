import SyncCore

/// What the entries of `stsd` say of a track beside how it is coded (ISO 14496-12, 8.5.2; QuickTime File Format, "Sample
/// description atoms").
extension FilmRules {
    enum EntryKind: String {
        case pictures = "vide"
        case sound = "soun"
        case timeCodes = "tmcd"

        /// What players need, beside what each kind of entry begins with.
        fileprivate var needed: Set<String> {
            switch self {
            case .pictures:
                [
                    "avcC", "hvcC", "lhvC", "av1C", "vpcC", "esds", "dvcC", "dvvC", "dvwC", "d263", "glbl", "colr",
                    "pasp", "clap", "fiel", "btrt", "gama", "chrm", "mdcv", "clli", "amve", "ccst", "st3d", "sv3d",
                ]
            case .sound:
                [
                    "esds", "wave", "chan", "chnl", "srat", "damr", "dac3", "dec3", "dac4", "dOps", "dfLa", "alac",
                    "pcmC", "mhaC", "dmlp", "ddts", "udts", "btrt", "SA3D", "frma", "enda", "\0\0\0\0",
                ]
            // One may have the name of a tape, and nothing else.
            case .timeCodes: []
            }
        }
    }

    /// Boxes that hold words, wherever they are.
    private static let words: Set<String> = [
        "udta", "meta", "name", "uuid", "xml ", "loci", "titl", "auth", "dscp", "cprt",
    ]

    private func isUnknown(_ part: Box, of kind: EntryKind, in entry: Box) -> Bool {
        guard blanksNames || kind == .timeCodes else {
            // What each codec needs is not known, and one's own copy has to play.
            return Self.words.contains(part.type) || Self.positions.contains(part.type) || part.type.hasPrefix("\u{A9}")
        }
        // Within `wave`, a codec has what it needs under its own name.
        return !kind.needed.contains(part.type) && !(kind == .sound && part.type == entry.type)
    }

    /// What the entries of a track say and players do not need: of what others get, whatever is not known to be needed; of one's
    /// own copy, words.
    func unknownParts(of box: Box, _ handler: String?, _ bytes: [UInt8]) throws(PhotoError) -> [Box] {
        guard box.type == "stsd", let kind = handler.flatMap(EntryKind.init) else { return [] }
        var unknown: [Box] = []
        for entry in try entries(of: box, of: kind, bytes) {
            let start = Self.partsStart(in: entry, of: kind, bytes, version: bytes[box.body.lowerBound])
            let parts: [Box]
            do throws(PhotoError) {
                parts = try Self.parts(in: entry.body.dropFirst(start), of: kind, bytes)
            } catch {
                guard blanksNames else { continue }
                throw error
            }
            unknown += parts.filter { part in
                if part.type == "free", bytes[part.body].allSatisfy({ $0 == 0 }) { return false }
                return isUnknown(part, of: kind, in: entry)
            }
        }
        return unknown
    }

    /// Those within `wave`, too.
    private static func parts(
        in range: Range<Int>, of kind: EntryKind, _ bytes: [UInt8], depth: Int = 0
    ) throws(PhotoError) -> [Box] {
        guard depth < deepest else { throw .unclear(name) }
        var parts = try bytes.boxes(ofNotes: range)
        for folder in parts where kind == .sound && folder.type == "wave" {
            parts += try Self.parts(in: folder.body, of: kind, bytes, depth: depth + 1)
        }
        return parts
    }

    /// None of one's own copy where they are without measure.
    func entries(of box: Box, of kind: EntryKind, _ bytes: [UInt8]) throws(PhotoError) -> [Box] {
        let least = [EntryKind.pictures: 78, .sound: 28, .timeCodes: 26][kind] ?? 0
        do throws(PhotoError) {
            let entries = try bytes.boxes(in: box.body.dropFirst(8), of: Self.name)
            guard entries.allSatisfy({ $0.body.count >= least }) else { throw .unclear(Self.name) }
            return entries
        } catch {
            guard blanksNames else { return [] }
            throw error
        }
    }

    /// QuickTime's later versions of an entry for sound have more numbers, and ISO's have not.
    private static func partsStart(in entry: Box, of kind: EntryKind, _ bytes: [UInt8], version: UInt8) -> Int {
        switch (kind, version, bytes[entry.body.lowerBound + 9]) {
        case (.pictures, _, _): 78
        case (.timeCodes, _, _): 26
        case (.sound, 0, 1): 44
        case (.sound, 0, 2): 64
        case (.sound, _, _): 28
        }
    }
}
