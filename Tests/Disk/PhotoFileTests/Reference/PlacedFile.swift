@testable import SyncPhotos

/// Files of all types with a place in every room that can hold one, written byte by byte.
enum PlacedFile {
    /// Wherever a place is told, it is told by this word.
    static let place = "OSAKA"
    /// What belongs to the picture.
    static let picture: [UInt8] = (0..<200).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }
    /// What the EXIF block tells besides.
    static let maker = "Acme Works"
    static let xmp = "<x:xmpmeta photoshop:City='\(place)' exif:GPSLatitude='34,41.6N'/>"

    static var placeBytes: [UInt8] { Array(place.utf8) }

    /// Every tag that says where, a second picture's directory, and a position that no entry points at.
    static func exif(orientation: Int = 1) -> [UInt8] {
        func bytes(_ text: String) -> TIFFDirectory.Value { .bytes(Array((text + place).utf8)) }
        let position = TIFFDirectory([0x0001: .text("N"), 0x001B: bytes("GPS"), 0x001C: bytes("Area")])
        return TIFFDirectory([
            0x010E: .text("Castle of " + place),
            0x010F: .text(maker),
            0x0112: .short(orientation),
            0x014A: .directory(TIFFDirectory([0x010E: .text(place), 0x8825: .directory(position)])),
            0x02BC: bytes(xmp),
            0x83BB: bytes("\u{1C}\u{2}Z"),
            0x8649: bytes("8BIM"),
            0x8769: .directory(
                TIFFDirectory([
                    0x829A: .bytes([1, 2]),
                    0x9003: .text("2024:06:15 12:30:45"),
                    0x927C: bytes("Nikon\0GPS"),
                    0x9286: bytes("ASCII\0\0\0In "),
                    0x9402: bytes("pressure"),
                ])),
            0x8825: .directory(position),
            0x9C9C: bytes("At "),
        ]).block + position.block + Array(place.utf8)
    }

    // MARK: PNG

    private static func pngChunk(_ chunk: (String, [UInt8])) -> [UInt8] {
        var bytes = big(chunk.1.count)
        bytes += Array(chunk.0.utf8)
        bytes += chunk.1
        // Readers of the picture check the sums, the cut does not.
        return bytes + [1, 2, 3, 4]
    }

    static func png(_ extra: [(String, [UInt8])] = []) -> [UInt8] {
        var chunks: [(String, [UInt8])] = [
            ("IHDR", [0, 0, 0, 4, 0, 0, 0, 4, 8, 0, 0, 0, 0]), ("gAMA", [0, 0, 0xB1, 0x8F]), ("eXIf", exif()),
            ("tEXt", Array("Description\0\(place)".utf8)), ("zTXt", Array("Raw profile type iptc\0\0\(place)".utf8)),
            ("iTXt", Array("XML:com.adobe.xmp\0\0\0\0\0\(xmp)".utf8)), ("prVt", placeBytes),
        ]
        chunks += extra
        chunks += [("IDAT", picture), ("IEND", [])]
        let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        return signature + chunks.flatMap(pngChunk) + placeBytes
    }

    // MARK: WebP, GIF

    private static func riffChunk(_ type: String, _ body: [UInt8]) -> [UInt8] {
        var bytes = Array(type.utf8)
        bytes += little(body.count)
        bytes += body
        return body.count % 2 == 0 ? bytes : bytes + [0]
    }

    static func webp() -> [UInt8] {
        var frame = [UInt8](repeating: 0, count: 16)
        frame += riffChunk("VP8 ", picture)
        frame += riffChunk("plac", placeBytes)
        var body = riffChunk("VP8X", [0x0C, 0, 0, 0, 3, 0, 0, 3, 0, 0])
        body += riffChunk("ANMF", frame)
        body += riffChunk("VP8L", picture)
        body += riffChunk("EXIF", Array("Exif\0\0".utf8) + exif())
        body += riffChunk("XMP ", Array(xmp.utf8))
        body += riffChunk("plac", placeBytes)
        return Array("RIFF".utf8) + little(body.count + 4) + Array("WEBP".utf8) + body + placeBytes
    }

    private static func gifBlocks(_ blocks: [UInt8]...) -> [UInt8] {
        blocks.flatMap { [UInt8($0.count)] + $0 } + [0]
    }

    static func gif() -> [UInt8] {
        var bytes = Array("GIF89a".utf8)
        bytes += [4, 0, 4, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255] as [UInt8]
        bytes += [0x21, 0xFF] as [UInt8]
        bytes += gifBlocks(Array("NETSCAPE2.0".utf8), [1, 0, 0])
        bytes += [0x21, 0xFE] as [UInt8]
        bytes += gifBlocks(placeBytes)
        bytes += [0x21, 0xFF] as [UInt8]
        bytes += gifBlocks(Array("XMP DataXMP".utf8), placeBytes)
        bytes += [0x21, 0xF9] as [UInt8]
        bytes += gifBlocks([0, 0, 0, 0])
        bytes += [0x2C, 0, 0, 0, 0, 4, 0, 4, 0, 0, 2] as [UInt8]
        bytes += gifBlocks(picture)
        return bytes + [0x3B] + placeBytes
    }

    // MARK: TIFF

    /// - Parameter extra: one more entry of the image.
    static func tiff(_ extra: (tag: Int, value: TIFFDirectory.Value)? = nil, compression: Int = 1) -> [UInt8] {
        let data = 8
        let position = TIFFDirectory([0x001B: .bytes(Array("GPS \(place)".utf8))])
        let directory = TIFFDirectory([
            0x0100: .short(10), 0x0101: .short(20), 0x0102: .short(8), 0x0103: .short(compression), 0x0106: .short(1),
            0x010E: .text(place), 0x010F: .text(maker), 0x0111: .long(data), 0x0117: .long(picture.count),
            0x02BC: .bytes(Array(xmp.utf8)), 0x83BB: .bytes(placeBytes),
            0x8769: .directory(
                TIFFDirectory([
                    0x9003: .text("2024:06:15 12:30:45"), 0x927C: .bytes(placeBytes), 0x9286: .bytes(placeBytes),
                ])),
            0x8825: .directory(position), extra?.tag ?? 0xFFFF: extra?.value,
        ])
        let start = data + picture.count
        return Array("MM\0*".utf8) + big(start) + picture + directory.bytes(at: start) + placeBytes
    }

    // MARK: HEIF

    static func box(_ type: String, _ body: [UInt8]) -> [UInt8] { big(body.count + 8) + Array(type.utf8) + body }

    private static func itemEntry(_ id: UInt8, _ type: String, _ content: String? = nil) -> [UInt8] {
        var body: [UInt8] = [2, 0, 0, 0, 0, id, 0, 0]
        body += Array(type.utf8)
        body.append(0)
        if let content { body += Array((content + "\0").utf8) }
        return box("infe", body)
    }

    private static func itemPlace(_ id: UInt8, _ start: Int, _ count: Int) -> [UInt8] {
        let head: [UInt8] = [0, id, 0, 0, 0, 1]
        return head + big(start) + big(count)
    }

    private static func meta(item: String, property: String, places: [UInt8]) -> [UInt8] {
        let zeros = [UInt8](repeating: 0, count: 12)
        let entries = itemEntry(1, item) + itemEntry(2, "Exif") + itemEntry(3, "mime", "application/rdf+xml")
        let properties = box("ipco", box("ispe", zeros) + box(property, placeBytes))
        var body: [UInt8] = [0, 0, 0, 0]
        body += box("hdlr", zeros.dropLast(4) + Array("pict".utf8))
        body += box("pitm", [0, 0, 0, 0, 0, 1])
        body += box("iinf", [0, 0, 0, 0, 0, 3] + entries)
        body += box("iprp", properties + box("ipma", zeros))
        body += box("xml ", placeBytes)
        body += box("iloc", [0, 0, 0, 0, 0x44, 0, 0, 3] + places)
        return box("meta", body)
    }

    /// - Parameters:
    ///   - property: of the picture, besides its size.
    ///   - last: a box behind all others.
    static func heic(item: String = "hvc1", property: String = "udes", last: String = "mpvd") -> [UInt8] {
        let exifItem = big(6) + Array("Exif\0\0".utf8) + exif(orientation: 6)
        let xmpItem = Array(xmp.utf8)
        let ftyp = box("ftyp", Array("heic\0\0\0\0mif1heic".utf8))
        func places(_ data: Int) -> [UInt8] {
            let first = data + placeBytes.count
            let second = first + picture.count
            let third = second + exifItem.count
            return itemPlace(1, first, picture.count) + itemPlace(2, second, exifItem.count)
                + itemPlace(3, third, xmpItem.count)
        }
        let data = ftyp.count + meta(item: item, property: property, places: places(0)).count + 8
        var bytes = ftyp
        bytes += meta(item: item, property: property, places: places(data))
        bytes += box("mdat", placeBytes + picture + exifItem + xmpItem + placeBytes)
        return bytes + box(last, placeBytes)
    }

    // MARK: Films

    /// - Parameters:
    ///   - notes: entries of `udta`.
    ///   - track: boxes of the track, besides what makes it one.
    ///   - way: data of a second track, as cameras write where they are carried.
    ///   - other: what the second track is of.
    ///   - each: the one size that all samples of the track have; 0 for a size of each.
    ///   - entries: of the second track's `stsd`.
    static func mp4(
        notes: [UInt8] = [], handler: String = "vide", track: [UInt8] = [], excess: Int = 0, way: [UInt8] = [],
        each: Int = 0, other: String = "meta", entries: [UInt8] = []
    ) -> [UInt8] {
        // Behind the first two boxes and the head of the data.
        let data = 36
        var movie = box("mvhd", zeros(100))
        movie += filmTrack(handler, extra: track, sizes: [150, 50], at: data, each: each)
        if !way.isEmpty {
            movie += filmTrack(other, sizes: [way.count], at: data + picture.count + excess, entries: entries)
        }
        if !notes.isEmpty { movie += box("udta", notes) }
        var bytes = box("ftyp", Array("isom\0\0\0\0".utf8))
        bytes += box("free", zeros(4))
        bytes += box("mdat", picture + [UInt8](repeating: 7, count: excess) + way)
        return bytes + box("moov", movie)
    }

    /// One chunk of samples.
    private static func filmTrack(
        _ handler: String, extra: [UInt8] = [], sizes: [Int], at start: Int, each: Int = 0,
        entries: [UInt8] = []
    ) -> [UInt8] {
        let table = each > 0 ? [] : sizes.flatMap(big)
        var tables = box("stsd", zeros(8) + entries) + box("stsz", zeros(4) + big(each) + big(sizes.count) + table)
        tables += box("stsc", zeros(4) + big(1) + big(1) + big(sizes.count) + big(1))
        tables += box("stco", zeros(4) + big(1) + big(start))
        let kind = box("hdlr", zeros(8) + Array(handler.utf8) + zeros(13))
        let media = box("mdia", box("mdhd", zeros(24)) + kind + box("minf", box("vmhd", [0]) + box("stbl", tables)))
        return box("trak", box("tkhd", [0]) + extra + media)
    }

    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    // MARK: Numbers

    static func big(_ value: Int) -> [UInt8] { (0..<4).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
    static func little(_ value: Int) -> [UInt8] { big(value).reversed() }
}
