/// The ICC profile of a JPEG: one or more APP2 segments (ICC.1:2010, B.4).
struct ICCProfile {
    static let name = "ICC_PROFILE\0"
    private static let header = Array(name.utf8)
    private static let chunkSize = 65_519

    /// Bodies of segments in the order of the file, as they are written again.
    let bodies: [[UInt8]]

    /// `nil` when chunks are missing or told twice, or when they are no profile: readers take no colours from such.
    ///
    /// Bytes behind the length that the profile tells are left out: a damaged segment may have swallowed the next one.
    /// - Parameter coloursOnly: whether its texts and the names of its devices go.
    init?(chunks: [[UInt8]], coloursOnly: Bool) {
        let start = Self.header.count + 2
        guard let total = chunks.first?.dropFirst(start - 1).first, total > 0, total == chunks.count else { return nil }
        guard chunks.allSatisfy({ $0.count > start && $0[start - 1] == total }) else { return nil }
        let ordered = chunks.sorted { $0[start - 2] < $1[start - 2] }
        guard ordered.map({ $0[start - 2] }).elementsEqual(1...total) else { return nil }

        var profile = ordered.flatMap { $0.dropFirst(start) }
        let length = profile.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        guard profile.count >= 128, profile[36..<40].elementsEqual("acsp".utf8) else { return nil }
        guard (128...profile.count).contains(length) else { return nil }
        guard coloursOnly || length < profile.count else {
            bodies = chunks
            return
        }
        profile.removeSubrange(length...)
        if coloursOnly {
            guard let colours = ICCColours(profile) else { return nil }
            profile = colours.profile
        }
        let starts = Array(stride(from: 0, to: profile.count, by: Self.chunkSize))
        // Each tells its number in one byte.
        guard starts.count <= Int(UInt8.max) else { return nil }
        bodies = starts.enumerated().map { index, from in
            Self.header + [UInt8(index + 1), UInt8(starts.count)]
                + profile[from..<min(from + Self.chunkSize, profile.count)]
        }
    }
}

/// An ICC profile that has what colours need, and nothing that tells of a person, a device or a program (ICC.1:2022).
///
/// Descriptions, copyrights, names of makers and models, Apple's and others' private tags, dates and signatures go.
/// A profile must have a description and a copyright (8.2): they are the same in each.
struct ICCColours {
    private static let headerSize = 128
    private static let entrySize = 12
    private static let mostTags = 200

    /// Colorants, curves, tables, white and black, rendering and viewing: numbers all of them.
    private static let kept: Set<String> = [
        "rXYZ", "gXYZ", "bXYZ", "rTRC", "gTRC", "bTRC", "kTRC", "wtpt", "bkpt", "lumi", "chad", "chrm", "A2B0", "A2B1",
        "A2B2", "A2B3", "B2A0", "B2A1", "B2A2", "B2A3", "D2B0", "D2B1", "D2B2", "D2B3", "B2D0", "B2D1", "B2D2", "B2D3",
        "gamt", "pre0", "pre1", "pre2", "rig0", "rig2", "clro", "cicp", "meas", "view", "tech",
    ]
    private static let numberTypes: Set<String> = [
        "XYZ ", "curv", "para", "mft1", "mft2", "mAB ", "mBA ", "mpet", "sf32", "uf32", "ui08", "ui16", "ui32", "chrm",
        "clro", "cicp", "meas", "view", "sig ",
    ]

    let profile: [UInt8]

