import SyncCore
import SystemPackage

extension MediaType {
    /// What a file's first bytes (4 KiB are enough) say that it is; `nil` when they are no photo or video.
    init?(sniffing head: [UInt8]) {
        guard let type = Self.photo(head) ?? Self.container(head) ?? Self.video(head) else { return nil }
        self = type
    }

    private static func photo(_ head: [UInt8]) -> MediaType? {
        for (magic, name) in Self.photoMagics where head.starts(with: magic) {
            return name == MediaType.jpeg.name ? .jpeg : MediaType(.image, name)
        }
        // Two letters are little to go by: BMP's reserved fields are zero, and its header has one of a few lengths.
        if head.has("BM"), head.count >= 18, head[6..<10].allSatisfy({ $0 == 0 }),
            [12, 40, 52, 56, 64, 108, 124].contains(head[14])
        {
            return MediaType(.image, "image/bmp")
        }
        if isOS2Bitmap(head) { return MediaType(.image, "image/bmp") }
        return head.has("HEAPCCDR", at: 6) ? MediaType(.image, "image/x-canon-crw") : nil
    }

    /// OS/2's bitmaps: a hot spot where Windows has zeros, headers of other lengths, or several of them in an array. What
    /// follows must be the header of a picture.
    private static func isOS2Bitmap(_ head: [UInt8]) -> Bool {
        let start = head.has("BA") ? 14 : 0
        guard head.has("BM", at: start), let length = head.little(at: start + 14) else { return false }
        let size = length == 12 ? 2 : 4
        guard length == 12 || (16...64).contains(length), let planes = head.little(at: start + 18 + 2 * size, size: 2),
            let depth = head.little(at: start + 20 + 2 * size, size: 2)
        else { return false }
        return planes == 1 && [1, 2, 4, 8, 16, 24, 32].contains(depth)
    }

