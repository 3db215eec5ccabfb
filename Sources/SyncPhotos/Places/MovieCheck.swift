import SyncCore

/// Whether an MP4 or QuickTime film can be shown to tell no place (ISO 14496-12, QuickTime File Format).
///
/// It is read and not changed: its boxes are held against lists of those that are known to tell nothing, and all of its
/// data must belong to pictures and sound. What is not known is refused.
struct MovieCheck {
    static let types: Set<String> = ["video/mp4", "video/quicktime", "video/x-m4v", "video/3gpp", "video/3gpp2"]

    private static let name = "film"
    private static let mostBoxes = 4_096
    private static let largestIndex = 64 << 20
    private static let largestPadding = 1 << 20
    private static let deepest = 16
    /// Above all files, and far below what a sum may come to.
    private static let mostBytes = 1 << 50

    private static let folders: Set<String> = ["trak", "mdia", "minf", "stbl", "edts", "dinf", "gmhd", "tapt"]
    private static let tellNothing: Set<String> = [
        "mvhd", "iods", "tkhd", "tref", "load", "elst", "mdhd", "vmhd", "smhd", "nmhd", "gmin", "tmcd", "dref", "stsd",
        "stts", "stss", "ctts", "cslg", "stsc", "stco", "co64", "sgpd", "sbgp", "sdtp", "stps", "clef", "prof", "enof",
    ]
    /// Tracks of pictures, sound and time codes, and QuickTime's words for where data are.
    private static let handlers: Set<String> = ["vide", "soun", "tmcd", "alis", "url "]
    private static let positions = ["\u{A9}xyz", "loci", "GPS ", "gps ", "gpmd", "GPMF", "camm"]
    /// Who made it and with what: program, maker, model, day.
    private static let notes: Set<String> = [
        "\u{A9}too", "\u{A9}swr", "\u{A9}mak", "\u{A9}mod", "\u{A9}day", "\u{A9}fmt",
    ]
    private static let keys: Set<String> = [
        "com.apple.quicktime.make", "com.apple.quicktime.model", "com.apple.quicktime.software",
        "com.apple.quicktime.creationdate", "com.android.version", "com.android.capture.fps",
        "com.android.manufacturer",
        "com.android.model",
    ]

    private var dataBytes = 0
    private var sampleBytes = 0

    /// - Throws: ``PhotoError``, `.tellsPlace` when it tells a place, or when that cannot be ruled out.
    static func require(_ file: borrowing PhotoFile, size: Int) throws(PhotoError) {
        var check = MovieCheck()
        try check.run(file, size)
    }

    private mutating func run(_ file: borrowing PhotoFile, _ size: Int) throws(PhotoError) {
        var at = 0
        var count = 0
        var hasIndex = false
        while at < size {
            let head = try file.read(at..<min(at + 16, size))
            guard let box = Self.header(head, at: at, fileSize: size), count < Self.mostBoxes else {
                throw .unclear(Self.name)
            }
            switch box.type {
            case "ftyp": break
            case "mdat": dataBytes += box.body.count
            case "moov":
                guard !hasIndex, box.body.count <= Self.largestIndex else { throw .unclear(Self.name) }
                hasIndex = true
                let bytes = try file.read(box.body)
                try look(at: bytes, bytes.indices)
            case "free", "skip", "wide":
                guard box.body.count <= Self.largestPadding else { throw Self.padding }
                try Self.requireEmpty(try file.read(box.body)[...])
            default: throw Self.refusal(box.type)
            }
            at = box.all.upperBound
            count += 1
        }
        guard hasIndex else { throw .unclear(Self.name) }
        // What no track needs was left behind by a program, or is read in a way of its own.
        guard dataBytes <= sampleBytes else { throw .place("it is a film with data that belong to no track") }
    }

    private static func header(_ head: [UInt8], at: Int, fileSize: Int) -> Box? {
        guard var length = head.big(at: 0), let type = head.text(at: 4) else { return nil }
        var size = 8
        if length == 1 {
            guard let long = head.big(at: 8, size: 8) else { return nil }
            length = long
            size = 16
        } else if length == 0 {
            length = fileSize - at
        }
        guard length >= size, length <= fileSize - at else { return nil }
        return Box(type: type, all: at..<at + length, body: at + size..<at + length)
    }

