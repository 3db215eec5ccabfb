@testable import SyncPhotos

/// A picture with a secret in every place of a JPEG that can hold one.
enum TellingPicture {
    static let secret = "PLANTED"

    /// Where a secret stands between two segments: behind the first one.
    static let gap = 2 + 4 + 14 + secret.utf8.count

    /// A profile with colours, and with a secret in each text and name.
    static let profile: [UInt8] = {
        let text = Array("text\0\0\0\0\(secret)".utf8)
        let xyz = Array("XYZ \0\0\0\0".utf8) + [0, 0, 0xF6, 0xD6, 0, 1, 0, 0, 0, 0, 0xD3, 0x2D]
        let curve = Array("curv\0\0\0\0".utf8) + [0, 0, 0, 1, 2, 0x33]
        let tags: [(String, [UInt8])] = [
            ("desc", text), ("cprt", text), ("wtpt", xyz + secret.utf8), ("rXYZ", xyz), ("dmnd", text), ("dmdd", text),
            ("rTRC", curve), ("mmod", text), ("meta", text), ("tech", text), ("vcgt", text),
        ]
        var (table, data): ([UInt8], [UInt8]) = (PlacedFile.big(tags.count), [])
        for (name, value) in tags {
            table += Array(name.utf8) + PlacedFile.big(132 + 12 * tags.count + data.count) + PlacedFile.big(value.count)
            data += value + [UInt8](repeating: 0, count: (4 - value.count % 4) % 4)
        }
        var header = [UInt8](repeating: 0, count: 128)
        header.replaceSubrange(0..<4, with: PlacedFile.big(128 + table.count + data.count))
        header.replaceSubrange(8..<24, with: [2, 0x40, 0, 0] + Array("mntrRGB XYZ ".utf8))
        header.replaceSubrange(36..<40, with: Array("acsp".utf8))
        header.replaceSubrange(48..<55, with: Array(secret.utf8))
        header.replaceSubrange(80..<87, with: Array(secret.utf8))
        return header + table + data
    }()

    /// Every tag that names a person, a device or a place, and times with text behind them.
    static func exif(orientation: Int = 1) -> [UInt8] {
        func bytes(_ text: String) -> TIFFDirectory.Value { .bytes(Array((text + secret).utf8)) }
        return TIFFDirectory([
            0x010E: .text("Grandma at home " + secret),
            0x010F: .text("ACME " + secret),
            0x0110: .text("One " + secret),
            0x0112: .short(orientation),
            0x0131: .text("Editor " + secret),
            0x0132: .text("2024:06:20 08:00:00"),
            0x013B: .text(secret),
            0x8298: .text("(c) " + secret),
            0x8769: .directory(
                TIFFDirectory([
                    0x9003: .text("2024:06:15 12:30:45 \(secret)"),
                    0x9011: .text("+02:00"),
                    0x9291: .text("25 \(secret)"),
                    0x927C: bytes("Maker"),
                    0x9286: bytes("ASCII\0\0\0"),
                    0xA001: .short(0xFFFF),
                    0xA005: .directory(TIFFDirectory([0x0001: .text("R03")])),
                    0xA420: .text(secret),
                    0xA430: .text(secret),
                    0xA431: .text(secret),
                    0xA435: .text(secret),
                ])),
            0x8825: .directory(TIFFDirectory([0x0001: .text("N"), 0x001B: bytes("GPS"), 0x001D: .text("2024:06:15")])),
        ]).block
    }

    /// - Parameters:
    ///   - picture: without metadata of its own.
    ///   - hasTrailer: whether a second picture and a film stand behind its end, as phones append them.
    static func file(_ picture: [UInt8], orientation: Int = 1, hasTrailer: Bool = true) throws -> [UInt8] {
        var file = try JPEGSegments(picture)
        func segment(_ marker: UInt8, _ text: String, _ rest: [UInt8] = []) -> JPEGSegments.Segment {
            JPEGSegments.Segment(marker: marker, body: Array(text.utf8) + rest + Array(secret.utf8))
        }
        let jfif: [UInt8] = [1, 1, 1, 0, 72, 0, 72, 1, 2]
        var header = [
            segment(0xE0, "JFIF\0", jfif), segment(0xE0, "JFXX\0", [0x10]),
            segment(0xE1, "Exif\0\0", exif(orientation: orientation)),
            segment(0xE1, "http://ns.adobe.com/xap/1.0/\0<x:xmpmeta>"),
            segment(0xE1, "http://ns.adobe.com/xmp/extension/\0"),
            segment(0xE2, "ICC_PROFILE\0", [1, 1] + profile), segment(0xE2, "MPF\0"), segment(0xE2, "FPXR\0"),
            segment(0xED, "Photoshop 3.0\08BIM\u{4}\u{4}\0\0\0\0\0\u{7}"),
            segment(0xEE, "Adobe", [0, 100, 0, 0, 0, 0, file.segments.contains { $0.body.count == 17 } ? 1 : 0]),
            segment(0xFE, "Comment "),
        ]
        header += (0xE3...0xEF).filter { ![0xED, 0xEE].contains($0) }.map { segment($0, "") }
        file.segments = header + file.segments.filter { !(0xE0...0xEF).contains($0.marker) && $0.marker != 0xFE }
        if let scan = file.segments.firstIndex(where: { $0.marker == 0xDA }), scan + 1 < file.segments.count {
            file.segments.insert(segment(0xFE, "between scans"), at: scan + 1)
        }
        var bytes = file.bytes
        bytes.insert(contentsOf: secret.utf8, at: gap)
        return hasTrailer ? bytes + picture + Array("ftypmp42 MotionPhoto_Data \(secret)".utf8) : bytes
    }
}