    /// In the order in which they are tried: a camera's TIFF comes before TIFF.
    private static let photoMagics: [(magic: [UInt8], name: String)] = [
        ([0xFF, 0xD8, 0xFF], "image/jpeg"),
        ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], "image/png"),
        (Array("GIF87a".utf8), "image/gif"),
        (Array("GIF89a".utf8), "image/gif"),
        (Array("II*\0\u{10}\0\0\0CR".utf8), "image/x-canon-cr2"),
        (Array("IIRO".utf8), "image/x-olympus-orf"),
        (Array("IIRS".utf8), "image/x-olympus-orf"),
        (Array("MMOR".utf8), "image/x-olympus-orf"),
        (Array("IIU\0".utf8), "image/x-panasonic-rw2"),
        (Array("II*\0".utf8), "image/tiff"),
        (Array("MM\0*".utf8), "image/tiff"),
        (Array("II+\0".utf8), "image/tiff"),
        (Array("MM\0+".utf8), "image/tiff"),
        (Array("FUJIFILMCCD-RAW".utf8), "image/x-fuji-raf"),
        (Array("FOVb".utf8), "image/x-sigma-x3f"),
        (Array("\0MRM".utf8), "image/x-minolta-mrw"),
        ([0xFF, 0x0A], "image/jxl"),
        ([0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A], "image/jxl"),
        ([0, 0, 0, 0x0C, 0x6A, 0x50, 0x20, 0x20, 0x0D, 0x0A, 0x87, 0x0A], "image/jp2"),
        ([0xFF, 0x4F, 0xFF, 0x51], "image/x-jp2-codestream"),
        (Array("8BPS".utf8), "image/vnd.adobe.photoshop"),
    ]

    /// Files whose first bytes name a container, and bytes further on what is in it: ISO 14496-12, RIFF.
    private static func container(_ head: [UInt8]) -> MediaType? {
        if head.has("RIFF") {
            if head.has("WEBP", at: 8) { return MediaType(.image, "image/webp") }
            return head.has("AVI ", at: 8) ? MediaType(.video, "video/x-msvideo") : nil
        }
        if head.has("ftyp", at: 4) {
            return brands(of: head).lazy.compactMap { Self.brandTypes[$0] }.first ?? MediaType(.video, "video/mp4")
        }
        // QuickTime from before there were brands: it begins with one of its atoms.
        let atoms = ["moov", "mdat", "wide", "pnot"]
        return atoms.contains { head.has($0, at: 4) } ? MediaType(.video, "video/quicktime") : nil
    }

    /// The major brand, then the compatible ones. `mif1` names any HEIF, so a brand behind it tells more.
    private static func brands(of head: [UInt8]) -> [String] {
        let length = head[..<4].reduce(0) { $0 << 8 | Int($1) }
        let starts = [8] + Array(stride(from: 16, to: max(16, min(length, head.count) - 3), by: 4))
        let brands = starts.filter { $0 + 4 <= head.count }.map { String(decoding: head[$0..<$0 + 4], as: UTF8.self) }
        return brands.filter { !generalBrands.contains($0) } + brands
    }

    private static let generalBrands: Set<String> = ["mif1", "msf1", "miaf"]

    private static let brandTypes: [String: MediaType] = {
        let names: [(MediaType, [String])] = [
            (MediaType(.image, "image/heic"), ["heic", "heix", "heim", "heis"]),
            (MediaType(.image, "image/heic-sequence"), ["hevc", "hevx", "hevm", "hevs"]),
            (MediaType(.image, "image/avif"), ["avif", "avis"]),
            (MediaType(.image, "image/x-canon-cr3"), ["crx "]),
            (MediaType(.image, "image/heif"), ["mif1", "msf1"]),
            (MediaType(.video, "video/quicktime"), ["qt  "]),
            (MediaType(.video, "video/x-m4v"), ["M4V ", "M4VH", "M4VP"]),
            (MediaType(.video, "video/3gpp"), ["3gp4", "3gp5", "3gp6", "3gp7", "3gs7", "3ge6", "3gg6"]),
            (MediaType(.video, "video/3gpp2"), ["3g2a", "3g2b", "3g2c"]),
            (
                MediaType(.video, "video/mp4"),
                ["isom", "iso2", "iso4", "iso5", "iso6", "mp41", "mp42", "avc1", "dash", "MSNV"]
            ),
            (MediaType(.other, "audio/mp4"), ["M4A ", "M4B ", "F4A "]),
        ]
        return Dictionary(uniqueKeysWithValues: names.flatMap { type, brands in brands.map { ($0, type) } })
    }()

    private static func video(_ head: [UInt8]) -> MediaType? {
        if head.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) {
            let isWebM = head.prefix(64).indices.contains { head.has("webm", at: $0) }
            return MediaType(.video, isWebM ? "video/webm" : "video/x-matroska")
        }
        if head.starts(with: [0, 0, 1, 0xBA]) || head.starts(with: [0, 0, 1, 0xB3]) {
            return MediaType(.video, "video/mpeg")
        }
        if head.starts(with: [0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11]) {
            return MediaType(.video, "video/x-ms-asf")
        }
        if head.starts(with: [0x46, 0x4C, 0x56, 0x01]) {
            return MediaType(.video, "video/x-flv")
        }
        // Transport streams: a sync byte at the start of each packet (ISO 13818-1), with 4 bytes before it on cameras.
        let isTransport = [(0, 188), (4, 192)].contains { start, length in
            (0..<4).allSatisfy { head.count > start + $0 * length && head[start + $0 * length] == 0x47 }
        }
        return isTransport ? MediaType(.video, "video/mp2t") : nil
    }
}

extension [UInt8] {
    /// Whether the bytes at an offset are those of the text.
    func has(_ text: String, at offset: Int = 0) -> Bool {
        count >= offset + text.utf8.count && self[offset...].starts(with: text.utf8)
    }
}

/// What a file's name promises. The bytes decide; the name refines, and makes a broken promise an error.
struct FileName {
    private let `extension`: String

    init(_ path: FilePath) {
        self.extension = path.extension?.lowercased() ?? ""
    }

    var isJSON: Bool { ["json", "jsonl", "ndjson"].contains(self.extension) }