    private mutating func look(at bytes: [UInt8], _ range: Range<Int>, depth: Int = 0) throws(PhotoError) {
        guard depth < Self.deepest else { throw .unclear(Self.name) }
        for box in try bytes.boxes(in: range, of: Self.name) {
            switch box.type {
            case "udta": try lookAtNotes(bytes, box.body)
            case "meta": try lookAtKeys(bytes, box.body)
            case "hdlr":
                guard let handler = bytes.text(at: box.body.lowerBound + 8), Self.handlers.contains(handler) else {
                    throw .place("it is a film with a track of data, which may tell the way that it was carried")
                }
            case "stsz": try count(bytes, box.body)
            case "free", "skip", "wide": try Self.requireEmpty(bytes[box.body])
            case let type where Self.folders.contains(type): try look(at: bytes, box.body, depth: depth + 1)
            case let type where Self.tellNothing.contains(type): break
            default: throw Self.refusal(box.type)
            }
        }
    }

    private mutating func count(_ bytes: [UInt8], _ body: Range<Int>) throws(PhotoError) {
        guard let size = bytes.big(at: body.lowerBound + 4), let count = bytes.big(at: body.lowerBound + 8) else {
            throw .unclear(Self.name)
        }
        var sum = 0
        if size > 0 {
            guard count <= Self.mostBytes / size else { throw .unclear(Self.name) }
            sum = size * count
        } else {
            guard body.count == 12 + 4 * count else { throw .unclear(Self.name) }
            for index in 0..<count { sum += bytes.big(at: body.lowerBound + 12 + 4 * index) ?? 0 }
        }
        sampleBytes = min(sampleBytes + sum, Self.mostBytes)
    }

    /// QuickTime may end them with a zero.
    private mutating func lookAtNotes(_ bytes: [UInt8], _ body: Range<Int>) throws(PhotoError) {
        let isEnded = body.count >= 4 && bytes.big(at: body.upperBound - 4) == 0
        for box in try bytes.boxes(in: isEnded ? body.dropLast(4) : body, of: Self.name) {
            if box.type == "meta" {
                try lookAtKeys(bytes, box.body)
            } else if !Self.notes.contains(box.type) {
                throw Self.refusal(box.type)
            }
        }
    }

    private mutating func lookAtKeys(_ bytes: [UInt8], _ body: Range<Int>) throws(PhotoError) {
        // ISO's box has a version in front, QuickTime's has none.
        let start = bytes.text(at: body.lowerBound + 4) == "hdlr" ? 0 : 4
        for box in try bytes.boxes(in: body.dropFirst(start), of: Self.name) {
            switch box.type {
            case "hdlr": break
            case "keys":
                for key in try bytes.boxes(in: box.body.dropFirst(8), of: Self.name) {
                    let name = String(decoding: bytes[key.body], as: UTF8.self)
                    guard Self.keys.contains(name) else {
                        throw name.contains("location") ? Self.position(name) : Self.refusal(name)
                    }
                }
            case "ilst":
                for note in try bytes.boxes(in: box.body, of: Self.name) {
                    // A number stands for one of the keys.
                    let isNumber = note.type.unicodeScalars.first == "\0"
                    guard isNumber || Self.notes.contains(note.type) else { throw Self.refusal(note.type) }
                }
            case "free", "skip": try Self.requireEmpty(bytes[box.body])
            default: throw Self.refusal(box.type)
            }
        }
    }

    private static let padding = PhotoError.place("it is a film with something in its padding")

    private static func requireEmpty(_ bytes: ArraySlice<UInt8>) throws(PhotoError) {
        guard bytes.allSatisfy({ $0 == 0 }) else { throw padding }
    }

    private static func refusal(_ type: String) -> PhotoError {
        positions.contains(type)
            ? position(type) : .place("it is a film with an entry that may tell a position (\(type.escapingControls))")
    }

    private static func position(_ name: String) -> PhotoError {
        .place("it is a film that tells where it was taken (\(name.escapingControls))")
    }
}

/// A box of ISO 14496-12 (section 4.2).
struct Box {
    let type: String
    /// With its header.
    let all: Range<Int>
    let body: Range<Int>
}

extension [UInt8] {
    /// The boxes in a range, one behind the other.
    /// - Throws: `.tellsPlace` when they do not fill it.
    func boxes(in range: Range<Int>, of type: String) throws(PhotoError) -> [Box] {
        var boxes: [Box] = []
        var at = range.lowerBound
        while at < range.upperBound {
            guard var length = big(at: at), let name = text(at: at + 4) else { throw .unclear(type) }
            var header = 8
            if length == 1 {
                guard let long = big(at: at + 8, size: 8) else { throw .unclear(type) }
                length = long
                header = 16
            } else if length == 0 {
                length = range.upperBound - at
            }
            guard length >= header, length <= range.upperBound - at else { throw .unclear(type) }
            boxes.append(Box(type: name, all: at..<at + length, body: at + header..<at + length))
            at += length
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
