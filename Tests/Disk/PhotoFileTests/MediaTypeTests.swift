import SyncCore
import SyncPhotos
import SyncTestSupport
import Testing

/// Types by bytes; the name refines what bytes cannot tell apart.
@Suite struct MediaTypeTests {
    struct Row: CustomTestStringConvertible {
        var name: String
        var bytes: [UInt8]
        var type: String

        init(_ name: String, _ bytes: [UInt8], _ type: String) {
            (self.name, self.bytes, self.type) = (name, bytes, type)
        }

        init(_ name: String, _ text: String, _ type: String) {
            self.init(name, Array(text.utf8), type)
        }

        var testDescription: String { "\(name) is \(type)" }
    }

    private static func brands(_ brands: String...) -> [UInt8] {
        let text = "ftyp" + brands[0] + "\0\0\0\0" + brands.dropFirst().joined()
        return [0, 0, 0, UInt8(text.utf8.count + 4)] + Array(text.utf8)
    }

    private static let transport: [UInt8] = (0..<5).flatMap { _ in [0x47] + [UInt8](repeating: 0, count: 187) }
    private static let cameraTransport: [UInt8] = (0..<5).flatMap { _ in
        [0, 0, 0, 0, 0x47] + [UInt8](repeating: 0, count: 187)
    }

    /// BITMAPCOREHEADER, and the short form of BITMAPINFOHEADER2.
    private static let os2Header: [UInt8] = [12, 0, 0, 0, 4, 0, 4, 0, 1, 0, 24, 0]
    private static let os2Header2: [UInt8] = [16, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 1, 0, 24, 0]

    private static let images = [
        Row("a.png", [0xFF, 0xD8, 0xFF, 0xE0], "image/jpeg"),
        Row("a.jpg", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], "image/png"),
        Row("a.gif", "GIF89a", "image/gif"),
        Row("a.webp", "RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        Row("a.heic", brands("heic", "mif1", "heic"), "image/heic"),
        Row("a.heif", brands("mif1", "mif1", "heic"), "image/heic"),
        Row("a.heif", brands("mif1", "mif1"), "image/heif"),
        Row("a.avif", brands("avif", "mif1", "miaf"), "image/avif"),
        Row("a.cr3", brands("crx ", "isom"), "image/x-canon-cr3"),
        Row("a.tif", "II*\0\u{8}\0\0\0", "image/tiff"),
        Row("a.NEF", "MM\0*\0\0\0\u{8}", "image/x-nikon-nef"),
        Row("a.dng", "II*\0\u{8}\0\0\0", "image/x-adobe-dng"),
        Row("a.cr2", "II*\0\u{10}\0\0\0CR\u{2}\0", "image/x-canon-cr2"),
        Row("a.orf", "IIRO\u{8}\0\0\0", "image/x-olympus-orf"),
        Row("a.rw2", "IIU\0\u{18}\0\0\0", "image/x-panasonic-rw2"),
        Row("a.raf", "FUJIFILMCCD-RAW 0201", "image/x-fuji-raf"),
        Row("a.bmp", [0x42, 0x4D, 9, 9, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0], "image/bmp"),
        Row("a.crw", "II\u{1A}\0\0\0HEAPCCDR", "image/x-canon-crw"),
        Row("os2-1.bmp", [0x42, 0x4D, 9, 9, 0, 0, 3, 0, 4, 0, 26, 0, 0, 0] + os2Header, "image/bmp"),
        Row("os2-2.bmp", [0x42, 0x4D, 9, 9, 0, 0, 0, 0, 0, 0, 26, 0, 0, 0] + os2Header2, "image/bmp"),
        Row(
            "array.bmp",
            Array("BA".utf8) + [UInt8](repeating: 0, count: 12) + [0x42, 0x4D, 9, 9, 0, 0, 0, 0, 0, 0]
                + [26, 0, 0, 0] + os2Header, "image/bmp"),
        Row("a.jxl", [0xFF, 0x0A, 0x00], "image/jxl"),
        Row("a.jp2", [0, 0, 0, 0x0C, 0x6A, 0x50, 0x20, 0x20, 0x0D, 0x0A, 0x87, 0x0A], "image/jp2"),
    ]

    private static let videos = [
        Row("a.mp4", brands("isom", "iso2", "mp41"), "video/mp4"),
        Row("a.mov", brands("qt  "), "video/quicktime"),
        Row("a.mov", [0, 0, 1, 0] + Array("moov".utf8), "video/quicktime"),
        Row("a.3gp", brands("3gp4", "isom"), "video/3gpp"),
        Row("a.avi", "RIFF\0\0\0\0AVI LIST", "video/x-msvideo"),
        Row("a.mkv", [0x1A, 0x45, 0xDF, 0xA3] + Array("B\u{2}\u{8}matroska".utf8), "video/x-matroska"),
        Row("a.webm", [0x1A, 0x45, 0xDF, 0xA3] + Array("B\u{2}\u{4}webm".utf8), "video/webm"),
        Row("a.ts", transport, "video/mp2t"),
        Row("a.mts", cameraTransport, "video/mp2t"),
        Row("a.mpg", [0, 0, 1, 0xBA, 0x44], "video/mpeg"),
    ]

    private static let others = [
        Row("a.m4a", brands("M4A ", "isom"), "audio/mp4")
    ]

    @Test(
        arguments: [("a.wav", "RIFF\0\0\0\0WAVEfmt "), ("a.txt", "BMW is a car maker, says this text"), ("readme", "")])
    func `what is neither photo, video nor JSON is not read any further`(name: String, content: String) {
        let error = #expect(throws: PhotoError.self) {
            _ = try Workbench().examination(of: Array(content.utf8), named: name)
        }
        #expect(error == PhotoError(.notStored, "neither a photo nor a video; it stays on this machine"))
    }

    @Test func `a first look says the same as reading the file, and nothing of another file`() throws {
        let tree = try TemporaryTree()
        let reducer = PhotoFileReducer()
        let unwanted = [
            Row("b.wav", "RIFF\0\0\0\0WAVEfmt ", ""), Row("readme", "", ""), Row("b.xmp", "a film of mine", ""),
        ]
        for row in Self.images + Self.videos + Self.others + unwanted {
            let path = try tree.write(row.bytes, to: row.name)
            let stamp = try tree.stamp(row.name)
            var refusal: String?
            do { _ = try reducer.examine(path) } catch  where error.code == .notStored { refusal = error.message } catch
            {}
            #expect(reducer.whyUnwanted(path, stamp: stamp) == refusal, "\(row.name)")
            #expect(unwanted.contains { $0.name == row.name } == (refusal != nil), "\(row.name)")
            try tree.write(row.bytes + [0], to: row.name)
            #expect(reducer.whyUnwanted(path, stamp: stamp) == nil)
        }
    }

    @Test(arguments: images + videos + others)
    func `by bytes`(row: Row) throws {
        let type = try Workbench().examination(of: row.bytes, named: row.name).type
        #expect(type.name == row.type)
        switch row.type.prefix(while: { $0 != "/" }) {
        case "image": #expect(type.kind == (row.type == "image/jpeg" ? .jpeg : .image))
        case "video": #expect(type.kind == .video)
        default: #expect(type.kind == .other)
        }
    }
}
