import SyncCore

/// What of a film is known to tell no place (ISO 14496-12, QuickTime File Format). All else may tell one.
struct FilmRules {
    static let types: Set<String> = ["video/mp4", "video/quicktime", "video/x-m4v", "video/3gpp", "video/3gpp2"]

    static let name = "film"
    static let largestIndex = 64 << 20
    static let deepest = 16
    static let positions = ["\u{A9}xyz", "loci", "GPS ", "gps ", "gpmd", "GPMF", "camm"]

    static let folders: Set<String> = ["trak", "mdia", "minf", "stbl", "edts", "dinf", "gmhd", "tapt"]
    static let tellNothing: Set<String> = [
        "mvhd", "iods", "tkhd", "tref", "load", "elst", "mdhd", "vmhd", "smhd", "nmhd", "gmin", "tmcd", "dref", "stsd",
        "stts", "stss", "ctts", "cslg", "stsc", "stsz", "stco", "co64", "sgpd", "sbgp", "sdtp", "stps", "clef", "prof",
        "enof",
    ]
    /// The kind of all keys that anybody writes (QuickTime File Format, "Metadata item keys atom").
    static let keyType = "mdta"
    static let padding: Set<String> = ["free", "skip", "wide"]
    /// Tracks of pictures, sound and time codes, and QuickTime's words for where data are.
    static let handlers: Set<String> = ["vide", "soun", "tmcd", "alis", "url "]

    /// Entries of `udta` and of lists that may stay.
    let notes: Set<String>
    /// Names of `keys` that may stay.
    let keys: Set<String>
    /// Whether names of programs and makers go where they stand beside the data: handlers, encoders, other files.
    let blanksNames: Bool

    /// With `strip_location`: who made it and with what may stay, program, maker, model, day, and which live photo it is of.
    static let stored = FilmRules(
        notes: ["\u{A9}too", "\u{A9}swr", "\u{A9}mak", "\u{A9}mod", "\u{A9}day", "\u{A9}fmt"],
        keys: [
            "com.apple.quicktime.make", "com.apple.quicktime.model", "com.apple.quicktime.software",
            "com.apple.quicktime.creationdate", "com.apple.quicktime.content.identifier", "com.android.version",
            "com.android.capture.fps",
            "com.android.manufacturer", "com.android.model",
        ], blanksNames: false)

    /// For others, as with photos: the times, and nothing of the camera.
    static let shared = FilmRules(
        notes: ["\u{A9}day"], keys: ["com.apple.quicktime.creationdate", "com.android.capture.fps"], blanksNames: true)
}

extension FilmRules {
    /// Which numbers stand for keys that may stay, in the lists of a `meta`: none where it has not one table of them.
    func keptNumbers(of meta: [Box], in bytes: [UInt8]) throws(PhotoError) -> Set<Int> {
        let tables = meta.filter { $0.type == "keys" }
        guard tables.count == 1, let table = tables.first else { return [] }
        var kept: Set<Int> = []
        for (place, key) in try bytes.boxes(in: table.body.dropFirst(8), of: Self.name).enumerated()
        where key.type == Self.keyType && keys.contains(String(decoding: bytes[key.body], as: UTF8.self)) {
            kept.insert(place + 1)
        }
        return kept
    }

    /// Where names of programs and makers stand beside the data, which are zeros in what others get: in handlers, entries for
    /// pictures (ISO 14496-12, 12.1.3, and QuickTime's vendor), references to other files.
    /// - Parameter handler: what the track is of, within one.
    func names(in box: Box, of handler: String?, _ bytes: [UInt8]) throws(PhotoError) -> [Range<Int>] {
        guard blanksNames else { return [] }
        switch box.type {
        case "hdlr": return [box.body.dropFirst(12)]
        case "dref":
            return try bytes.boxes(in: box.body.dropFirst(8), of: Self.name).map { $0.body.dropFirst(4) }
        case "stsd" where handler == "vide":
            return try entries(of: box, of: .pictures, bytes).flatMap { entry in
                let start = entry.body.lowerBound
                return [start + 12..<start + 16, start + 42..<start + 74]
            }
        default: return []
        }
    }

    private static let mostBrands = 256

    static func requireBrands(_ box: Box) throws(PhotoError) {
        guard box.body.count <= mostBrands else { throw .unclear(name) }
    }

    static let emptyNeeded = PhotoError.place("it is a film with something in its padding")
    static let strayData = PhotoError.place("it is a film with data that belong to no track")

    static func refusal(_ type: String) -> PhotoError {
        positions.contains(type)
            ? position(type) : .place("it is a film with an entry that may tell a position (\(type.escapingControls))")
    }

    static func position(_ name: String) -> PhotoError {
        .place("it is a film that tells where it was taken (\(name.escapingControls))")
    }
}

extension [UInt8] {
    /// The boxes of a QuickTime or ISO `meta`: ISO's has a version in front, QuickTime's has none.
    func boxes(ofMeta body: Range<Int>) throws(PhotoError) -> [Box] {
        let start = text(at: body.lowerBound + 4) == "hdlr" ? 0 : 4
        return try boxes(in: body.dropFirst(start), of: FilmRules.name)
    }

    /// The entries of `udta`. QuickTime may end them with a zero.
    func boxes(ofNotes body: Range<Int>) throws(PhotoError) -> [Box] {
        do throws(PhotoError) {
            return try boxes(in: body, of: FilmRules.name)
        } catch {
            guard body.count >= 4, big(at: body.upperBound - 4) == 0 else { throw error }
            return try boxes(in: body.dropLast(4), of: FilmRules.name)
        }
    }

    /// What a track is of.
    func handler(ofTrack track: Range<Int>) throws(PhotoError) -> String? {
        guard let media = try boxes(in: track, of: FilmRules.name).first(where: { $0.type == "mdia" }),
            let handler = try boxes(in: media.body, of: FilmRules.name).first(where: { $0.type == "hdlr" })
        else { return nil }
        return text(at: handler.body.lowerBound + 8)
    }
}

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
