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
    private let head: [UInt8]

    init(_ head: [UInt8]) {
        self.head = head
    }

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