    /// Whether people and cameras give this name to photos and videos only.
    var promisesMedia: Bool {
        UnitName.kind(of: self.extension).map { $0 != .sidecar } ?? false
    }

    /// Most cameras' raw files are TIFF by their bytes; only the name tells whose.
    func refined(_ type: MediaType) -> MediaType {
        guard type.name == "image/tiff", let name = Self.rawTypes[self.extension] else { return type }
        return MediaType(.image, name)
    }

    static let rawTypes = [
        "dng": "image/x-adobe-dng", "nef": "image/x-nikon-nef", "nrw": "image/x-nikon-nrw", "arw": "image/x-sony-arw",
        "srf": "image/x-sony-srf", "sr2": "image/x-sony-sr2", "pef": "image/x-pentax-pef", "srw": "image/x-samsung-srw",
        "3fr": "image/x-hasselblad-3fr", "fff": "image/x-hasselblad-fff", "iiq": "image/x-phaseone-iiq",
        "dcr": "image/x-kodak-dcr", "kdc": "image/x-kodak-kdc", "rwl": "image/x-leica-rwl",
    ]
}

/// The first bytes of a file that is no photo or video, in words for people.
struct UnknownBytes: CustomStringConvertible {
    let head: [UInt8]

    var looksLikeJSON: Bool {
        // Behind the mark of UTF-8, or that of UTF-16, in which every other byte is zero.
        let text = head.drop { [0xEF, 0xBB, 0xBF, 0xFE, 0xFF, 0, 0x20, 0x09, 0x0A, 0x0D].contains($0) }
        return text.first == UInt8(ascii: "{") || text.first == UInt8(ascii: "[")
    }

    var description: String {
        if head.isEmpty { return "empty" }
        if head.allSatisfy({ $0 == 0 }) { return "all zeros" }
        if let known = Self.magics.first(where: { head.has($0.text) }) { return known.name }
        if looksLikeText { return "text" }
        return "unknown (it begins with \(head.prefix(8).map { $0.padded(to: 2, radix: 16) }.joined(separator: " ")))"
    }

    private static let magics = [
        (text: "%PDF-", name: "a PDF document"),
        (text: "PK\u{3}\u{4}", name: "a ZIP archive"),
        (text: "<!DOCTYPE html", name: "an HTML page"),
        (text: "<!doctype html", name: "an HTML page"),
        (text: "<html", name: "an HTML page"),
        (text: "<?xml", name: "an XML document"),
        (text: "<svg", name: "an SVG drawing"),
        (text: "\u{7F}ELF", name: "a program"),
        (text: "SQLite format 3", name: "a database"),
    ]

    private var looksLikeText: Bool {
        // A character may be cut at the end of the bytes that were looked at.
        let text = String(decoding: head.prefix(max(0, head.count - 3)), as: UTF8.self)
        return !head.contains(0) && !text.isEmpty && !text.unicodeScalars.contains("\u{FFFD}")
    }
}

/// Files beside photos: XMP (ISO 16684-1) with ratings, keywords and edits, and the property lists of Apple's Photos.
enum Sidecar {
    private static let largest: Int64 = 16 << 20

    /// What a file is that is named as one; `nil` when it is none by its first bytes. What ends before it can be told is one,
    /// which is not whole.
    static func type(of head: [UInt8], named path: FilePath) -> MediaType? {
        guard UnitName.isSidecar(path.lastComponent) else { return nil }
        let isAAE = path.extension?.lowercased() == "aae"
        if isAAE, head.starts(with: "bplist00".utf8) { return .aae }
        let bytes = ascii(of: head)
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.drop(while: \.isWhitespace).first == "<" else { return nil }
        let marks = isAAE ? ["<plist"] : ["x:xmpmeta", "x:xapmeta", "rdf:RDF", "<?xpacket"]
        let ends = XMLEnds(bytes)
        guard marks.contains(where: text.contains) || (ends.root == nil && ends.isMarkup) else { return nil }
        return isAAE ? .aae : .xmp
    }