    /// `nil` when it has no colours.
    init?(_ profile: [UInt8]) {
        guard let count = profile.big(at: Self.headerSize), count <= Self.mostTags else { return nil }
        var tags: [(name: String, value: Range<Int>)] = []
        for index in 0..<count {
            let at = Self.headerSize + 4 + index * Self.entrySize
            guard let name = profile.text(at: at), let start = profile.big(at: at + 4),
                let size = profile.big(at: at + 8), size >= 8, start <= profile.count - size
            else { return nil }
            guard Self.kept.contains(name), Self.numberTypes.contains(profile.text(at: start) ?? "") else { continue }
            if !tags.contains(where: { $0.name == name }) {
                tags.append((name, start..<start + Self.length(of: profile, at: start, atMost: size)))
            }
        }
        // Curves may be one for all colours; values that lie on each other otherwise would make many times the profile.
        guard !tags.isEmpty, Set(tags.map(\.value)).reduce(0, { $0 + $1.count }) <= profile.count else { return nil }
        self.profile = Self.written(profile, tags)
    }

    /// Bytes that a value takes, where its type tells: nothing may stand behind them.
    private static func length(of profile: [UInt8], at start: Int, atMost size: Int) -> Int {
        let told: Int? =
            switch profile.text(at: start) {
            case "XYZ ": 20
            case "curv": profile.big(at: start + 8).map { 12 + 2 * $0 }
            case "para": profile.big(at: start + 8, size: 2).map { 12 + 4 * ([1, 3, 4, 5, 7] + [7])[min($0, 5)] }
            case "sf32": size - size % 4
            case "sig ", "cicp": 12
            case "meas", "view": 36
            default: nil
            }
        return min(told ?? size, size)
    }

    private static func written(_ profile: [UInt8], _ tags: [(name: String, value: Range<Int>)]) -> [UInt8] {
        let isModern = profile[8] >= 4
        let texts = [("desc", isModern ? localized("Colours") : described("Colours"))]
        let copyright = [("cprt", isModern ? localized("None") : Array("text\0\0\0\0None\0".utf8))]
        let count = tags.count + 2
        var table = count.bigEndianBytes
        var data: [UInt8] = []
        let start = headerSize + 4 + count * entrySize
        // Curves are often one for all three colours.
        var known: [Range<Int>: Int] = [:]
        for (name, value) in texts + copyright {
            table += Array(name.utf8) + (start + data.count).bigEndianBytes + value.count.bigEndianBytes
            data += value + [UInt8](repeating: 0, count: (4 - value.count % 4) % 4)
        }
        for (name, value) in tags {
            let place = known[value] ?? start + data.count
            table += Array(name.utf8) + place.bigEndianBytes + value.count.bigEndianBytes
            guard known.updateValue(place, forKey: value) == nil else { continue }
            data += profile[value]
            data += [UInt8](repeating: 0, count: (4 - value.count % 4) % 4)
        }
        let bytes = header(of: profile) + table + data
        return bytes.count.bigEndianBytes + bytes.dropFirst(4)
    }

    /// Version, class, colours, intent and illuminant stay. The date is that of no device (7.2).
    private static func header(of profile: [UInt8]) -> [UInt8] {
        var header = [UInt8](repeating: 0, count: headerSize)
        for range in [8..<24, 36..<40, 64..<80] { header.replaceSubrange(range, with: profile[range]) }
        header.replaceSubrange(24..<36, with: [2_000, 1, 1, 0, 0, 0].flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] })
        return header
    }

    /// A text as version 2 has it (ICC.1:2001, 6.5.17), in ASCII.
    private static func described(_ text: String) -> [UInt8] {
        let unicodeAndScript = [UInt8](repeating: 0, count: 8 + 3 + 67)
        return Array("desc\0\0\0\0".utf8) + (text.utf8.count + 1).bigEndianBytes + Array(text.utf8) + [0]
            + unicodeAndScript
    }

    /// A text as version 4 has it (10.15), in English.
    private static func localized(_ text: String) -> [UInt8] {
        let record = Array("enUS".utf8) + (2 * text.utf8.count).bigEndianBytes + 28.bigEndianBytes
        return Array("mluc\0\0\0\0".utf8) + 1.bigEndianBytes + 12.bigEndianBytes + record
            + text.utf8.flatMap { [0, $0] }
    }
}
