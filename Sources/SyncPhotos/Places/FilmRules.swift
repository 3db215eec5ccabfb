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
