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

    static func png(_ extra: [(String, [UInt8])] = []) -> [UInt8] {
        let chunks: [(String, [UInt8])] =
            [
                ("IHDR", [0, 0, 0, 4, 0, 0, 0, 4, 8, 0, 0, 0, 0]), ("gAMA", [0, 0, 0xB1, 0x8F]), ("eXIf", exif()),
                ("tEXt", Array("Description\0\(place)".utf8)),
                ("zTXt", Array("Raw profile type iptc\0\0\(place)".utf8)),
                ("iTXt", Array("XML:com.adobe.xmp\0\0\0\0\0\(xmp)".utf8)), ("prVt", placeBytes),
            ] + extra + [("IDAT", picture), ("IEND", [])]
        // Readers of the picture check the sums, the cut does not.
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            + chunks.flatMap { big($0.1.count) + Array($0.0.utf8) + $0.1 + [1, 2, 3, 4] } + placeBytes
    }

    // MARK: WebP, GIF

    static func webp() -> [UInt8] {
        func chunk(_ type: String, _ body: [UInt8]) -> [UInt8] {
            Array(type.utf8) + little(body.count) + body + (body.count % 2 == 0 ? [] : [0])
        }
        let body =
            chunk("VP8X", [0x0C, 0, 0, 0, 3, 0, 0, 3, 0, 0])
            + chunk("ANMF", [UInt8](repeating: 0, count: 16) + chunk("VP8 ", picture) + chunk("plac", placeBytes))
            + chunk("VP8L", picture) + chunk("EXIF", Array("Exif\0\0".utf8) + exif()) + chunk("XMP ", Array(xmp.utf8))
            + chunk("plac", placeBytes)
        return Array("RIFF".utf8) + little(body.count + 4) + Array("WEBP".utf8) + body + placeBytes
    }

    static func gif() -> [UInt8] {
        func blocks(_ bytes: [UInt8]) -> [UInt8] { [UInt8(bytes.count)] + bytes + [0] }
        return Array("GIF89a".utf8) + [4, 0, 4, 0, 0x80, 0, 0] + [0, 0, 0, 255, 255, 255]
            + [0x21, 0xFF] + blocks(Array("NETSCAPE2.0".utf8)).dropLast() + blocks([1, 0, 0])
            + [0x21, 0xFE] + blocks(placeBytes) + [0x21, 0xFF] + blocks(Array("XMP DataXMP".utf8)).dropLast()
            + blocks(placeBytes) + [0x21, 0xF9] + blocks([0, 0, 0, 0])
            + [0x2C, 0, 0, 0, 0, 4, 0, 4, 0, 0, 2] + blocks(picture) + [0x3B] + placeBytes
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

    /// - Parameters:
    ///   - property: of the picture, besides its size.
    ///   - last: a box behind all others.
    static func heic(item: String = "hvc1", property: String = "udes", last: String = "mpvd") -> [UInt8] {
        let exifItem = big(6) + Array("Exif\0\0".utf8) + exif(orientation: 6)
        let xmpItem = Array(xmp.utf8)
        func entry(_ id: UInt8, _ type: String, _ content: String = "") -> [UInt8] {
            let text = type == "mime" ? Array((content + "\0").utf8) : []
            return box("infe", [2, 0, 0, 0, 0, id, 0, 0] + Array(type.utf8) + [0] + text)
        }
        let ftyp = box("ftyp", Array("heic\0\0\0\0mif1heic".utf8))
        func meta(_ data: Int) -> [UInt8] {
            let items = [picture.count, exifItem.count, xmpItem.count]
            let starts = [data + place.utf8.count, data + place.utf8.count + items[0], 0]
            let extents = (0..<3).flatMap { index -> [UInt8] in
                let start = index == 2 ? starts[1] + items[1] : starts[index]
                return [0, UInt8(index + 1), 0, 0, 0, 1] + big(start) + big(items[index])
            }
            return box(
                "meta",
                [0, 0, 0, 0] + box("hdlr", [UInt8](repeating: 0, count: 8) + Array("pict".utf8))
                    + box("pitm", [0, 0, 0, 0, 0, 1])
                    + box(
                        "iinf",
                        [0, 0, 0, 0, 0, 3] + entry(1, item) + entry(2, "Exif")
                            + entry(3, "mime", "application/rdf+xml"))
                    + box(
                        "iprp",
                        box("ipco", box("ispe", [UInt8](repeating: 0, count: 12)) + box(property, placeBytes))
                            + box("ipma", [0, 0, 0, 0, 0, 0, 0, 0]))
                    + box("xml ", placeBytes) + box("iloc", [0, 0, 0, 0, 0x44, 0, 0, 3] + extents))
        }
        let data = ftyp.count + meta(0).count + 8
        return ftyp + meta(data) + box("mdat", placeBytes + picture + exifItem + xmpItem + placeBytes)
            + box(last, placeBytes)
    }

    // MARK: Films

    /// - Parameters:
    ///   - notes: entries of `udta`.
    ///   - track: boxes of the track, besides what makes it one.
    static func mp4(notes: [UInt8] = [], handler: String = "vide", track: [UInt8] = [], excess: Int = 0) -> [UInt8] {
        let sizes = box("stsz", [0, 0, 0, 0] + big(0) + big(2) + big(150) + big(50))
        let media = box(
            "mdia",
            box("mdhd", [UInt8](repeating: 0, count: 24))
                + box("hdlr", [UInt8](repeating: 0, count: 8) + Array(handler.utf8) + [UInt8](repeating: 0, count: 13))
                + box("minf", box("vmhd", [0]) + box("stbl", box("stsd", [0]) + sizes)))
        let moov = box(
            "moov",
            box("mvhd", [UInt8](repeating: 0, count: 100)) + box("trak", box("tkhd", [0]) + track + media)
                + (notes.isEmpty ? [] : box("udta", notes)))
        return box("ftyp", Array("isom\0\0\0\0".utf8)) + box("free", [0, 0, 0, 0])
            + box("mdat", picture + [UInt8](repeating: 7, count: excess)) + moov
    }

    // MARK: Numbers

    static func big(_ value: Int) -> [UInt8] { (0..<4).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
    static func little(_ value: Int) -> [UInt8] { big(value).reversed() }
}
