/// Files that tell when they were taken, each by one thing, and have no picture.
enum TimeFiles {
    static func number(_ value: Int, _ size: Int) -> [UInt8] {
        (0..<size).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// A TIFF block with what an EXIF directory and a GPS directory hold.
    static func exif(_ texts: [(tag: Int, text: String)] = [], gps: (date: String, time: [Int])? = nil) -> [UInt8] {
        func text(_ tag: Int, _ text: String) -> (Int, Int, Int, [UInt8]) {
            (tag, 2, text.utf8.count + 1, Array(text.utf8) + [0])
        }
        let first = 8 + 2 + 2 * 12 + 4
        let exif = directory(texts.map { text($0.tag, $0.text) }, at: first)
        let position = gps.map { gps in
            [
                (7, 5, 3, gps.time.flatMap { number($0, 4) + number(1, 4) }), text(0x1D, gps.date),
            ]
        }
        let second = first + exif.count
        return Array("MM\0*".utf8) + number(8, 4)
            + directory(
                [(0x8769, 4, 1, number(first, 4)), (0x8825, 4, 1, number(second, 4))], at: 8)
            + exif + directory(position ?? [], at: second)
    }

    private static func directory(_ entries: [(tag: Int, type: Int, count: Int, data: [UInt8])], at start: Int)
        -> [UInt8]
    {
        var (head, data): ([UInt8], [UInt8]) = (number(entries.count, 2), [])
        let dataStart = start + 2 + entries.count * 12 + 4
        for entry in entries {
            head += number(entry.tag, 2) + number(entry.type, 2) + number(entry.count, 4)
            if entry.data.count <= 4 {
                head += entry.data + [UInt8](repeating: 0, count: 4 - entry.data.count)
            } else {
                head += number(dataStart + data.count, 4)
                data += entry.data + (entry.data.count.isMultiple(of: 2) ? [] : [0])
            }
        }
        return head + number(0, 4) + data
    }

    static func xmp(_ attributes: String) -> [UInt8] {
        Array(
            "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF><rdf:Description \(attributes)/></rdf:RDF></x:xmpmeta>".utf8)
    }

    static func iptc(_ sets: [(number: Int, text: String)]) -> [UInt8] {
        sets.flatMap { [0x1C, 2, UInt8($0.number)] + number($0.text.utf8.count, 2) + Array($0.text.utf8) }
    }

    // MARK: Containers

    static func jpeg(exif: [UInt8]? = nil, xmp: [UInt8]? = nil, iptc: [UInt8]? = nil) -> [UInt8] {
        func segment(_ marker: UInt8, _ body: [UInt8]) -> [UInt8] { [0xFF, marker] + number(body.count + 2, 2) + body }
        let other = Array("8BIM".utf8) + number(0x03ED, 2) + [3] + Array("abc".utf8) + number(3, 4) + [1, 2, 3, 0]
        return [0xFF, 0xD8] + segment(0xE0, Array("JFIF\0".utf8) + [1, 2, 0, 0, 1, 0, 1, 0, 0])
            + (exif.map { segment(0xE1, Array("Exif\0\0".utf8) + $0) } ?? [])
            + (xmp.map { segment(0xE1, Array("http://ns.adobe.com/xap/1.0/\0".utf8) + $0) } ?? [])
            + (iptc.map {
                let resource = Array("8BIM".utf8) + number(0x0404, 2) + [0, 0] + number($0.count, 4) + $0
                return segment(0xED, Array("Photoshop 3.0\0".utf8) + other + resource)
            } ?? []) + [0xFF, 0xDA, 0, 2]
    }

    static func png(exif: [UInt8]? = nil, xmp: [UInt8]? = nil) -> [UInt8] {
        func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
            number(body.count, 4) + Array(name.utf8) + body + number(0, 4)
        }
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", [UInt8](repeating: 0, count: 13))
            + chunk("IDAT", [UInt8](repeating: 7, count: 99)) + (exif.map { chunk("eXIf", $0) } ?? [])
            + (xmp.map { chunk("iTXt", Array("XML:com.adobe.xmp\0\0\0\0\0".utf8) + $0) } ?? []) + chunk("IEND", [])
    }

    static func webP(exif: [UInt8]? = nil, xmp: [UInt8]? = nil) -> [UInt8] {
        func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
            Array(name.utf8) + number(body.count, 4).reversed() + body + (body.count.isMultiple(of: 2) ? [] : [0])
        }
        let body =
            chunk("VP8X", [UInt8](repeating: 0, count: 10)) + chunk("VP8 ", [1, 2, 3])
            + (exif.map { chunk("EXIF", $0) } ?? []) + (xmp.map { chunk("XMP ", $0) } ?? [])
        return Array("RIFF".utf8) + number(body.count + 4, 4).reversed() + Array("WEBP".utf8) + body
    }

    private static func box(_ type: String, _ body: [UInt8]) -> [UInt8] {
        number(body.count + 8, 4) + Array(type.utf8) + body
    }

    /// A HEIF file with its EXIF block as its second item.
    static func heic(exif: [UInt8]) -> [UInt8] {
        func info(_ item: Int, _ type: String) -> [UInt8] {
            box("infe", [2, 0, 0, 0] + number(item, 2) + number(0, 2) + Array(type.utf8) + [0])
        }
        let head = box("ftyp", Array("heic\0\0\0\0mif1heic".utf8))
        let infos = box("iinf", [0, 0, 0, 0] + number(2, 2) + info(1, "hvc1") + info(2, "Exif"))
        let data = number(6, 4) + Array("Exif\0\0".utf8) + exif
        func location(_ item: Int, _ offset: Int, _ length: Int) -> [UInt8] {
            let item: [UInt8] = number(item, 2) + number(0, 2) + number(0, 2) + number(1, 2)
            return item + number(offset, 4) + number(length, 4)
        }
        func locations(_ start: Int) -> [UInt8] {
            let head: [UInt8] = [1, 0, 0, 0, 0x44, 0x00] + number(2, 2)
            let items: [UInt8] = location(1, start, 3) + location(2, start + 3, data.count)
            return box("iloc", head + items)
        }
        func meta(_ start: Int) -> [UInt8] { box("meta", [0, 0, 0, 0] + infos + locations(start)) }
        return head + meta(head.count + meta(0).count + 8) + box("mdat", [1, 2, 3] + data)
    }

    static func quickTime(_ creationDate: String) -> [UInt8] {
        let keys = box(
            "keys",
            number(0, 4) + number(2, 4) + key("com.apple.quicktime.make") + key("com.apple.quicktime.creationdate"))
        func value(_ index: Int, _ text: String) -> [UInt8] {
            let data = box("data", number(1, 4) + number(0, 4) + Array(text.utf8))
            return number(data.count + 8, 4) + number(index, 4) + data
        }
        let list = box("ilst", value(1, "Apple") + value(2, creationDate))
        let meta = box("meta", box("hdlr", [UInt8](repeating: 0, count: 25)) + keys + list)
        return box("ftyp", Array("qt  \0\0\0\0".utf8)) + box("mdat", [UInt8](repeating: 3, count: 500))
            + box("moov", box("mvhd", [UInt8](repeating: 0, count: 100)) + meta)
    }

    private static func key(_ name: String) -> [UInt8] { box("mdta", Array(name.utf8)) }
}