    /// Of UTF-8, UTF-16 and UTF-32 what is ASCII, without the mark.
    private static func ascii(of text: [UInt8]) -> [UInt8] {
        let start = Array(text.prefix(4))
        let widths: [(start: [UInt8], width: Int, place: Int)] = [
            ([0xFF, 0xFE, 0, 0], 4, 0), ([0x3C, 0, 0, 0], 4, 0), ([0, 0, 0xFE, 0xFF], 4, 3), ([0, 0, 0, 0x3C], 4, 3),
            ([0xFF, 0xFE], 2, 0), ([0x3C, 0], 2, 0), ([0xFE, 0xFF], 2, 1), ([0, 0x3C], 2, 1),
        ]
        guard let unit = widths.first(where: { start.starts(with: $0.start) }) else {
            return text.filter { (1..<0x80).contains($0) }
        }
        return stride(from: 0, to: text.count - unit.width + 1, by: unit.width).compactMap { at in
            let byte = text[at + unit.place]
            let others = text[at..<at + unit.width].reduce(0) { $0 | Int($1) } & ~Int(byte)
            return others == 0 && (1..<0x80).contains(byte) ? byte : nil
        }
    }

    /// - Throws: ``PhotoError``: `.truncated` when its text is not closed, `.notStored` when it is too large for one.
    static func requireWhole(_ file: borrowing PhotoFile, size: Int64) throws(PhotoError) {
        guard size <= largest else {
            throw PhotoError(.notStored, "a sidecar of more than \(largest >> 20) MiB stays on this machine")
        }
        let text = try file.read(0..<Int(size))
        guard !text.starts(with: "bplist".utf8), !XMLEnds(ascii(of: text)).isWhole else { return }
        throw PhotoError(.truncated, "the sidecar ends within its text")
    }
}

/// How far a text of markup comes (XML 1.0): what its root is, and whether that is closed. It needs nothing but what is ASCII,
/// which all markup is.
struct XMLEnds {
    /// `nil` where the text ends before the root's name does, or is no markup.
    private(set) var root: String?
    /// Whether nothing but space is missing behind it: the root and all behind it is closed.
    private(set) var isWhole = false
    /// Whether what stands in front of the root's name is such as may stand there.
    private(set) var isMarkup = true

    init(_ text: some Collection<UInt8>) {
        let bytes = Array(text.drop { !Self.isGraphic($0) })
        var at = 0
        var depth = 0
        while at < bytes.count {
            guard bytes[at] == UInt8(ascii: "<") else {
                if root == nil, Self.isGraphic(bytes[at]) { isMarkup = false }
                at += 1
                continue
            }
            guard let end = Self.end(of: bytes[at...]) else {
                isWhole = false
                return
            }
            let mark = bytes[at..<end]
            at = end
            guard let second = mark.dropFirst().first, second != UInt8(ascii: "?"), second != UInt8(ascii: "!") else {
                continue
            }
            if second == UInt8(ascii: "/") {
                depth -= 1
            } else {
                if root == nil { root = Self.name(in: mark) }
                if mark.dropLast().last != UInt8(ascii: "/") { depth += 1 }
            }
            isWhole = depth <= 0
        }
    }

    private static func name(in tag: ArraySlice<UInt8>) -> String {
        let name = tag.dropFirst().prefix { isGraphic($0) && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "/") }
        return String(decoding: name, as: UTF8.self)
    }

    private static func isGraphic(_ byte: UInt8) -> Bool { (0x21..<0x7F).contains(byte) }

    /// Where a tag, a comment or the like that begins here ends; `nil` where the text does before.
    private static func end(of text: ArraySlice<UInt8>) -> Int? {
        for (start, end) in [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")]
        where text.starts(with: start.utf8) {
            return text.dropFirst(start.utf8.count).firstRange(ofBytes: Array(end.utf8))?.upperBound
        }
        var quote: UInt8?
        for index in text.indices.dropFirst() {
            let byte = text[index]
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: ">") {
                return index + 1
            }
        }
        return nil
    }
}
